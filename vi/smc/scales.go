package smc

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/internal/vec"
)

// Scales make the noise of conditionals depend on shared latents s, which are among those that are eliminated last, such as the scales of a
// hierarchy:
//
//	z_i − μ_i = Σ_j b_ij·(z_j − μ_j) + t_i·exp(Σ_s γ_s·(z_s − μ_s))·ε_i
//
// Without that, a distribution on the path from a normal to a posterior knows scales better than either, and what weights make of that
// runs into necks of funnels.
type scales struct {
	groups      []scaleGroup
	white, back *linear // T⁻¹·(I−B), and its transpose
}

// A scaleGroup is latents with the same shared ones.
type scaleGroup struct {
	latents, shared []int32
	gamma           []float64
}

const (
	mostShared  = 8  // eliminated last
	leastShared = 10 // latents that depend on a shared one
)

// newScales are fitted to points of that mean, and t of c with them.
func newScales(c *conditionals, mean []float64, points *mat.Dense) *scales {
	n := len(c.t)
	earlier := make([]int, n)
	for _, later := range c.later {
		for _, j := range later {
			earlier[j]++
		}
	}
	last := c.order[max(0, n-mostShared):]
	for len(last) > 0 && earlier[last[0]] < leastShared {
		last = last[1:]
	}
	q, group := &scales{}, map[string]int{}
	for k, i := range c.order {
		var shared []int32
		for _, j := range c.later[i] {
			if k < n-len(last) && earlier[j] >= leastShared && slices.Contains(last, j) {
				shared = append(shared, j)
			}
		}
		slices.Sort(shared)
		key := fmt.Sprint(shared)
		at, known := group[key]
		if !known {
			at = len(q.groups)
			group[key], q.groups = at, append(q.groups, scaleGroup{shared: shared})
		}
		q.groups[at].latents = append(q.groups[at].latents, i)
	}
	for g := range q.groups {
		q.groups[g].fit(c, mean, points)
	}
	q.white, q.back = c.white(), c.power(-0.5)
	return q
}

// fit fits γ by least squares of the logarithms of squares of noise, and t given γ.
func (g *scaleGroup) fit(c *conditionals, mean []float64, points *mat.Dense) {
	k := len(g.shared)
	if k == 0 {
		return
	}
	rows, _ := points.Dims()
	x, logs := mat.NewDense(rows, k, nil), mat.NewVecDense(rows, nil)
	for r := range rows {
		z := points.RawRowView(r)
		for a, s := range g.shared {
			x.Set(r, a, z[s]-mean[s])
		}
		sum := 0.0
		for _, i := range g.latents {
			sum += math.Log(math.Abs(c.noise(mean, z, i)) + leastLeft)
		}
		logs.SetVec(r, sum/float64(len(g.latents)))
	}
	var squares mat.SymDense
	var with, scale mat.VecDense
	squares.SymOuterK(1, x.T())
	for a := range k {
		squares.SetSym(a, a, (1+1e-3)*squares.At(a, a)+leastLeft)
	}
	with.MulVec(x.T(), logs) // of which the mean does not count, for that of x is 0
	var root mat.Cholesky
	gamma := mat.NewVecDense(k, nil)
	if root.Factorize(&squares) {
		_ = root.SolveVecTo(gamma, &with)
	}
	g.gamma = gamma.RawVector().Data
	scale.MulVec(x, gamma)
	for _, i := range g.latents {
		square := 0.0
		for r := range rows {
			e := c.noise(mean, points.RawRowView(r), i) * math.Exp(-scale.AtVec(r))
			square += e * e / float64(rows)
		}
		c.t[i] *= math.Sqrt(square)
	}
}

// sum is Σ_s γ_s times row s of x, which has n columns.
func (g *scaleGroup) sum(dst, x []float64) {
	n := len(dst)
	clear(dst)
	for k, s := range g.shared {
		vec.AddScaled(dst, g.gamma[k], x[int(s)*n:][:n])
	}
}

// slope adds what log q0 at n points μ − away is less a constant to logQ, and computes its gradient in pull. e and sums have room for as many numbers
// as pull, row for n.
func (q *scales) slope(logQ, pull, away, e, sums, row []float64) {
	n := len(row)
	q.white.apply(e, away, nil, n)
	for k, g := range q.groups {
		sum := sums[k*n:][:n] // of squares
		g.sum(row, away)
		vec.AddScaled(logQ, float64(len(g.latents)), row)
		vec.Exp(row, row)
		clear(sum)
		for _, i := range g.latents {
			of := e[int(i)*n:][:n]
			vec.Mul(of, of, row)
			vec.AddMul(sum, of, of)
			vec.Mul(of, of, row)
		}
		vec.AddScaled(logQ, -0.5, sum)
	}
	q.back.apply(pull, e, nil, n)
	for k, g := range q.groups {
		for a, s := range g.shared {
			to := pull[int(s)*n:][:n]
			vec.Affine2(to, to, sums[k*n:][:n], 1, g.gamma[a], -g.gamma[a]*float64(len(g.latents)))
		}
	}
}

// scale scales noise given shared latents of z, which are less their means.
func (q *scales) scale(noise, z, row []float64) {
	n := len(row)
	for _, g := range q.groups {
		g.sum(row, z)
		vec.Exp(row, row)
		for _, i := range g.latents {
			of := noise[int(i)*n:][:n]
			vec.Mul(of, of, row)
		}
	}
}
