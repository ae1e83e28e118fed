package gradient_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// bits leaves out what may differ from run to run.
func bits(s check.GradientStats) check.GradientStats {
	s.PerDraw = 0
	return s
}

func TestWithoutGuardsBoundaryIsReparam(t *testing.T) {
	d := vitest.Smooth(t)
	require.Zero(t, d.Arrangement().Len())
	q := softplus([]float64{0.2, -0.3}, []float64{0.5, 0.7})
	want := bits(gradientOf(t, d, q, gradient.Reparam{}, 100))
	for name, e := range gradient.Boundaries() {
		require.Equal(t, want, bits(gradientOf(t, d, q, e, 100)), name)
	}
}

// An If may be written in several ways: the guard negated by Less or Not and the
// sides swapped, scaled, or with latents on both sides of the comparison.
func TestNegatedGuards(t *testing.T) {
	type iff func(m *graph.Model, a, b graph.Expr, then, otherwise graph.Expr) graph.Expr
	variants := map[string]iff{
		"greater": func(_ *graph.Model, a, b, x, y graph.Expr) graph.Expr { return graph.If(graph.Greater(a, b), x, y) },
		"less":    func(_ *graph.Model, a, b, x, y graph.Expr) graph.Expr { return graph.If(graph.Less(a, b), y, x) },
		"turned":  func(_ *graph.Model, a, b, x, y graph.Expr) graph.Expr { return graph.If(graph.Less(b, a), x, y) },
		"not": func(_ *graph.Model, a, b, x, y graph.Expr) graph.Expr {
			return graph.If(graph.Not(graph.Greater(a, b)), y, x)
		},
		"minus": func(_ *graph.Model, a, b, x, y graph.Expr) graph.Expr {
			return graph.If(graph.Greater(graph.Sub(b, a), 0), y, x)
		},
		"twice": func(_ *graph.Model, a, b, x, y graph.Expr) graph.Expr {
			return graph.If(graph.Greater(graph.Mul(2, a), graph.Mul(2, b)), x, y)
		},
		"and with itself": func(_ *graph.Model, a, b, x, y graph.Expr) graph.Expr {
			return graph.If(graph.And(graph.Greater(a, b), graph.Less(b, a)), x, y)
		},
	}
	build := func(iff iff) *graph.Density {
		m := graph.NewModel()
		z0, z1 := m.Sample("z0", graph.Normal(0, 1)), m.Sample("z1", graph.Normal(0, 1))
		then, otherwise := graph.Mul(1.5, z1), graph.Sub(graph.Square(z0), 2)
		threshold := graph.Add(graph.Mul(0.5, z1), 0.25)
		m.Observe("x", graph.Normal(iff(m, z0, threshold, then, otherwise), 0.8), 0.3)
		axis := graph.Add(0.5, 0)
		m.Factor(iff(m, z1, axis, z0, graph.Sin(z1)))
		return vitest.Compile(t, m)
	}
	q := softplus([]float64{0.2, 0.4}, []float64{0.9, 0.6})
	want := build(variants["greater"])
	require.Equal(t, 2, want.Arrangement().Len())
	for name, v := range variants {
		d := build(v)
		require.Equal(t, 2, d.Arrangement().Len(), name)
		for _, e := range []gradient.Estimator{
			gradient.Boundary{}, gradient.SingleGuard(), gradient.Reparam{}, gradient.Score{},
		} {
			require.Equal(t, bits(gradientOf(t, want, q, e, 100)), bits(gradientOf(t, d, q, e, 100)), "%s, %s", name, e.Name())
		}
	}
}

// The same for blocks: of the two closures, either may be written first.
func TestNegatedBlocks(t *testing.T) {
	build := func(negate bool) *graph.Density {
		m := graph.NewModel()
		z0, z1 := m.Sample("z0", graph.Normal(0, 1)), m.Sample("z1", graph.Normal(0, 1))
		then := func() { m.Observe("x", graph.Normal(z1, 1), 1.5) }
		otherwise := func() { m.Factor(graph.Neg(graph.Exp(z0))) }
		if negate {
			m.If(graph.Less(z0, z1), otherwise, then)
		} else {
			m.If(graph.Greater(z0, z1), then, otherwise)
		}
		return vitest.Compile(t, m)
	}
	q := softplus([]float64{0.2, 0.4}, []float64{0.9, 0.6})
	want, got := gradientOf(t, build(false), q, gradient.Boundary{}, 100), gradientOf(t, build(true), q, gradient.Boundary{}, 100)
	require.InEpsilonSlice(t, want.Mean, got.Mean, 1e-11, "terms are summed in another order")
}

