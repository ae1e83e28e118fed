package graph_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// Probabilities below any number have logarithms, and what is cut from there has a density, or none, but not an infinite one.
func TestFarTails(t *testing.T) {
	const logHundred = 4.605170185988092
	require.InEpsilon(t, -200*logHundred, mustNumber(t, graph.LogCDF(graph.Weibull(200, 100), 1)), 1e-12)
	require.InEpsilon(t, -800.0, mustNumber(t, graph.LogCCDF(graph.Gumbel(0, 1), 800)), 1e-12)
	require.InEpsilon(t, math.Log(1e-300)+math.Log(1e-30), mustNumber(t, graph.LogCDF(graph.Exponential(1e-300), 1e-30)), 1e-12)

	for name, c := range map[string]struct {
		law  func(x graph.Expr) graph.Dist
		at   float64
		x    float64 // in [2, 3]
		want float64 // −∞ where there are no digits
	}{
		"Weibull": {func(x graph.Expr) graph.Dist { return graph.Weibull(graph.Exp(x), 4) }, 8, 2.5, -536.3881},
		"Gumbel":  {func(x graph.Expr) graph.Dist { return graph.Gumbel(x, 1) }, -2981, 2.5, -0.5 - math.Log(1-math.Exp(-1))},
		"Poisson": {func(x graph.Expr) graph.Dist { return graph.Poisson(graph.Exp(x)) }, 50, 2, math.Inf(-1)},
		"Normal":  {func(x graph.Expr) graph.Dist { return graph.Normal(x, 1) }, -1e12, 2.5, math.Inf(-1)},
	} {
		m := graph.NewModel()
		x := m.Sample("x", graph.Normal(0, 1))
		m.Observe("y", graph.Truncated(c.law(x), 2, 3), c.x)
		d, err := m.Compile()
		require.NoError(t, err, name)
		got, err := d.LogProb([]float64{c.at})
		require.NoError(t, err, name)
		got += 0.5*c.at*c.at + 0.5*math.Log(2*math.Pi)
		if math.IsInf(c.want, -1) {
			require.Less(t, got, 1.0, name)
			continue
		}
		require.InDelta(t, c.want, got, 1e-4*(1+math.Abs(c.want)), name)
	}
}

func mustNumber(t *testing.T, x graph.Expr) float64 {
	v, known := x.IsConst()
	require.True(t, known)
	return v
}

// A density with a pole at an end of its support is finite as near to it as coordinates come.
func TestPoleAtTheEnd(t *testing.T) {
	for _, b := range []float64{0.3, 0.5, 2} {
		m := graph.NewModel()
		m.Sample("x", graph.Truncated(graph.Beta(2, b), 0.5, 1))
		d, err := m.Compile()
		require.NoError(t, err)
		for _, u := range []float64{-8, 0, 8, 8.2, 8.3, 10, 30} {
			log, err := d.LogProb([]float64{u})
			require.NoError(t, err)
			require.False(t, math.IsInf(log, 0) || math.IsNaN(log), "%v %v", b, u)
			grad, err := d.GradAt([]float64{u}, d.Arrangement().Signs([]float64{u}))
			require.NoError(t, err)
			require.False(t, math.IsInf(grad[0], 0) || math.IsNaN(grad[0]), "%v %v", b, u)
		}
	}
}

// An edge at the end of the support leaves a class without mass, which says nothing of the others.
func TestEdgeAtTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		law   graph.Dist
		edges []float64
		class float64
		want  float64
	}{
		"LogNormal": {graph.LogNormal(0, 1), []float64{0, 1, 2}, 1, math.Log(0.5)},
		"Beta":      {graph.Beta(1, 2), []float64{0.5, 1}, 1, math.Log(0.25)},
		"Poisson":   {graph.Truncated(graph.Poisson(1), 1, 5), []float64{0, 3}, 2, math.Log((1./24 + 1./120) / (1 + 1./2 + 1./6 + 1./24 + 1./120))},
	} {
		m := graph.NewModel()
		m.Sample("x", graph.Normal(0, 1))
		m.Observe("y", graph.IntervalCensored(c.law, c.edges...), c.class)
		d, err := m.Compile()
		require.NoError(t, err, name)
		got, err := d.LogProb([]float64{0})
		require.NoError(t, err, name)
		require.InDelta(t, c.want-0.5*math.Log(2*math.Pi), got, 1e-12, name)
	}
}
