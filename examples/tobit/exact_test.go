package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/models/tobit"
	"github.com/facetvi/facet/vi"
)

// The default fit is the exact posterior: means within 0.03 sd, sds within 3 %, the limit's probability within 0.005, the log
// evidence within 0.02.
func TestPosteriorExact(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	want := tobit.Exact()
	for seed := range uint64(3) {
		fit, err := fitted(context.Background(), seed+1)
		require.NoError(t, err)
		s := fit.Summary()
		assert.Equal(t, vi.TrustFit, s.Verdict.Trust, s.Verdict)
		for i, l := range s.Latents {
			want := want.Latents[i]
			t.Logf("%s: mean off by %.4f, sd by %.4f", l.Name, (l.Mean.Value-want.Mean)/want.SD, l.SD.Value/want.SD-1)
			assert.InDelta(t, want.Mean, l.Mean.Value, 0.03*want.SD, l.Name)
			assert.InEpsilon(t, want.SD, l.SD.Value, 0.03, l.Name)
		}
		for i, want := range want.Guards {
			got, err := fit.ProbNamed("enough", i)
			require.NoError(t, err)
			t.Logf("household %d: %v, exactly %.4f", i, got, want)
			assert.InDelta(t, want, got.Value, 0.005, "household %d", i)
		}
		t.Logf("seed %d: log evidence %v, exactly %.4f", seed+1, s.LogEvidence, want.LogEvidence)
		assert.InDelta(t, want.LogEvidence, s.LogEvidence.Value, 0.02)
	}
}

// Reparameterization alone does not see that who bought nothing wants less than
// the limit, nor that the limit is below the purchases.
func TestReparamFails(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	density, err := tobit.Model(tobit.Households).Compile()
	require.NoError(t, err)
	start, err := vi.StartAt(density, map[string]float64{"limit": 0})
	require.NoError(t, err)
	var elbo []float64
	for _, e := range []vi.Estimator{vi.Boundary{}, vi.Reparam{}} {
		fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: 1, Method: vi.Climb{Estimator: e, Steps: 3000, Start: start}})
		require.NoError(t, err)
		estimate, err := fit.ELBO(10000, 0)
		require.NoError(t, err)
		elbo = append(elbo, estimate.Value)
	}
	assert.Less(t, elbo[1], elbo[0]-10)
}
