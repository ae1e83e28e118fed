//go:build long

package main

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/vi"
)

// The printed answer.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(&out, 1, filepath.Join(t.TempDir(), "fit.html")))
	require.Contains(t, out.String(), "verdict: trust")
	for _, month := range []string{"Jan .* 0.000  2", "Apr .* 0.000  2", "May .* 0.3.*open", "Oct .* 0.0.*open"} {
		require.Regexp(t, "\n"+month, out.String())
	}
}

// The fit against the enumeration of all sequences of types, which does not name the December before.
func TestExact(t *testing.T) {
	spec, err := models.ByName("influenza")
	require.NoError(t, err)
	want := spec.Exact()
	density, err := program().Compile()
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
