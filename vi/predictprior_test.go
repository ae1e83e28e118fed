package vi

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/graph"
)

// Prior predictive draws have the moments of the prior: what depends on an earlier observation depends on its replicate, not on the
// datum, a missing observation is drawn, and latents are those that meet what is required.
func TestPredictPrior(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 2))
	m.Require(graph.Greater(x, 0))
	m.Observe("y", graph.Normal(x, 1), 100)
	m.Observe("y", graph.Normal(graph.Mul(0.5, m.Observed("y", 0)), 1), 100)
	m.Observe("y", graph.Normal(m.Observed("y", 1), 1), math.NaN())
	m.Deterministic("twice", graph.Mul(2, x))
	d := mustCompile(t, m)
	const n = 40_000
	r, err := PredictPrior(d, n, *seed)
	require.NoError(t, err)
	near := func(name string, column int, mean, variance float64) {
		draws, err := r.Of(name)
		require.NoError(t, err)
		m, v := stat.MeanVariance(mat.Col(nil, column, draws), nil)
		require.InDelta(t, mean, m, 5*math.Sqrt(variance/n), "%s[%d]", name, column)
		require.InDelta(t, variance, v, 5*variance*math.Sqrt(2./n), "%s[%d]", name, column)
	}
	mean, variance := 2*math.Sqrt(2/math.Pi), 4*(1-2/math.Pi) // of a half-normal distribution
	near("twice", 0, 2*mean, 4*variance)
	near("y", 0, mean, variance+1)
	near("y", 1, mean/2, (variance+1)/4+1)
	near("y", 2, mean/2, (variance+1)/4+2)
	data, err := r.Data("y")
	require.NoError(t, err)
	require.Equal(t, []float64{100, 100}, data[:2])
	require.True(t, math.IsNaN(data[2]))
	again, err := PredictPrior(d, n, *seed)
	require.NoError(t, err)
	require.Equal(t, r.Latents.Values, again.Latents.Values)
}

func TestPredictPriorErrors(t *testing.T) {
	for want, program := range map[string]func(m *graph.Model){
		"the program has parameters, which have no prior": func(m *graph.Model) {
			m.Observe("y", graph.Normal(m.Sample("x", graph.Normal(m.Param("a", 1), 1)), 1), 0)
		},
		"none of 10000 draws of the prior meets what is required": func(m *graph.Model) {
			m.Require(graph.Greater(m.Sample("x", graph.Normal(0, 1)), 30))
		},
		"a guard compares its value 3": func(m *graph.Model) {
			m.Observe("y", graph.Normal(0, 1), 3)
			m.Require(graph.Less(m.Sample("x", graph.Normal(0, 1)), m.Observed("y", 0)))
		},
	} {
		m := graph.NewModel()
		program(m)
		_, err := PredictPrior(mustCompile(t, m), 10, *seed)
		require.ErrorContains(t, err, want)
	}
	_, err := PredictPrior(nil, 10, *seed)
	require.ErrorContains(t, err, "a nil density")
}
