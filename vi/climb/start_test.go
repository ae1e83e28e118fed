package climb

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/watch"
)

// The prior's centre is the first candidate; the others are draws, and each is
// drawn once whatever the blocks.
func TestCandidates(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Factor(graph.If(graph.Greater(x, 0), 1, 0))
	d := mustCompile(t, m)
	c, err := newClimber(d, 128)
	require.NoError(t, err)
	list, err := c.run(context.Background(), 0, 100, parallel.NewRand(1))
	require.NoError(t, err)
	require.Len(t, list, 100)
	seen := map[float64]bool{}
	for _, c := range list {
		seen[c.q.Mean(0)] = true
		require.InEpsilon(t, startWidth, c.q.SD(0), 1e-12)
		require.Equal(t, d.Arrangement().Signs([]float64{c.q.Mean(0)}).String(), c.region)
	}
	require.Len(t, seen, 100)
	require.Equal(t, 0.0, list[0].q.Mean(0))

	best := bestOf(list, 10)
	require.Len(t, best, 10)
	require.NotEqual(t, best[0].region, best[1].region, "two regions come first")
	require.Greater(t, best[0].score, best[1].score)
	require.GreaterOrEqual(t, best[2].score, best[3].score)
	require.Equal(t, best[0].region, best[2].region, "then the best of the rest")
}

// The search tells how far it is, not only that it has begun.
func TestSearchShowsProgress(t *testing.T) {
	_, d := paperSpec(t, "temperature")
	var out bytes.Buffer
	s := newJob(d, Settings{Family: family.MeanField{}, Steps: 10, StartDraws: 2000})
	s.Watch = watch.New(&out, nil, 0)
	s.Watch.Every = 0
	_, err := findStarts(context.Background(), d, s)
	require.NoError(t, err)
	for _, want := range []string{
		"looking for a start among 2000 draws\n", "looking for a start: 128 of 2001 draws\n", "looking for a start: 2001 of 2001 draws\n",
		" modes\n", " of 20 fits of 100 steps\n", "looking for a start: 5 of 5 fits of 300 steps\n",
	} {
		require.Contains(t, out.String(), want)
	}
}
