package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/examples/answer"
	"github.com/facetvi/facet/examples/models/lynx"
	"github.com/facetvi/facet/vi"
)

// The fits against the exact posterior: log evidences within 0.03, any statement about the tenths of the threshold within 0.015,
// its mean and sd within 0.01, and coefficients within a twentieth of their sd.
func TestThresholdExact(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	want := lynx.Exact()
	threshold := want.Latents[0]
	assert.InDelta(t, 3.2, threshold.Mean, 0.1, "what Tong and others find")

	fits, err := fitted(context.Background(), 1)
	require.NoError(t, err)
	for i, exact := range []float64{lynx.OneLogEvidence(), want.LogEvidence} {
		e, err := fits[i].LogEvidence()
		require.NoError(t, err)
		assert.InDelta(t, exact, e.Value, 0.03)
		v, err := fits[i].Verdict()
		require.NoError(t, err)
		assert.NotEqual(t, vi.TrustNothing, v.Trust, v)
	}
	d, err := answer.Draws(fits[1], 10000, 0)
	require.NoError(t, err)
	for k := range 20 {
		low := 2 + float64(k)/10
		assert.InDelta(t, want.Below(low+0.1)-want.Below(low), share(d["threshold"], low, low+0.1), 0.015, "from %v", low)
	}
	mean, sd := stat.MeanStdDev(d["threshold"], nil)
	assert.InDelta(t, threshold.Mean, mean, 0.01)
	assert.InDelta(t, threshold.SD, sd, 0.01)
	moments, err := fits[1].Moments()
	require.NoError(t, err)
	for i, name := range fits[1].Density.Latents() {
		exact := want.Latents[i]
		assert.InDelta(t, exact.Mean, stat.Mean(d[name], nil), exact.SD/20, name)
		// Draws of what is above the threshold have tails: one of 10 000 may be 45 standard deviations
		// out, and a tenth of the standard deviation. So of that importance sampling tells.
		assert.InEpsilon(t, exact.SD, moments[i].SD, 0.05, name)
	}
}
