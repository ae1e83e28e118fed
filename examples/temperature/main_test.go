package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/cli/clitest"
	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/vi"
)

// The printed answer: when the controller switched first the data do not say, in step 4 or 5, or in step 3.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	out := clitest.Answers(t, run, nil, "Verdict: ", "20 of 21 states as they were")
	require.Regexp(t, `\n   3 .* 0\.0[78]\d  off `, out)
	require.Regexp(t, `\n   4 .* 0\.4[0-4]\d  off .*on  ←\n`, out)
	require.Regexp(t, `\n   5 .* 0\.9\d\d  on `, out)
}

// The fit against the exact posterior.
func TestExact(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	spec, err := models.ByName("temperature")
	require.NoError(t, err)
	want := spec.Exact()
	density, err := room(observed).Compile()
	require.NoError(t, err)
	fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: 1})
	require.NoError(t, err)
	for i, p := range want.Guards {
		got, err := fit.ProbNamed("on", i)
		require.NoError(t, err)
		require.InDelta(t, p, got.Value, 0.003, "step %d", i+1)
	}
	e, err := fit.LogEvidence()
	require.NoError(t, err)
	require.InDelta(t, want.LogEvidence, e.Value, 0.05)
}

func TestInterrupt(t *testing.T) { clitest.Stopped(t, run) }

func TestBadFlags(t *testing.T) { clitest.WrongFlags(t, "temperature", run) }
