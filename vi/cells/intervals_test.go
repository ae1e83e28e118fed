package cells

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// An Intervals climbs and judges in memory that it has: only the distribution that it
// returns is new.
func TestIntervalsAllocateNothing(t *testing.T) {
	const n = 60
	m, y := graph.NewModel(), make([]float64, n)
	when := m.Sample("when", graph.Uniform(0, n))
	low, high := m.Sample("low", graph.Normal(0, 3)), m.Sample("high", graph.Normal(0, 3))
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range y {
		y[i] = rng.NormFloat64()
		if i > n/3 {
			y[i] += 2
		}
		m.Observe("y", graph.Normal(graph.If(graph.Less(when, float64(i)+0.5), high, low), 1), y[i])
	}
	d, err := m.Compile()
	require.NoError(t, err)
	f, err := NewIntervals(d)
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(3, func() {
		ok, err := f.Find(d, 1e-3)
		require.NoError(t, err)
		require.True(t, ok)
	}))
	var fitted *Fitted
	allocated := testing.AllocsPerRun(3, func() {
		fitted, err = f.Weigh(1, 256)
		require.NoError(t, err)
	})
	require.LessOrEqual(t, allocated, 3*float64(len(fitted.Cells))+10)
}
