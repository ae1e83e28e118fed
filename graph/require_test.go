package graph_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// Require, Factor(−Inf) in a block and an observation that cannot be otherwise are the same density, and the first two are known as
// requirements.
func TestRequire(t *testing.T) {
	for _, add := range []func(m *graph.Model, g graph.Guard){
		func(m *graph.Model, g graph.Guard) { m.Require(g) },
		func(m *graph.Model, g graph.Guard) { m.If(g, nil, func() { m.Factor(math.Inf(-1)) }) },
		func(m *graph.Model, g graph.Guard) { m.Observe("y", graph.Bernoulli(graph.If(g, 1, 0)), 1) },
	} {
		m := graph.NewModel()
		a, b := m.Sample("a", graph.Normal(0, 1)), m.Sample("b", graph.Normal(0, 1))
		add(m, graph.And(graph.Greater(a, b), graph.Greater(b, 0)))
		d := mustCompile(t, m)
		close12(t, logNormalPDF(2, 0, 1)+logNormalPDF(1, 0, 1), logProb(t, d, 2, 1))
		required, err := d.Engine().Requirements()
		require.NoError(t, err)
		for _, z := range [][]float64{{2, 1}, {1, 2}, {-1, -2}} {
			s := d.Arrangement().Signs(z)
			in := z[0] == 2
			if !in {
				require.Equal(t, math.Inf(-1), logProb(t, d, z...))
			}
			if required != nil {
				require.Equal(t, 1, required.Len())
				require.Equal(t, in, required.Holds(0, s))
				require.Contains(t, required.Place(0), "require_test.go:")
				require.Equal(t, []int{0}, required.On(1))
			}
		}
	}
	m := graph.NewModel()
	m.Sample("a", graph.Normal(0, 1))
	m.Require(graph.Or())
	_, err := m.Compile()
	require.ErrorContains(t, err, "a condition is required that never holds")
	m = graph.NewModel()
	m.Sample("a", graph.Normal(0, 1))
	m.Require(graph.And())
	required, err := mustCompile(t, m).Engine().Requirements()
	require.NoError(t, err)
	require.Nil(t, required)
}
