package vi

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
)

// A fit is the mean of its last iterates: as many as Climb.Average says, at
// least one, and fewer if it is stopped among them; before them it is the
// iterate.
func TestAverageIsOfTheTail(t *testing.T) {
	_, d := paperSpec(t, "textmsg")
	start := PriorStart(d)
	enough := errors.New("enough")
	for _, c := range []struct {
		average     float64
		stop, count int // stop after, and how many iterates count
	}{
		{0.25, 40, 10}, {1, 40, 40}, {0.03, 40, 1}, {1e-9, 40, 1}, {0, 40, 4},
		{0.25, 35, 5}, {0.25, 31, 1}, {0.25, 30, 1}, {0.25, 3, 1},
	} {
		var iterates [][]float64
		p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Start: start, Steps: 40, Average: c.average, OnStep: func(s Step) error {
			iterates = append(iterates, slices.Clone(s.Q.Theta()))
			if s.T == c.stop && s.T < 40 {
				return enough
			}
			return nil
		}}})
		if c.stop < 40 {
			require.ErrorIs(t, err, enough)
		}
		want := make([]float64, 2*d.Dim())
		for _, theta := range iterates[len(iterates)-c.count:] {
			for i, x := range theta {
				want[i] += x
			}
		}
		for i := range want {
			want[i] *= 1 / float64(c.count)
		}
		require.Equal(t, want, p.Q.Theta(), "%+v", c)
	}
}

// In temperature, whose noise latents are a thousandth wide, the jitter of the
// paper's steps of 0.01 costs nats, and the average is free of it.
func TestAverageRemovesJitter(t *testing.T) {
	long.Skip(t)
	spec, d := paperSpec(t, "temperature")
	p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Family: family.Softplus{}, Steps: 3000}})
	require.NoError(t, err)
	iterate := p.Q.Clone()
	iterate.Set(p.states[0].Theta)
	average, last := exactELBO(t, spec, d, p.Q), exactELBO(t, spec, d, iterate)
	t.Logf("average %.3f, last iterate %.3f", average, last)
	require.Greater(t, average, last+1)
}