// A comparison that no latent decides is the side that it takes.
func TestConstantGuardIsNoGuard(t *testing.T) {
	build := func(choose func(z, r graph.Expr, then, otherwise graph.Expr) graph.Expr) *graph.Density {
		m := graph.NewModel()
		z, r := m.Sample("z", graph.Normal(0, 1)), m.Sample("r", graph.Exponential(1))
		m.Observe("x", graph.Normal(choose(z, r, graph.Sin(z), graph.Log(graph.Neg(r))), 0.8), 0.3)
		return vitest.Compile(t, m)
	}
	q := softplus([]float64{0.2, 0.4}, []float64{0.9, 0.6})
	plain := build(func(_, _, then, _ graph.Expr) graph.Expr { return then })
	want := bits(gradientOf(t, plain, q, gradient.Boundary{}, 100))
	for name, guard := range map[string]func(z, r graph.Expr) graph.Guard{
		"numbers":           func(_, _ graph.Expr) graph.Guard { return graph.Greater(3, 2) },
		"z cancels":         func(z, _ graph.Expr) graph.Guard { return graph.Greater(z, graph.Sub(z, 1)) },
		"z cancels, less":   func(z, _ graph.Expr) graph.Guard { return graph.Less(graph.Mul(2, z), graph.Add(1, graph.Add(z, z))) },
		"positive latent":   func(_, r graph.Expr) graph.Guard { return graph.Greater(r, -1) },
		"or of true":        func(z, _ graph.Expr) graph.Guard { return graph.Or(graph.Greater(z, 0), graph.Greater(1, 0)) },
		"not of false":      func(_, _ graph.Expr) graph.Guard { return graph.Not(graph.Guard{}) },
		"and without parts": func(_, _ graph.Expr) graph.Guard { return graph.And() },
	} {
		d := build(func(z, r, then, otherwise graph.Expr) graph.Expr { return graph.If(guard(z, r), then, otherwise) })
		require.Equal(t, want, bits(gradientOf(t, d, q, gradient.Boundary{}, 100)), name)
		if name != "or of true" { // whose comparison is a guard, if an idle one
			require.Zero(t, d.Arrangement().Len(), name)
		}
	}
}

// A guard whose sides are equal, or that guards nothing, adds exactly nothing.
func TestIdleGuard(t *testing.T) {
	build := func(idle bool) *graph.Density {
		m := graph.NewModel()
		z := m.Sample("z", graph.Normal(0, 1))
		mean := graph.Sin(z)
		if idle {
			mean = graph.If(graph.Greater(z, 0.1), mean, graph.Sin(z))
			m.If(graph.Greater(z, 0.2), func() {}, nil)
		}
		m.Observe("x", graph.Normal(mean, 0.8), 0.3)
		return vitest.Compile(t, m)
	}
	q := softplus([]float64{0.2}, []float64{0.9})
	want := bits(gradientOf(t, build(false), q, gradient.Boundary{}, 100))
	for name, e := range gradient.Boundaries() {
		if e.Guards == 0 { // others use random numbers for the choice
			require.Equal(t, want, bits(gradientOf(t, build(true), q, e, 100)), name)
		}
	}
}

// Proposition 2 of the paper.
func TestProposition(t *testing.T) {
	t.Parallel()
	_, d := vitest.Paper(t, "proposition")
	for _, theta := range []float64{-2, -0.5, 0, 0.3, 1, 2.5} {
		t.Run(fmt.Sprint(theta), func(t *testing.T) {
			q := softplus([]float64{theta}, []float64{1})
			byMean := -theta - 10.5*math.Exp(-theta*theta/2)/math.Sqrt(2*math.Pi)
			mean := func(e gradient.Estimator, draws int) (float64, float64) {
				s := gradientOf(t, d, q, e, draws)
				return s.Mean[0], s.SE[0]
			}
			got, se := mean(gradient.Boundary{}, 1000)
			require.Less(t, math.Abs(got-byMean), 5*se+1e-12)
			require.Less(t, 5*se, vitest.Precision(0.05), "inconclusive")
			got, se = mean(gradient.SingleGuard(), 1000)
			require.Less(t, math.Abs(got-byMean), 5*se+1e-12)
			got, se = mean(gradient.Score{}, 250000)
			require.Less(t, math.Abs(got-byMean), 5*se)
			require.Less(t, 5*se, vitest.Precision(0.2)*math.Abs(byMean+theta), "inconclusive")

			got, se = mean(gradient.Reparam{}, 1000)
			require.Less(t, math.Abs(got+theta), 5*se+1e-12)
			require.Greater(t, math.Abs(got-byMean), 5*se, "reparameterization alone must be rejected")
		})
	}
}

// The score estimator agrees with the closed forms where it can tell.
func TestScore(t *testing.T) {
	d, q, want := denseCase(t, vitest.DenseCases[0])
	require.Less(t, maxZ(t, gradientOf(t, d, q, gradient.Score{}, 100000), want, vitest.Precision(0.05)), 5.0)
	require.Greater(t, maxZ(t, gradientOf(t, d, q, gradient.Reparam{}, 20000), want, vitest.Precision(0.05)), 5.0, "reparameterization alone must be rejected")

	spec, d := vitest.Paper(t, "textmsg")
	rep, bou := spec.Oracle.Gradient(spec.ThetaInit)
	for i := range rep {
		rep[i] += bou[i]
	}
	require.Less(t, maxZ(t, gradientOf(t, d, family.Softplus{}.At(spec.ThetaInit), gradient.Score{}, 20000), rep, vitest.Precision(0.1)), 5.0, "textmsg")
}
