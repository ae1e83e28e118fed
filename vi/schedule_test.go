package vi

import (
	"cmp"
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
		{"constant", Schedule{}, func(float64) float64 { return 1 }},
		{"cosine", Schedule{Shape: Cosine}, func(u float64) float64 { return 0.5 * (1 + math.Cos(math.Pi*u)) }},
		{"cosine to a tenth", Schedule{Shape: Cosine, End: 0.1}, func(u float64) float64 { return 0.1 + 0.45*(1+math.Cos(math.Pi*u)) }},
		{"line", Schedule{Shape: Polynomial}, func(u float64) float64 { return 1 - u }},
		{"square", Schedule{Shape: Polynomial, Power: 2}, func(u float64) float64 { return (1 - u) * (1 - u) }},
		{"square to 0.01", Schedule{Shape: Polynomial, Power: 2, End: 0.01}, func(u float64) float64 { return 0.01 + 0.99*(1-u)*(1-u) }},
	} {
		for _, u := range []float64{0, 0.01, 0.25, 0.5, 0.75, 0.99, 1} {
			require.InDelta(t, c.want(u), at(c.s, u), 1e-15, "%s at %v", c.name, u)
		}
		require.Equal(t, 1.0, c.s.At(1, 1), "%s: the only step", c.name)
	}
}

// A fit with a schedule takes the steps that Adam takes with those step sizes,
// and gives the optimiser back with the step size that it was given.
func TestFitFollowsSchedule(t *testing.T) {
	_, d := paperSpec(t, "textmsg")
	start := inFamily(t, family.Softplus{}, d)
	for _, optimizer := range []*Adam{nil, {}, {StepSize: 0.02, Beta1: 0.8}} {
		step := 0.05
		if optimizer != nil {
			step = 0 // it has its own
		}
		s := Settings{Seed: *seed, Method: Climb{Steps: 20, StepSize: step, Start: start, Optimizer: optimizer, Average: 1e-6, Schedule: Schedule{Shape: Polynomial, Power: 3, End: 0.1}}}
		adam, base := &Adam{}, 0.05
		if optimizer != nil {
			adam, base = optimizer.Clone(), cmp.Or(optimizer.StepSize, 0.001)
		}
		given := Adam{StepSize: s.climb().StepSize}
		if optimizer != nil {
			given = *optimizer
		}
		theta := slices.Clone(start.Theta())
		s.climb().OnStep = func(step Step) error {
			adam.StepSize = base * s.climb().Schedule.At(step.T, s.climb().Steps)
			adam.Step(theta, step.Gradient)
			require.Equal(t, theta, step.Q.Theta())
			return nil
		}
		p, err := Fit(context.Background(), d, s)
		require.NoError(t, err)
		require.Equal(t, theta, p.Q.Theta())
		require.Equal(t, given.StepSize, p.Optimizer.StepSize)
	}
}
