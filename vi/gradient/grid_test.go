package gradient_test

import (
	"math"
	"slices"

	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
)

// A quadratureProblem is the log r of a program in plain Go, and a sequential normal.
type quadratureProblem struct {
	logProb func(z []float64) float64
	guards  []regions.Hyperplane // of the program
	parents [][]int
	theta   []float64
}

// affine is a·z + c.
func affine(c float64, a ...float64) (h regions.Hyperplane) {
	h.Const = c
	for i, x := range a {
		if x != 0 {
			h.Index, h.Coef = append(h.Index, i), append(h.Coef, x)
		}
	}
	return h
}

// A grid are the nodes of a quadrature over all latents, from guard to guard, where q
// has mass.
type grid struct {
	z       [][]float64
	w, logR []float64
}

func (p quadratureProblem) grid(width float64) (g grid) {
	z := make([]float64, len(p.parents))
	var along func(i, edge int, w float64)
	along = func(i, edge int, w float64) {
		if i == len(z) {
			g.z, g.w, g.logR = append(g.z, slices.Clone(z)), append(g.w, w), append(g.logR, p.logProb(z))
			return
		}
		m, s := p.theta[2*i], p.theta[2*i+1]
		for k, j := range p.parents[i] {
			m += p.theta[2*len(z)+edge+k] * (z[j] - p.theta[2*j])
		}
		const reach = 6.5
		lo, hi := m-reach*s, m+reach*s
		var cuts []float64
		for _, h := range p.guards {
			last := len(h.Index) - 1
			if h.Index[last] != i {
				continue
			}
			z[i] = 0
			cuts = append(cuts, -h.At(z)/h.Coef[last])
		}
		edges := []float64{lo, hi}
		for x := lo + width*s; x < hi; x += width * s {
			edges = append(edges, x)
		}
		for _, c := range cuts {
			edges = append(edges, min(max(c, lo), hi))
		}
		slices.Sort(edges)
		for k := 1; k < len(edges); k++ {
			half, mid := 0.5*(edges[k]-edges[k-1]), 0.5*(edges[k]+edges[k-1])
			for n, node := range legendreNodes {
				z[i] = mid + half*node
				along(i+1, edge+len(p.parents[i]), w*half*legendreWeights[n])
			}
		}
	}
	along(0, 0, 1)
	return g
}

// elbo is ∫ q·(log r − log q).
func (g grid) elbo(q family.Q) (sum float64) {
	for k, z := range g.z {
		log := q.LogProb(z)
		if w := g.w[k] * math.Exp(log); w > 0 {
			sum += w * (g.logR[k] - log)
		}
	}
	return sum
}

// gradient is that of elbo, by central differences.
func (g grid) gradient(q family.Q) []float64 {
	theta := slices.Clone(q.Theta())
	out := make([]float64, len(theta))
	for k := range theta {
		const h = 1e-4
		at := func(by float64) float64 {
			to := slices.Clone(theta)
			to[k] += by
			c := q.Clone()
			c.Set(to)
			return g.elbo(c)
		}
		out[k] = (at(h) - at(-h)) / (2 * h)
	}
	return out
}
