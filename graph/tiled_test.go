package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// Sums over many rows of large batches are those of
// one sample to the last bit, on both sides of guards and where a branch that is not
// taken has no density.
func TestSumsOfLargeBatches(t *testing.T) {
	const observations, n = 333, 64
	rng := rand.New(rand.NewPCG(1, 1))
	m := graph.NewModel()
	change := m.Sample("change", graph.Uniform(0, observations))
	levels := []graph.Expr{m.Sample("before", graph.Normal(0, 1)), m.Sample("after", graph.Normal(0, 1)), m.Sample("hold", graph.Normal(0, 1))}
	for i := range observations {
		past := graph.Greater(i, change)
		mean := graph.If(past, levels[1+i%2], levels[0])
		m.Observe(fmt.Sprint("y", i), graph.Normal(mean, 1), rng.NormFloat64())
		m.Observe(fmt.Sprint("count", i), graph.Poisson(graph.If(past, graph.Exp(graph.Mul(1000, levels[1])), 2)), float64(i%4))
	}
	d, err := m.Compile()
	require.NoError(t, err)
	x, err := d.Executor(n, graph.Compute{Out: true})
	require.NoError(t, err)
	for k := range x.Z {
		x.Z[k] = rng.NormFloat64()
	}
	d.Arrangement().SignBatch(x.Signs, x.Z, n)
	require.NoError(t, x.Run())
	one, finite := make([]float64, d.Dim()), 0
	for k := range n {
		for i := range one {
			one[i] = x.Z[i*n+k]
		}
		want, err := d.LogProb(one)
		require.NoError(t, err)
		if math.IsNaN(want) || math.IsInf(want, 0) {
			require.False(t, x.Out[k] > math.Inf(-1) && x.Out[k] < math.Inf(1))
			continue
		}
		finite++
		require.Equal(t, want, x.Out[k], "sample %d", k)
	}
	require.Greater(t, finite, n/4)
	require.Less(t, finite, n)
}
