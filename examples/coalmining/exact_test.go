package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/examples/models/coalmining"
	"github.com/facetvi/facet/vi"
)

// variation is the total variation distance: the most by which p and q differ in the probability of anything about the last year.
func variation(p, q []float64) float64 { return floats.Distance(p, q, 1) / 2 }

// The fit is the exact posterior: no statement about the last year is off by more than 0.01, the change is within 0.05 years and
// its sd within 2 %, and the log evidence within 0.02. One mean-field normal is 0.2 off.
func TestChangeExact(t *testing.T) {
	exact := coalmining.Exact()
	want := exact.Latents[0]
	assert.InDelta(t, 1890, want.Mean, 1, "the answer that everybody finds")

	fit, err := fitted(context.Background(), vi.Settings{Seed: 1})
	require.NoError(t, err)
	got, err := lastYear(fit)
	require.NoError(t, err)
	assert.InDelta(t, 1, floats.Sum(got), 1e-12)
	assert.Less(t, variation(exact.LastYear, got), 0.01)
	mean, err1 := fit.Mean("change")
	sd, err2 := fit.SD("change")
	evidence, err3 := fit.LogEvidence()
	require.NoError(t, err1)
	require.NoError(t, err2)
	require.NoError(t, err3)
	assert.InDelta(t, want.Mean, mean.Value, 0.05)
	assert.InEpsilon(t, want.SD, sd.Value, 0.02)
	assert.InDelta(t, exact.LogEvidence, evidence.Value, 0.02)
}

// Reparameterization alone learns nothing about the change.
func TestReparamFails(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	density, err := coalmining.Model(coalmining.Disasters).Compile()
	require.NoError(t, err)
	start, err := vi.StartAt(density, map[string]float64{"change": coalmining.FirstYear + 55.5})
	require.NoError(t, err)
	for _, e := range []vi.Estimator{vi.Boundary{}, vi.Reparam{}} {
		fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: 1, Method: vi.Climb{Estimator: e, Steps: 2000, Start: start}})
		require.NoError(t, err)
		got, err := lastYear(fit)
		require.NoError(t, err)
		off := variation(coalmining.Exact().LastYear, got)
		assert.Equal(t, e == vi.Boundary{}, off < 0.3, "%s: %v", e.Name(), off)
	}
}
