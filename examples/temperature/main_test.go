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

// The printed answer: when the controller switched first the data do not say, in step 4 or 5, or in step 3.
func TestRun(t *testing.T) {
	var buffer bytes.Buffer
	require.NoError(t, run(&buffer, 1, filepath.Join(t.TempDir(), "fit.html")))
	out := buffer.String()
	require.Contains(t, out, "verdict: trust")
	require.Contains(t, out, "19 of 20 states as they were")
	require.Regexp(t, `\n   3 .* 0\.0[78]\d  off `, out)
	require.Regexp(t, `\n   4 .* 0\.4[0-4]\d  off .*on  ←\n`, out)
	require.Regexp(t, `\n   5 .* 0\.9\d\d  on `, out)
}

// The fit against the exact posterior.
func TestExact(t *testing.T) {
	spec, err := models.ByName("temperature")
	require.NoError(t, err)
	want := spec.Exact()
	density, err := program().Compile()
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
