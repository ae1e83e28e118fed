package vi

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/vi/family"
)

func TestScheduleAt(t *testing.T) {
	const steps = 101 // so that step 1 + 100u is u of the way
	at := func(s Schedule, u float64) float64 { return s.At(1+int(math.Round(100*u)), steps) }
	for _, c := range []struct {
		name string
		s    Schedule
		want func(u float64) float64
	}{
		{"constant", Constant, func(float64) float64 { return 1 }},
		{"cosine", Cosine, func(u float64) float64 { return 0.5 * (1 + math.Cos(math.Pi*u)) }},
	} {
		for _, u := range []float64{0, 0.01, 0.25, 0.5, 0.75, 0.99, 1} {
			require.InDelta(t, c.want(u), at(c.s, u), 1e-15, "%s at %v", c.name, u)
		}
		require.Equal(t, 1.0, c.s.At(1, 1), "%s: the only step", c.name)
	}
}

// A fit with a schedule takes the steps that Adam takes with those step sizes.
func TestFitFollowsSchedule(t *testing.T) {
	_, d := paperSpec(t, "textmsg")
	start := inFamily(t, family.Softplus{}, d)
	s := Settings{Seed: *seed, Method: Climb{Steps: 20, StepSize: 0.05, Start: start, Average: 1e-6, Schedule: Cosine}}
	adam, theta := &Adam{}, slices.Clone(start.Theta())
	s.climb().OnStep = func(step Step) error {
		adam.StepSize = 0.05 * Cosine.At(step.T, 20)
		adam.Step(theta, step.Gradient)
		require.Equal(t, theta, step.Q.Theta())
		return nil
	}
	p, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	require.Equal(t, theta, p.Q.Theta())
}
