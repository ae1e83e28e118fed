package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/models/tobit"
	"github.com/facetvi/facet/vi"
)

// The fit against the exact posterior: means within a third of an exact standard
// deviation; standard deviations too small, as those of a normal are that keeps clear
// of cliffs, but more than half of the exact ones; and the same answer about the limit.
func TestPosteriorExact(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	want := tobit.Exact()
	fit, err := fitted(context.Background(), 1)
	require.NoError(t, err)
	for i, name := range fit.Density.Latents()[:5] { // the others are what is desired
		mean, err := fit.Mean(name)
		require.NoError(t, err)
		sd, err := fit.SD(name)
		require.NoError(t, err)
		assert.InDelta(t, want.Latents[i].Mean, mean, want.Latents[i].SD/3, name)
		assert.Less(t, sd, want.Latents[i].SD, name)
		assert.Greater(t, sd, 0.58*want.Latents[i].SD, name)
	}
	const smallest = 1 // the household with the smallest purchase
	require.Equal(t, smallestPurchase(), tobit.Households[smallest].Spent)
	below, err := fit.ProbNamed("enough", smallest)
	require.NoError(t, err)
	assert.InDelta(t, want.Guards[smallest], below, 0.05)
	elbo, err := fit.ELBO(4000, 0)
	require.NoError(t, err)
	assert.Less(t, elbo.Mean, want.LogEvidence-5*elbo.SE)
	assert.Greater(t, elbo.Mean, want.LogEvidence-4)
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
		fit, err := vi.Fit(context.Background(), density, vi.Settings{Estimator: e, Steps: 3000, Start: start, Seed: 1})
		require.NoError(t, err)
		estimate, err := fit.ELBO(10000, 0)
		require.NoError(t, err)
		elbo = append(elbo, estimate.Mean)
	}
	assert.Less(t, elbo[1], elbo[0]-10)
}
