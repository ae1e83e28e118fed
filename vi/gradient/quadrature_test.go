package gradient_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// bent is a program of two latents that is not normal anywhere: If stands inside
// nonlinear expressions, guards cross, meet in And and Or, and occur again with
// another factor and the other sign.
func bent() *graph.Model {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	y := m.Sample("y", graph.Normal(graph.Mul(0.8, graph.Sin(graph.Mul(1.3, x))), 0.7))
	g := graph.Greater(graph.Add(x, graph.Mul(2, y)), 0.4)
	h := graph.Less(y, graph.Add(graph.Mul(0.5, x), 0.3))
	k := graph.Greater(x, -0.5)
	notG := graph.Less(graph.Add(graph.Mul(2, x), graph.Mul(4, y)), 0.8)

	bend := graph.Sin(graph.Add(graph.Mul(y, graph.If(g, x, -1.2)), graph.If(h, 0.7, y)))
	lift := graph.If(graph.And(g, graph.Not(h)), graph.Exp(graph.Mul(0.5, y)), 0.2)
	m.Observe("u", graph.StudentsT(graph.Mul(2, graph.Add(bend, lift)), graph.If(k, 0.6, 0.9), 4), 0.8)
	m.If(graph.Or(k, h), func() { m.Factor(graph.Softplus(graph.Sub(x, y))) }, func() { m.Factor(graph.Mul(-1.5, graph.Square(bend))) })
	m.Factor(graph.Tanh(graph.Mul(2, graph.If(notG, graph.If(k, y, -1), graph.Add(x, 1)))))
	return m
}

// bentLogProb is bent's log r without package graph.
func bentLogProb(x, y float64) float64 {
	g, h, k := x+2*y > 0.4, y < 0.5*x+0.3, x > -0.5
	choose := func(yes bool, a, b float64) float64 {
		if yes {
			return a
		}
		return b
	}
	bell := func(d, sd float64) float64 { return -0.5*d*d/(sd*sd) - math.Log(sd) - 0.5*math.Log(2*math.Pi) }
	bend := math.Sin(y*choose(g, x, -1.2) + choose(h, 0.7, y))
	lift := choose(g && !h, math.Exp(0.5*y), 0.2)
	sd := choose(k, 0.6, 0.9)
	r := (0.8 - 2*(bend+lift)) / sd
	student := math.Log(0.375) - math.Log(sd) - 2.5*math.Log1p(r*r/4) // Γ(5/2)/(√(4π)·Γ(2)) = 3/8
	other := choose(k || h, math.Log1p(math.Exp(x-y)), -1.5*bend*bend)
	return bell(x, 1) + bell(y-0.8*math.Sin(1.3*x), 0.7) + student + other +
		math.Tanh(2*choose(!g, choose(k, y, -1), x+1))
}

// plane are the nodes of a quadrature in two dimensions, with values of a function
// times the weights.
type plane struct{ x, y, f []float64 }

// bentPlane has panels of the given width, in standard deviations of q, which end
// where log r is not smooth: along x at the guard on x and where two guards cross,
// and along y, given x, at the other two guards.
func bentPlane(q normalLaw, width float64) (p plane) {
	cov := q.covariance()
	sd, regression := math.Sqrt(cov.At(0, 0)), cov.At(0, 1)/cov.At(0, 0)
	rest := math.Sqrt(cov.At(1, 1) - regression*cov.At(0, 1))
	panels(q.mu[0], sd, width, []float64{-0.5, -0.1}, func(x, wx float64) {
		panels(q.mu[1]+regression*(x-q.mu[0]), rest, width, []float64{0.2 - 0.5*x, 0.5*x + 0.3}, func(y, wy float64) {
			p.x, p.y, p.f = append(p.x, x), append(p.y, y), append(p.f, wx*wy*bentLogProb(x, y))
		})
	})
	return p
}

