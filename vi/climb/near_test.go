//go:build long

package climb

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/internal/muchdata"
)

// twoOptima is a location among observations of which 55 of 100 are around 0 and the others around 4, with noise of
// which outliers are a part: log r of n of them is highest near 0, by about n/2 nats, and has a second maximum near 4. Those
// beyond a threshold are moved.
func twoOptima(t *testing.T, n int) *graph.Density {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	x, y := make([]float64, n), make([]float64, n)
	for i := range y {
		x[i] = rng.NormFloat64()
		y[i] = 0.3 * rng.NormFloat64()
		if rng.Float64() > 0.55 {
			y[i] += 4
		}
		if x[i] > 0.5 {
			y[i] += 0.5
		}
	}
	m := graph.NewModel()
	at, tau, by := m.Sample("at", graph.Normal(2, 3)), m.Sample("tau", graph.Normal(0, 1)), m.Sample("by", graph.Normal(0, 1))
	m.Plate(n, func(p *graph.Plate) {
		step := graph.If(graph.Greater(p.Data(x), tau), by, 0)
		p.Observe("y", graph.StudentsT(graph.Add(at, step), 0.3, 3), y)
	})
	d, err := m.Compile()
	require.NoError(t, err)
	return d
}

// A search that begins with a part of the data ends at the optimum of all of them, where climbs from the prior's draws with
// all of the data end, the best of them. With too small a part it does not.
func TestSearchByAPartOfTheData(t *testing.T) {
	d := twoOptima(t, 6200)
	require.GreaterOrEqual(t, d.Terms(), muchdata.Terms)
	at, _ := d.Latent("at")
	s := newJob(d, Settings{StartDraws: 40})
	list, err := candidates(context.Background(), d, s)
	require.NoError(t, err)
	want := list[0].q.Mean(at)
	require.InDelta(t, 0, want, 1)
	wrong := 0
	for k := range 5 {
		s.Seed = *seed + uint64(k)
		for _, part := range []int{0, 1} {
			modes, err := muchdata.Search{Seed: s.Seed, Part: part}.Modes(context.Background(), d)
			require.NoError(t, err)
			require.NotEmpty(t, modes)
			off := math.Abs(modes[0].Z[at] - want)
			if part == 0 {
				assert.Less(t, off, 0.3)
			} else if off > 2 {
				wrong++
			}
		}
	}
	assert.Positive(t, wrong)
}
