package graph_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
)

// Priors are those of the values in the program, without the Jacobians of their coordinates.
func TestLogPriors(t *testing.T) {
	m := graph.NewModel()
	m.Param("p", 1)
	x := m.Sample("x", graph.Normal(1, 2))
	m.Sample("g", graph.Gamma(2, 3))
	m.Sample("b", graph.Beta(2, 5))
	m.Sample("y", graph.Normal(x, 0.5))
	m.Sample("n", graph.Poisson(3))
	m.Sample("k", graph.Truncated(graph.Poisson(graph.Exp(x)), 0, 10))
	m.Observe("data", graph.Normal(x, 1), 4)
	d, err := m.Compile()
	require.NoError(t, err)
	z := []float64{0, 0.3, -0.4, 0.8, 0.1, 2, 0.3}
	v := d.Constrain(z)
	want := []float64{0, distuv.Normal{Mu: 1, Sigma: 2}.LogProb(v[1]), distuv.Gamma{Alpha: 2, Beta: 3}.LogProb(v[2]),
		distuv.Beta{Alpha: 2, Beta: 5}.LogProb(v[3]), distuv.Normal{Mu: v[1], Sigma: 0.5}.LogProb(v[4]), distuv.Poisson{Lambda: 3}.LogProb(v[5])}
	got := d.LogPriors(nil, z)
	for i := range want {
		require.InDelta(t, want[i], got[i], 1e-9, d.Latents()[i])
	}
	all := distuv.Poisson{Lambda: math.Exp(v[1])}
	require.InDelta(t, all.LogProb(v[6])-math.Log(all.CDF(10)), got[6], 1e-9)
}
