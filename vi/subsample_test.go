package vi

import (
	"bytes"
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
)

// A fit by parts of the data is that by all of the data, for the same family: it has the same mean and standard
// deviation of each latent, the threshold's too.
func TestSubsampledFit(t *testing.T) {
	long.Skip(t) // package gradient looks at the estimator
	d, err := thresholdRegression(300).Compile()
	require.NoError(t, err)
	for _, f := range []family.Family{family.FullRank{}, family.MeanField{}} {
		fit := func(parts int) *Posterior {
			s := Settings{Seed: *seed, Method: Climb{Family: f, Subsample: parts, Steps: 6000, Average: 0.5, Schedule: Schedule{Shape: Cosine}}}
			s.climb().Start, err = StartAt(d, thresholdTruth)
			require.NoError(t, err)
			p, err := Fit(context.Background(), d, s)
			require.NoError(t, err)
			return p
		}
		all, parts := fit(0), fit(10)
		for i, name := range d.Latents() {
			assert.InDelta(t, all.Q.Mean(i), parts.Q.Mean(i), 0.3*all.Q.SD(i), "%s: %s", f.Name(), name)
			assert.InDelta(t, 1, parts.Q.SD(i)/all.Q.SD(i), 0.2, "%s: %s", f.Name(), name)
		}
	}
}

// Fit looks for a start by a part of the data, and goes on from where a fit was saved as if it had not stopped.
func TestSubsampledFitResumes(t *testing.T) {
	d, err := thresholdRegression(200).Compile()
	require.NoError(t, err)
	run := func(steps int) *Posterior {
		p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Subsample: 8, Steps: steps, StartDraws: 50, Average: 0.001}})
		require.NoError(t, err)
		assert.Equal(t, "mean field", p.Q.Family().Name())
		assert.Less(t, math.Abs(p.Q.Mean(1)-thresholdTruth["a"]), 1.0)
		return p
	}
	whole, half := run(150), run(70)
	var saved bytes.Buffer
	require.NoError(t, half.Save(&saved))
	half, err = Load(&saved, d)
	require.NoError(t, err)
	assert.Equal(t, 8, half.Settings.climb().Subsample)
	half.Settings.climb().Steps = 150
	resumed, err := half.Resume(context.Background())
	require.NoError(t, err)
	assert.Equal(t, whole.Q.Theta(), resumed.Q.Theta())
}

func TestSubsampleErrors(t *testing.T) {
	d, err := thresholdRegression(20).Compile()
	require.NoError(t, err)
	for text, s := range map[string]Settings{
		"Climb.Subsample = -1 must be positive": {Method: Climb{Subsample: -1}},
		"1000 parts of 20 terms":                {Method: Climb{Subsample: 1000}},
	} {
		_, err := Fit(context.Background(), d, s)
		assert.ErrorContains(t, err, text)
	}
}
