package vi

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/sbc"
)

// changing is a change in n numbers, whose levels have a prior of the given standard deviation. backward swaps the sides of its guard.
func changing(t testing.TB, n int, sd float64, backward bool) *graph.Density {
	m := graph.NewModel()
	when := m.Sample("when", graph.Uniform(0, float64(n)))
	before, after := m.Sample("before", graph.Normal(0, sd)), m.Sample("after", graph.Normal(0, sd))
	for i := range n {
		late := graph.Less(when, float64(i)+0.5)
		if i == n/2 {
			m.Name("half", late)
		}
		level := graph.If(late, after, before)
		if backward {
			level = graph.If(late, before, after)
		}
		m.Observe("y", graph.Normal(level, 1), 0)
	}
	m.Deterministic("jump", graph.Sub(after, before))
	return mustCompile(t, m)
}

// scaled is a level with a standard deviation of its own: sampled as it should be, or by its logarithm and a Factor without the Jacobian.
func scaled(t testing.TB, jacobian bool) *graph.Density {
	m := graph.NewModel()
	sd := m.Sample("sd", graph.LogNormal(0, 1))
	if !jacobian { // log sd has the density of sd
		m.Factor(graph.Sub(0, graph.Log(sd)))
	}
	level := m.Sample("level", graph.Normal(0, 3))
	for range 5 {
		m.Observe("y", graph.Normal(level, sd), 0)
	}
	return mustCompile(t, m)
}

// folded is a number of which only the size is seen.
func folded(t testing.TB) *graph.Density {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 3))
	m.Observe("y", graph.Normal(graph.Abs(x), 0.5), 0)
	return mustCompile(t, m)
}

// steep is a number whose data have another level on either side of 0.
func steep(t testing.TB) *graph.Density {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Observe("y", graph.Normal(graph.If(graph.Greater(x, 0), 1, -1), 1), 0)
	return mustCompile(t, m)
}

// calibrations are a right program, and five planted faults, each with as many fits as find it.
func calibrations(t testing.TB) map[string]struct {
	d *graph.Density
	c Calibrating
} {
	quick := Settings{Method: Cells{Quick: true}}
	at, err := StartAt(folded(t), map[string]float64{"x": 2})
	require.NoError(t, err)
	type planted = struct {
		d *graph.Density
		c Calibrating
	}
	return map[string]planted{
		"right":        {changing(t, 10, 2, false), Calibrating{Fits: 100, Fit: quick}},
		"scale":        {changing(t, 10, 1, false), Calibrating{Fits: 300, Fit: quick, From: changing(t, 10, 2.5, false)}},
		"direction":    {changing(t, 10, 2, true), Calibrating{Fits: 100, Fit: quick, From: changing(t, 10, 2, false)}},
		"Jacobian":     {scaled(t, false), Calibrating{Fits: 300, Fit: Settings{Method: Climb{Start: PriorStart(scaled(t, false)), Steps: 200}}, From: scaled(t, true)}},
		"Reparam":      {steep(t), Calibrating{Fits: 300, Fit: Settings{Method: Climb{Estimator: Reparam{}, Start: PriorStart(steep(t)), Steps: 300}}, OfQ: true}},
		"one of modes": {folded(t), Calibrating{Fits: 100, Fit: Settings{Method: Climb{Start: at, Steps: 100}}, OfQ: true}},
	}
}

// Each planted fault is found, and nothing is found in the right program; without -tags long those that 100 fits show. With -exhaustive each fault is
// found in 95 of 100 runs or more, and the right program passes in 95 ± 3, as a level of 5 % says.
func TestCalibrate(t *testing.T) {
	t.Parallel()
	runs, least, most := 1, 1, 1
	if long.Exhaustive() {
		runs, least, most = 100, 95, 100
	}
	for name, x := range calibrations(t) {
		if !long.On() && x.c.Fits > 100 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			least, most := least, most
			if runs > 1 && name == "right" {
				least, most = 92, 98
			}
			right := 0
			began := cputime.Seconds()
			for k := range runs {
				x.c.Fit.Seed = parallel.Mix(*seed, uint64(k))
				c, err := Calibrate(context.Background(), x.d, x.c)
				require.NoError(t, err)
				require.Empty(t, c.Errors)
				if (c.P >= sbc.Level) == (name == "right") {
					right++
				}
				if k == 0 {
					t.Log(c)
				}
			}
			t.Logf("%d of %d runs, %.2g CPU seconds each", right, runs, (cputime.Seconds()-began)/float64(runs))
			require.GreaterOrEqual(t, right, least)
			require.LessOrEqual(t, right, most)
		})
	}
}