// panels visits the nodes of rules of Gauss and Legendre within nine standard
// deviations.
func panels(mean, sd, width float64, cuts []float64, visit func(x, w float64)) {
	const reach = 9
	var ends []float64
	for e := -float64(reach); e < reach; e += width {
		ends = append(ends, mean+e*sd)
	}
	ends = append(ends, mean+reach*sd)
	for _, c := range cuts {
		if c > ends[0] && c < mean+reach*sd {
			ends = append(ends, c)
		}
	}
	slices.Sort(ends)
	for k := 1; k < len(ends); k++ {
		half, mid := 0.5*(ends[k]-ends[k-1]), 0.5*(ends[k]+ends[k-1])
		for j, u := range gaussNodes {
			visit(mid+half*u, half*gaussWeights[j])
		}
	}
}

// elbo is ∫ q·log r + entropy.
func (p plane) elbo(q normalLaw) float64 {
	cov := q.covariance()
	a, b, c := cov.At(0, 0), cov.At(0, 1), cov.At(1, 1)
	det := a*c - b*b
	sum := 0.0
	for k, f := range p.f {
		x, y := p.x[k]-q.mu[0], p.y[k]-q.mu[1]
		sum += f * math.Exp(-0.5*(c*x*x-2*b*x*y+a*y*y)/det)
	}
	return sum/(2*math.Pi*math.Sqrt(det)) + q.entropy()
}

// On a program that is nonlinear throughout, the estimators have the gradient of
// the ELBO by quadrature as their mean, for every family; reparameterization does
// not.
func TestBentProgram(t *testing.T) {
	t.Parallel()
	d := vitest.Compile(t, bent())
	require.Equal(t, 3, d.Arrangement().Len())
	require.Equal(t, []int{0}, d.Parents()[1])
	for _, z := range [][]float64{{0, 0}, {1, -1}, {-1, 1.5}, {-0.6, -0.4}, {0.2, 0.35}, {-2, 0.3}, {-0.4, 0.9}} {
		got, err := d.LogProb(z)
		require.NoError(t, err)
		require.InDelta(t, bentLogProb(z[0], z[1]), got, 1e-12)
	}
	n := vitest.Draws(1 << 17)
	for _, name := range slices.Sorted(maps.Keys(everyFamily(2))) {
		if !long.On() && name != "mean field" && name != "full rank" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkBent(t, d, everyFamily(2)[name], n)
		})
	}
}

func checkBent(t *testing.T, d *graph.Density, f family.Family, n int) {
	theta := randomTheta(f, d.Parents(), rand.New(rand.NewPCG(5, 0)))
	at := lawOf(f, d.Parents(), theta)
	fine, coarse := bentPlane(at, 2.0/3), bentPlane(at, 4.0/3)
	want := make([]float64, len(theta))
	scale := parameterScales(f, d.Parents(), theta)
	for k := range theta {
		slopeOf := func(p plane) float64 {
			elbo := func(by float64) float64 {
				to := slices.Clone(theta)
				to[k] += by * scale[k]
				return p.elbo(lawOf(f, d.Parents(), to))
			}
			return (elbo(1e-4) - elbo(-1e-4)) / (2e-4 * scale[k])
		}
		want[k] = slopeOf(fine)
		require.InDelta(t, slopeOf(coarse), want[k], 1e-6, "the quadrature has not converged")
	}

	q, unit := memberAt(t, f, d, theta), slices.Repeat([]float64{1}, len(theta))
	j := judge{want: want, unit: unit, detect: vitest.Precision(0.05) * floats.Norm(want, 2), accuracy: 1e-6}
	worst := 0.0
	for name, e := range gradient.Boundaries() {
		s := sampled(t, d, q, e, n)
		z := j.largest(t, name, s.Mean, s.SE)
		require.Less(t, z, 5.0, name)
		worst = max(worst, z)
	}
	s := sampled(t, d, q, gradient.Reparam{}, n)
	rejected := j.largest(t, "reparam", s.Mean, s.SE)
	require.Greater(t, rejected, 5.0, "reparameterization alone must be rejected")
	j.detect *= 2
	s = sampled(t, d, q, gradient.Score{}, 2*n)
	score := j.largest(t, "score", s.Mean, s.SE)
	require.Less(t, score, 5.0, "score")
	t.Logf("|z| ≤ %.2f, score %.2f; reparameterization rejected at %.0f", worst, score, rejected)
}
