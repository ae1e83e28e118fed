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

// The fit is the exact posterior: no statement about the last year is off by more than 0.005, the mean of the change is within 0.01 sd,
// its sd within 1 %, and the log evidence within 0.01. One mean-field normal is 0.2 off.
func TestChangeExact(t *testing.T) {
	exact := coalmining.Exact()
	want := exact.Latents[0]
	assert.InDelta(t, 1890, want.Mean, 1, "the answer that everybody finds")

	for seed := range uint64(3) {
		fit, err := fitted(context.Background(), vi.Settings{Seed: 1 + seed})
		require.NoError(t, err)
		got, err := lastYear(fit)
		require.NoError(t, err)
		assert.InDelta(t, 1, floats.Sum(got), 1e-9)
		assert.Less(t, variation(exact.LastYear, got), 0.005)
		mean, err1 := fit.Mean("change")
		sd, err2 := fit.SD("change")
		evidence, err3 := fit.LogEvidence()
		require.NoError(t, err1)
		require.NoError(t, err2)
		require.NoError(t, err3)
		assert.InDelta(t, want.Mean, mean.Value, 0.01*want.SD)
		assert.InEpsilon(t, want.SD, sd.Value, 0.01)
		assert.InDelta(t, exact.LogEvidence, evidence.Value, 0.01)
		t.Logf("any statement off by %.4f, mean %.4f, sd %.4f, log evidence %.4f", variation(exact.LastYear, got), (mean.Value-want.Mean)/want.SD, sd.Value/want.SD-1, evidence.Value-exact.LogEvidence)
	}
}

// Reparameterization alone learns nothing about the change: its normal is e² times as far from the posterior. (Its ELBO, for the
// numbers of the posterior are those of weighted draws.)
func TestReparamFails(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	density, err := coalmining.Model(coalmining.Disasters).Compile()
	require.NoError(t, err)
	start, err := vi.StartAt(density, map[string]float64{"change": coalmining.FirstYear + 55.5})
	require.NoError(t, err)
	var elbo []float64
	for _, e := range []vi.Estimator{vi.Boundary{}, vi.Reparam{}} {
		fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: 1, Method: vi.Climb{Estimator: e, Steps: 2000, Start: start}})
		require.NoError(t, err)
		estimate, err := fit.ELBO(10000, 0)
		require.NoError(t, err)
		t.Log(e.Name(), estimate)
		elbo = append(elbo, estimate.Value)
	}
	assert.Less(t, elbo[1], elbo[0]-2)
}
