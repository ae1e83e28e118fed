package vi

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// Where a density ends at a guard, on whose other side it goes on, log r has no
// boundary term: a fit of one family says so, with the guard. Cells are confined to the
// sides, and find the evidence.
func TestDensityThatEndsAtItsGuard(t *testing.T) {
	for _, c := range []struct {
		name  string
		guard string
		term  func(m *graph.Model, z graph.Expr)
		value func(z float64) float64 // of exp(term)
	}{
		{"a rate", "z > 0", func(m *graph.Model, z graph.Expr) {
			m.Observe("y", graph.Exponential(graph.If(graph.Greater(z, 0), z, 1)), 0.7)
		}, func(z float64) float64 {
			if z > 0 {
				return z * math.Exp(-0.7*z)
			}
			return math.Exp(-0.7)
		}},
		{"a scale", "z > 1", func(m *graph.Model, z graph.Expr) {
			m.Observe("y", graph.Normal(0, graph.If(graph.Greater(z, 1), graph.Sub(z, 1), 1)), 0.7)
		}, func(z float64) float64 {
			sd := 1.0
			if z > 1 {
				sd = z - 1
			}
			return math.Exp(-0.5*0.49/(sd*sd)) / sd / math.Sqrt(2*math.Pi)
		}},
		{"a factor", "z > 0", func(m *graph.Model, z graph.Expr) {
			m.Factor(graph.If(graph.Greater(z, 0), graph.Log(z), 0))
		}, func(z float64) float64 {
			if z > 0 {
				return z
			}
			return 1
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := graph.NewModel()
			c.term(m, m.Sample("z", graph.Normal(0, 1)))
			d := vitest.Compile(t, m)
			_, err := Fit(context.Background(), d, Settings{Seed: 1, Method: Climb{Family: family.MeanField{}, Steps: 200}})
			require.ErrorIs(t, err, ErrNotFinite)
			require.ErrorContains(t, err, "where the guard "+c.guard+" (cliff_test.go:")

			exact := 0.0
			const step = 1e-4
			for z := -9 + step/2; z < 9; z += step {
				exact += step * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * c.value(z)
			}
			fit, err := Fit(context.Background(), d, Settings{Seed: 1})
			require.NoError(t, err)
			e, err := fit.LogEvidence()
			require.NoError(t, err)
			t.Logf("log evidence %v, exactly %.4f", e, math.Log(exact))
			require.Less(t, e.SE, 0.02)
			require.InDelta(t, math.Log(exact), e.Value, 5*e.SE+1e-3)
		})
	}
}

// Distributions of different support on the sides of a guard, at a value that both can
// have: the gradient is that of the closed form −μ + Δ·φ(μ), and of the scale.
func TestDistributionsOfDifferentSupport(t *testing.T) {
	const y, mu, sd = 0.7, 0.4, 0.8
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	m.If(graph.Greater(z, 0), func() { m.Observe("y", graph.Exponential(2), y) }, func() { m.Observe("y", graph.Uniform(-3, 2), y) })
	d := vitest.Compile(t, m)
	q := family.Independent([]float64{mu}, []float64{sd})
	jump := math.Log(2) - 2*y + math.Log(5)
	density := math.Exp(-mu*mu/(2*sd*sd)) / math.Sqrt(2*math.Pi) / sd
	want := []float64{-mu + jump*density, -sd + 1/sd - jump*density*mu/sd}
	for _, e := range []Estimator{Boundary{}, Reparam{}} {
		r, err := gradient.NewRunner(d, q, e, 1<<16, 1)
		require.NoError(t, err)
		g, err := r.Estimate(q)
		require.NoError(t, err)
		if e == (Boundary{}) {
			require.InDeltaSlice(t, want, g, 0.02) // six standard errors
			continue
		}
		require.Greater(t, math.Abs(g[0]-want[0]), 0.1, "reparameterization does not see the jump")
	}
}
