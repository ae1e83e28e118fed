package main

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/examples/models/coalmining"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi"
)

func TestRun(t *testing.T) {
	simulated := long.Or(0, 6)
	var out bytes.Buffer
	require.NoError(t, run(&out, 1, simulated, filepath.Join(t.TempDir(), "fit.html")))
	for _, text := range []string{"verdict: trust", "\nchange in (1891, 1892)   0.24", "Disasters fell to 30 %", "from 1897 on", "Be ready for 3"} {
		assert.Contains(t, out.String(), text)
	}
	if simulated > 0 {
		assert.Contains(t, out.String(), "6 fits are calibrated")
	}
}

// The fit is the exact posterior: no statement about the year of the change is off by more than 0.005 (the total variation), the mean of
// the change by 0.01 sd, its sd by 1 %, and the log evidence by 0.01. One mean-field normal is 0.2 off.
func TestExact(t *testing.T) {
	exact := coalmining.Exact()
	require.Equal(t, coalmining.Disasters, disasters)
	want := exact.Latents[0]
	density, err := program().Compile()
	require.NoError(t, err)
	for seed := range long.Few[uint64](1, 3) { // internal/posterior has more
		fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: 1 + seed})
		require.NoError(t, err)
		old, err := fit.Probs(density.Named("old"))
		require.NoError(t, err)
		lastYear := make([]float64, len(exact.LastYear))
		for i := range lastYear {
			lastYear[i] = old[i].Value - old[i+1].Value
		}
		assert.Less(t, floats.Distance(lastYear, exact.LastYear, 1)/2, 0.005)
		mean, err1 := fit.Mean("change")
		sd, err2 := fit.SD("change")
		evidence, err3 := fit.LogEvidence()
		require.NoError(t, err1)
		require.NoError(t, err2)
		require.NoError(t, err3)
		assert.InDelta(t, want.Mean, mean.Value, 0.01*want.SD)
		assert.InEpsilon(t, want.SD, sd.Value, 0.01)
		assert.InDelta(t, exact.LogEvidence, evidence.Value, 0.01)
	}
}

// Reparameterization alone learns nothing about the change: its normal is e² times as far from the posterior. (Its ELBO, for the
// numbers of the posterior are those of weighted draws.)
func TestReparamFails(t *testing.T) {
	long.Skip(t)
	density, err := program().Compile()
	require.NoError(t, err)
	start, err := vi.StartAt(density, map[string]float64{"change": first + 55.5})
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
