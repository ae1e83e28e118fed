package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/models/tobit"
	"github.com/facetvi/facet/vi"
)

// The default fit against the exact posterior: what the verdict says to trust is right.
func TestPosteriorExact(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	want := tobit.Exact()
	near := 0
	for seed := range uint64(5) {
		fit, err := fitted(context.Background(), seed+1)
		require.NoError(t, err)
		v, err := fit.Verdict()
		require.NoError(t, err)
		require.Equal(t, vi.TrustReweighted, v.Trust, v)
		w, err := fit.Importance(v.Draws, 1)
		require.NoError(t, err)
		for i, l := range w.Latents[:5] { // the others are what is desired
			assert.InDelta(t, want.Latents[i].Mean, l.Mean.Value, 0.05*want.Latents[i].SD, l.Name)
			assert.InEpsilon(t, want.Latents[i].SD, l.SD, 0.1, l.Name)
		}
		const smallest = 1 // the household with the smallest purchase
		require.Equal(t, smallestPurchase(), tobit.Households[smallest].Spent)
		limit, ok := fit.Density.Latent("limit")
		require.True(t, ok)
		below := w.Expect(func(x []float64) float64 {
			if x[limit] < tobit.Households[smallest].Spent {
				return 1
			}
			return 0
		})
		assert.InDelta(t, want.Guards[smallest], below.Value, 0.02)
		evidence, err := fit.LogEvidence()
		require.NoError(t, err)
		assert.InDelta(t, want.LogEvidence, evidence.Value, 0.05)
		elbo, err := fit.ELBO(4000, 0)
		require.NoError(t, err)
		assert.Less(t, elbo.Value, want.LogEvidence+4*elbo.SE)
		// The mixture is fitted to the posterior by draws of its own: most seeds find a near one.
		t.Logf("seed %d: k-hat %.2f, log evidence %v, ELBO %v", seed+1, w.K, evidence, elbo)
		if w.K < 0.5 && evidence.SE < 0.01 && elbo.Value > want.LogEvidence-1 {
			near++
		}
	}
	assert.GreaterOrEqual(t, near, 3)
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