// Posterior calibration: the latents given some observations, which stay, and fits to new ones beside them.
func TestCalibrateGiven(t *testing.T) {
	long.Skip(t)
	t.Parallel()
	program := func(sd float64) *graph.Density {
		m := graph.NewModel()
		level := m.Sample("level", graph.Normal(0, 10))
		for _, y := range []float64{4.1, 5.2, 4.8} {
			m.Observe("y", graph.Normal(level, 1), y)
			m.Observe("again", graph.Normal(level, sd), 0)
		}
		return mustCompile(t, m)
	}
	c := Calibrating{Fits: 100, Given: []string{"y"}, Fit: Settings{Seed: *seed, Method: Climb{Start: PriorStart(program(1)), Steps: 200}}}
	right, err := Calibrate(context.Background(), program(1), c)
	require.NoError(t, err)
	require.Greater(t, right.P, sbc.Level)
	c.From = program(3)
	wrong, err := Calibrate(context.Background(), program(1), c)
	require.NoError(t, err)
	require.Less(t, wrong.P, 0.001)
	require.Contains(t, wrong.String(), "level is too narrow in the fits")
}

// Data in both branches of an If are replicated in both.
func TestCalibrateBranches(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	for range 3 {
		m.If(graph.Less(x, 0), func() { m.Observe("y", graph.Normal(-1, 1), 0) }, func() { m.Observe("y", graph.Normal(x, 1), 0) })
	}
	d := mustCompile(t, m)
	c, err := Calibrate(context.Background(), d, Calibrating{Fits: 100, Fit: Settings{Seed: *seed, Method: Climb{Start: PriorStart(d), Steps: 200}}})
	require.NoError(t, err)
	require.Empty(t, c.Errors)
	require.Greater(t, c.P, sbc.Level)
}

// A series that depends on its past is drawn from its own past, not from that which was observed: a right program passes, and one
// with another prior is found.
func TestCalibrateSeries(t *testing.T) {
	long.Skip(t)
	t.Parallel()
	program := func(sd float64) *graph.Density {
		m := graph.NewModel()
		keep := m.Sample("keep", graph.Normal(0, sd))
		noise := m.Sample("noise", graph.LogNormal(0, 0.5))
		m.Observe("y", graph.Normal(0, noise), 0)
		for i := range 11 {
			m.Observe("y", graph.Normal(graph.Mul(keep, m.Observed("y", i)), noise), 0)
		}
		return mustCompile(t, m)
	}
	c := Calibrating{Fits: 100, Fit: Settings{Seed: *seed, Method: Cells{Quick: true}}}
	right, err := Calibrate(context.Background(), program(0.5), c)
	require.NoError(t, err)
	require.Greater(t, right.P, sbc.Level, right)
	c.From = program(0.5)
	wrong, err := Calibrate(context.Background(), program(0.1), c)
	require.NoError(t, err)
	require.Less(t, wrong.P, 0.001)
	require.Contains(t, wrong.String(), "keep is too narrow in the fits")
}

func TestCalibrateErrors(t *testing.T) {
	d := steep(t)
	_, err := Calibrate(context.Background(), d, Calibrating{Fits: -1})
	require.ErrorContains(t, err, "a negative number of fits")
	for want, c := range map[string]Calibrating{
		`no observation "z" is there to be given`:                                  {Given: []string{"z"}},
		"all observations are given":                                               {Given: []string{"y"}},
		`none of 3 data sets could be fitted: vi: "0": graph: observation "y": 10`: {Fits: 3, From: changing(t, 10, 2, false)},
	} {
		_, err := Calibrate(context.Background(), d, c)
		require.ErrorContains(t, err, "vi: calibrating: "+want)
	}
	_, err = Calibrate(context.Background(), nil, Calibrating{})
	require.ErrorContains(t, err, "a nil context or density")
	ctx, stop := context.WithCancel(context.Background())
	stop()
	_, err = Calibrate(ctx, d, Calibrating{})
	require.ErrorIs(t, err, context.Canceled)
}
