package gradient_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// nestedGuards are the hyperplanes c + a·z of the nested program; each guard is
// positive above.
var nestedGuards = []struct {
	a [3]float64
	c float64
}{
	{[3]float64{1, 0.5, -1}, -0.2},
	{[3]float64{-1, 2, 0}, 0.3},
	{[3]float64{0, 0, 1}, -0.1},
	{[3]float64{-1, -1, -1}, 0.8},
	{[3]float64{1, 0, 0}, -0.3},
}

// nested is a program whose guards cross, nest, and decide over values that occur
// in the sides of other guards, in an observation, a prior and in factors.
func nested() *graph.Model {
	m := graph.NewModel()
	z0 := m.Sample("z0", graph.Normal(0, 1))
	z1 := m.Sample("z1", graph.Normal(0.2, 1.5))
	z2 := m.Sample("z2", graph.Normal(graph.If(graph.Greater(z0, 0.3), 1, -0.5), 1))
	g0 := graph.Greater(graph.Sub(graph.Add(z0, graph.Mul(0.5, z1)), z2), 0.2)
	g1 := graph.Greater(graph.Mul(2, z1), graph.Sub(z0, 0.3))
	g2 := graph.Greater(z2, 0.1)
	g3 := graph.Less(graph.Sum(z0, z1, z2), 0.8)
	a := graph.If(g0, graph.Add(0.7, z1), graph.Mul(-0.5, z0))
	b := graph.If(g1, graph.Add(a, graph.If(g3, z2, 1.5)), graph.Mul(0.3, graph.Square(z2)))
	m.Observe("x", graph.Normal(b, 1.2), 0.4)
	m.If(g2, func() {
		m.Factor(graph.Mul(0.8, b))
		m.If(graph.And(g0, graph.Not(g1)), func() {
			m.Factor(graph.Sub(z0, 2))
		}, func() {
			m.Factor(graph.Sin(z1))
		})
	}, func() {
		m.If(graph.Or(g1, g3), func() { m.Factor(graph.Mul(1.1, a)) }, nil)
	})
	return m
}

// nestedLogProb is nested's log r without package graph.
func nestedLogProb(z0, z1, z2 float64) float64 {
	var g [5]bool
	for l, h := range nestedGuards {
		g[l] = h.c+h.a[0]*z0+h.a[1]*z1+h.a[2]*z2 > 0
	}
	choose := func(g bool, a, b float64) float64 {
		if g {
			return a
		}
		return b
	}
	normal := func(x, m, s float64) float64 {
		return -0.5*(x-m)*(x-m)/(s*s) - math.Log(s) - 0.5*math.Log(2*math.Pi)
	}
	a := choose(g[0], 0.7+z1, -0.5*z0)
	b := choose(g[1], a+choose(g[3], z2, 1.5), 0.3*z2*z2)
	sum := normal(z0, 0, 1) + normal(z1, 0.2, 1.5) + normal(z2, choose(g[4], 1, -0.5), 1) + normal(0.4, b, 1.2)
	switch {
	case g[2] && g[0] && !g[1]:
		sum += 0.8*b + z0 - 2
	case g[2]:
		sum += 0.8*b + math.Sin(z1)
	case g[1] || g[3]:
		sum += 1.1 * a
	}
	return sum
}

