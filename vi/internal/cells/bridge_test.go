package cells

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/weighted"
)

// independent are n draws of the posterior in unconstrained coordinates, by rejection from the prior.
func independent(t *testing.T, d *graph.Density, n int, seed uint64) (draws [][]float64) {
	rng := parallel.NewRand(seed)
	for len(draws) < n {
		z := d.PriorDraw(nil, rng)
		log, err := d.LogProb(z)
		require.NoError(t, err)
		for _, p := range d.LogPriors(nil, z) {
			log -= p // the likelihood, which is at most 1 in these programs
		}
		require.LessOrEqual(t, log, 1e-9)
		if rng.Float64() < math.Exp(log) {
			draws = append(draws, z)
		}
	}
	return draws
}

// The evidence by a bridge is that by quadrature, and its errors are as it says: of two modes, of a truncated and of a skew posterior, and with a switch summed out.
func TestBridge(t *testing.T) {
	square := func(x graph.Expr, at, sd float64) graph.Expr {
		u := graph.Div(graph.Sub(x, at), sd)
		return graph.Mul(-0.5, graph.Mul(u, u))
	}
	bell := func(x, at, sd float64) float64 { return math.Exp(-0.5 * (x - at) * (x - at) / sd / sd) }
	for name, c := range map[string]struct {
		build func(m *graph.Model, x graph.Expr)
		r     func(x float64) float64 // the likelihood
	}{
		"two modes": {func(m *graph.Model, x graph.Expr) { m.Factor(square(graph.Abs(x), 1.5, 0.3)) }, func(x float64) float64 { return bell(math.Abs(x), 1.5, 0.3) }},
		"truncated": {func(m *graph.Model, x graph.Expr) { m.Require(graph.Greater(x, 0.5)) }, func(x float64) float64 {
			if x > 0.5 {
				return 1
			}
			return 0
		}},
		"skew": {func(m *graph.Model, x graph.Expr) { m.Factor(square(graph.Exp(x), 1, 0.5)) }, func(x float64) float64 { return bell(math.Exp(x), 1, 0.5) }},
		"a switch": {func(m *graph.Model, x graph.Expr) {
			s := m.Sample("s", graph.Normal(0, 1))
			up := graph.Greater(s, 0.5)
			m.Factor(graph.If(up, square(x, 1, 0.5), square(x, -2, 0.3)))
		}, func(x float64) float64 {
			p := distuv.UnitNormal.Survival(0.5)
			return p*bell(x, 1, 0.5) + (1-p)*bell(x, -2, 0.3)
		}},
	} {
		if !long.On() && name != "a switch" {
			continue
		}
		m := graph.NewModel()
		x := m.Sample("x", graph.Normal(0, 1))
		m.Sample("y", graph.Normal(graph.Mul(0.5, x), 1)) // nothing is known of it
		c.build(m, x)
		d, err := m.Compile()
		require.NoError(t, err, name)
		exact := math.Log(quad.Fixed(func(x float64) float64 { return distuv.UnitNormal.Prob(x) * c.r(x) }, -8, 0.5, 4000, nil, 0) +
			quad.Fixed(func(x float64) float64 { return distuv.UnitNormal.Prob(x) * c.r(x) }, 0.5, 8, 4000, nil, 0))
		summed, switches, err := d.SumOut()
		require.NoError(t, err, name)
		of := d
		if summed != nil {
			of = summed
		}
		var z mc.Moments // squares of errors in units of the standard error
		for seed := range uint64(20) {
			draws := weighted.Chains{Z: independent(t, d, 4000, seed), N: 40, Effective: 4000}
			e, err := Bridge(context.Background(), of, draws, switches, 0, seed)
			require.NoError(t, err, name)
			require.Less(t, e.SE, 0.05, name)
			u := (e.Value - exact) / e.SE
			z.Add(u * u)
			if seed == 0 {
				again, err := Bridge(context.Background(), of, draws, switches, 0, seed)
				require.NoError(t, err, name)
				require.Equal(t, e, again, name)
			}
		}
		t.Logf("%s: %.6f, mean square of errors %.3g", name, exact, z.Mean)
		// Student's t of some 20 degrees squared, for the errors are those of 20 chains: 1.1 ± 0.35, less where half the difference of halves is more than
		// the error. Of 300 seeds 1.16, 0.97, 0.86 and 1.24.
		assert.InDelta(t, 1.1, z.Mean, 0.8, name)
	}
}

// There is no bridge from few draws or among many latents, and none of half of the posterior is made to look good.
func TestNoBridge(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Observe("y", graph.Normal(x, 1), 0.5)
	d, err := m.Compile()
	require.NoError(t, err)
	draws := independent(t, d, 400, 1)
	e, err := Bridge(context.Background(), d, weighted.Chains{Z: draws[:6], N: 4, Effective: 6}, nil, 0, 1)
	require.NoError(t, err)
	require.True(t, math.IsInf(e.SE, 1))
	e, err = Bridge(context.Background(), d, weighted.Chains{Z: draws, N: 40, Effective: 400}, nil, 0, 1)
	require.NoError(t, err)
	require.InDelta(t, distuv.Normal{Sigma: math.Sqrt2}.LogProb(0.5), e.Value, 4*e.SE)
	for _, z := range draws {
		z[0] += 1 // these are no draws of it
	}
	wrong, err := Bridge(context.Background(), d, weighted.Chains{Z: draws, N: 40, Effective: 400}, nil, 0, 1)
	require.NoError(t, err)
	require.Greater(t, math.Abs(wrong.Value-e.Value), 4*e.SE)
}
