package vi

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
)

// Of several restarts the one with the best ELBO is the fit; the first is what a
// fit alone would be; and all are told of, by the same samples.
func TestRestarts(t *testing.T) {
	long.Skip(t)
	t.Parallel()
	spec, d := paperSpec(t, "influenza")
	steps := 2000
	s := Settings{Seed: *seed, Method: Climb{Family: family.MeanField{}, Steps: steps, Restarts: 4}}
	p, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	require.Len(t, p.Restarts, 4)
	kept := 0
	for r, x := range p.Restarts {
		require.Equal(t, steps, x.Steps)
		require.Empty(t, x.Err)
		exact := exactELBO(t, spec, d, x.Q)
		t.Logf("restart %d: %v, exactly %.3f, from %.3f; kept %v", r, x.ELBO, exact, exactELBO(t, spec, d, x.Start), x.Kept)
		require.InDelta(t, exact, x.ELBO.Value, 1)
		if x.Kept {
			kept++
			require.Equal(t, p.Q, x.Q)
		}
		require.LessOrEqual(t, x.ELBO.Value, bestRestart(p).ELBO.Value)
		for _, y := range p.Restarts[:r] {
			require.NotEqual(t, x.Start, y.Start)
			require.NotEqual(t, x.Q, y.Q)
		}
	}
	require.Equal(t, 1, kept)

	s.climb().Restarts = 1
	alone, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	require.Equal(t, alone.Q, p.Restarts[0].Q)
	require.Equal(t, alone.Restarts[0].ELBO, p.Restarts[0].ELBO)

	s.climb().Start, s.climb().Restarts, s.climb().Steps = alone.Q, 2, 10
	same, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	require.Equal(t, same.Restarts[0].Start, same.Restarts[1].Start)
	require.NotEqual(t, same.Restarts[0].Q, same.Restarts[1].Q, "streams differ")
}

func bestRestart(p *Posterior) Restart {
	for _, r := range p.Restarts {
		if r.Kept {
			return r
		}
	}
	return Restart{}
}

// trap is a model in which fits that start below zero slide to where log r is
// not finite, and others do not.
func trap(t testing.TB) *graph.Density {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 2))
	fall := graph.Sub(graph.Mul(0.001, graph.Log(graph.Add(x, 6))), graph.Mul(20, x))
	off := graph.Sub(x, 3)
	m.Factor(graph.If(graph.Greater(x, 0), graph.Mul(-5, graph.Mul(off, off)), fall))
	return mustCompile(t, m)
}

// A restart that fails is a warning as long as another does not.
func TestRestartFails(t *testing.T) {
	d := trap(t)
	p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Family: family.MeanField{}, Steps: 1500, Restarts: 12}})
	require.NoError(t, err)
	require.Positive(t, p.Q.Mean(0))
	failed := 0
	for _, r := range p.Restarts {
		if r.Err != "" {
			failed++
			require.Contains(t, r.Err, "restart_test.go")
			require.False(t, r.Kept)
			require.Less(t, r.Steps, 1500)
		}
	}
	require.Positive(t, failed, "inconclusive: nothing failed")
	require.Less(t, failed, 12)
	require.Len(t, p.Warnings, failed)
	require.Regexp(t, `restart \d+ failed: step \d+: the gradient is not finite for x: the factor`, p.Warnings[0])

	start := family.Independent([]float64{-4}, []float64{0.1})
	p, err = Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Steps: 1500, Restarts: 2, Start: start}})
	require.ErrorContains(t, err, "not finite for x")
	require.Regexp(t, `^vi: restart [01]: step`, err.Error())
	require.Less(t, p.Steps, 1500)
}

// An error of OnStep stops all restarts; calls do not overlap.
func TestOnStepOfRestarts(t *testing.T) {
	long.Skip(t)
	_, d := paperSpec(t, "textmsg")
	enough := errors.New("enough")
	inside, last := 0, map[int]int{}
	p, err := Fit(context.Background(), d, Settings{Method: Climb{Family: family.MeanField{}, StartDraws: 20, Steps: 1e6, TraceEvery: 1e6, Restarts: 3, OnStep: func(s Step) error {
		inside++
		defer func() { inside-- }()
		if inside != 1 || s.T != last[s.Restart]+1 {
			return errors.New("out of order")
		}
		last[s.Restart] = s.T
		if s.Restart == 1 && s.T == 100 {
			return enough
		}
		return nil
	}}})
	require.ErrorIs(t, err, enough)
	require.Len(t, p.Restarts, 3)
	for r, x := range p.Restarts {
		require.Equal(t, last[r], x.Steps)
	}
	require.Equal(t, 100, p.Restarts[1].Steps)
}
