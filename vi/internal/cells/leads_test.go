package cells

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// Leads come with the highest log r first, and those with the same in the order in which they came.
func TestLeadsByPromise(t *testing.T) {
	var q queue
	rng := rand.New(rand.NewPCG(1, 0))
	var want []float64
	for range 200 {
		log := float64(rng.IntN(50))
		want = append(want, log)
		q.push(lead{log: log})
	}
	slices.SortFunc(want, func(a, b float64) int { return int(b - a) })
	last := lead{log: math.Inf(1)}
	for k, l := range q.next(300) {
		require.Equal(t, want[k], l.log)
		if l.log == last.log {
			require.Greater(t, l.order, last.order)
		}
		last = l
	}
	require.Empty(t, q.next(1))
}

// The promise of a lead is log r of its region at its point, less what the way there costs by the prior's scale.
func TestPromise(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 2))
	m.Factor(graph.If(graph.Greater(x, 1), 3, 0))
	d, err := m.Compile()
	require.NoError(t, err)
	f, err := newFinder(d, newLines(d.Arrangement()), nil)
	require.NoError(t, err)
	density := func(x float64) float64 { return -0.5*x*x/4 - math.Log(2*math.Sqrt(2*math.Pi)) }
	over := d.Arrangement().Signs([]float64{1.5})
	leads := []lead{{z: []float64{1.5}, s: over}, {z: []float64{-0.5}, s: over}, {z: []float64{-0.5}, s: over.Flip(0)}}
	require.NoError(t, f.promise(leads))
	require.InDelta(t, density(1.5)+3, leads[0].log, 1e-12)
	require.InDelta(t, density(-0.5)+3-0.5*1.5*1.5/4, leads[1].log, 1e-12)
	require.InDelta(t, density(-0.5), leads[2].log, 1e-12)
}

// A cell counts by its mass, or by its part in the variance of a latent.
func TestCountsByVariance(t *testing.T) {
	m := graph.NewModel()
	const far = 5.1
	z := m.Sample("z", graph.Normal(0, 1))
	m.Sample("noise", graph.Normal(graph.If(graph.Greater(z, far), 1, 0), 0.001))
	d, err := m.Compile()
	require.NoError(t, err)
	start, _ := d.PriorStart()
	s, err := Find(context.Background(), d, Settings{Points: [][]float64{start}, Most: 100, Seed: 1})
	require.NoError(t, err)
	require.Len(t, s.Cells, 2)
	w := s.together()
	rare := s.Cells[1]
	require.InDelta(t, math.Log(0.5*math.Erfc(far/math.Sqrt2)), rare.LogEvidence.Value, 0.01)
	require.Less(t, rare.LogEvidence.Value, w.least)
	require.True(t, w.counts(rare.LogEvidence.Value, rare.moments))
	require.False(t, w.counts(rare.LogEvidence.Value, s.Cells[0].moments))
	require.Equal(t, 2, s.enough(w, 0))
}