// nestedOracle is the ELBO at q and its gradient by Gauss–Legendre quadrature
// along z0, z1 and z2 in turn, from guard to guard, on panels of the given width
// in ε. The gradient takes that of the density of q:
//
//	∂E[f]/∂μ = E[f ε]/s,  ∂E[f]/∂s = E[f (ε² − 1)]/s
func nestedOracle(q family.Gaussian, panel float64) (elbo float64, g []float64) {
	var s, z, e [3]float64
	for i := range s {
		s[i] = q.SD(i)
	}
	sums := make([]float64, 7) // E[f], then E[f ε_i] and E[f (ε_i² − 1)]
	var along func(k int, weight float64)
	along = func(k int, weight float64) {
		if k == 3 {
			f := weight * nestedLogProb(z[0], z[1], z[2])
			sums[0] += f
			for i, x := range e {
				sums[1+2*i] += f * x
				sums[2+2*i] += f * (x*x - 1)
			}
			return
		}
		var cuts []float64 // of the guards that z[k] decides, given the coordinates before it
		for _, g := range nestedGuards {
			last, phi := 0, g.c
			for i, a := range g.a {
				if a != 0 {
					last = i
				}
			}
			for i, a := range g.a[:last] {
				phi += a * z[i]
			}
			if last == k {
				cuts = append(cuts, (-phi/g.a[k]-q.Mean(k))/s[k])
			}
		}
		alongNormal(cuts, panel, func(x, w float64) {
			e[k], z[k] = x, q.Mean(k)+s[k]*x
			along(k+1, weight*w)
		})
	}
	along(0, 1)
	g = make([]float64, 6)
	for i := range s {
		g[2*i] = sums[1+2*i] / s[i]
		g[2*i+1] = (sums[2+2*i] + 1) / s[i] * slope(s[i])
	}
	return q.Entropy() + sums[0], g
}

// alongNormal visits nodes x with weights w of a quadrature for the standard
// normal of functions that are smooth but at the cuts.
func alongNormal(cuts []float64, panel float64, visit func(x, w float64)) {
	const reach = 7.5
	edges := []float64{reach}
	for x := -reach; x < reach; x += panel {
		edges = append(edges, x)
	}
	for _, c := range cuts {
		edges = append(edges, min(max(c, -reach), reach))
	}
	slices.Sort(edges)
	for k := 1; k < len(edges); k++ {
		half, mid := 0.5*(edges[k]-edges[k-1]), 0.5*(edges[k]+edges[k-1])
		for j, node := range legendreNodes {
			x := mid + half*node
			visit(x, half*legendreWeights[j]*math.Exp(-0.5*x*x)/math.Sqrt(2*math.Pi))
		}
	}
}

var legendreNodes, legendreWeights = func() (x, w []float64) {
	x, w = make([]float64, 5), make([]float64, 5)
	quad.Legendre{}.FixedLocations(x, w, -1, 1)
	return x, w
}()

func nestedMember() family.Gaussian {
	return softplus([]float64{0.2, -0.1, 0.3}, []float64{0.8, 1.1, 0.6})
}

func TestNestedGradient(t *testing.T) {
	long.Skip(t) // TestCrossingGuards has guards inside of guards, too
	t.Parallel()
	d, q := vitest.Compile(t, nested()), nestedMember()
	require.Equal(t, len(nestedGuards), d.Arrangement().Len())
	for _, z := range [][]float64{{0, 0, 0}, {1, -1, 0.5}, {-1, 0.4, 0.5}, {0.3, 2, -3}, {0.5, -0.1, 0}} {
		got, err := d.LogProb(z)
		require.NoError(t, err)
		require.InDelta(t, nestedLogProb(z[0], z[1], z[2]), got, 1e-12)
	}
	elbo, want := nestedOracle(q, 0.5)
	coarseELBO, coarse := nestedOracle(q, 1)
	require.InDelta(t, coarseELBO, elbo, 1e-4, "the quadrature has not converged")
	require.InDeltaSlice(t, coarse, want, 1e-4, "the quadrature has not converged")

	e, err := check.ELBO(d, q, vitest.Draws(400000), *gradient.Seed)
	require.NoError(t, err)
	require.Less(t, math.Abs(e.Value-elbo), 5*e.SE)
	require.Less(t, 5*e.SE, vitest.Precision(0.02), "inconclusive")

	for name, e := range gradient.Boundaries() {
		require.Less(t, maxZ(t, gradientOf(t, d, q, e, 40000), want, vitest.Precision(0.02)), 5.0, name)
	}
	require.Greater(t, maxZ(t, gradientOf(t, d, q, gradient.Reparam{}, 10000), want, vitest.Precision(0.02)), 5.0, "reparameterization alone must be rejected")
	require.Less(t, maxZ(t, gradientOf(t, d, q, gradient.Score{}, 80000), want, vitest.Precision(0.05)), 5.0, "score")
}
