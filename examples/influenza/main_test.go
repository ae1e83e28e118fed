package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/cli/clitest"
	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/vi"
)

// The printed answer.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	clitest.Answers(t, run, nil, "Verdict: ", "\ntype1: never  ", "type 2: Jan, Feb, Mar, Apr, Dec.", "Open, as explanations differ: May, ")
}

// The fit against the enumeration of all sequences of types, which does not name the December before.
func TestExact(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	spec, err := models.ByName("influenza")
	require.NoError(t, err)
	want := spec.Exact()
	density, err := epidemic(mortality).Compile()
	require.NoError(t, err)
	fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: 1})
	require.NoError(t, err)
	for i, p := range want.Guards {
		got, err := fit.ProbNamed("type1", i+1)
		require.NoError(t, err)
		require.InDelta(t, p, got.Value, 0.003, "month %d", i+1)
	}
	e, err := fit.LogEvidence()
	require.NoError(t, err)
	require.InDelta(t, want.LogEvidence, e.Value, 0.03)
}

func TestInterrupt(t *testing.T) { clitest.Stopped(t, run) }

func TestBadFlags(t *testing.T) { clitest.WrongFlags(t, "influenza", run) }
