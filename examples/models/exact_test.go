package models

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/models/exact"
)

// near fails unless two posteriors agree to within tol, standard deviations relative to their size.
func near(t *testing.T, want, got exact.Posterior, tol float64) {
	t.Helper()
	assert.InDelta(t, want.LogEvidence, got.LogEvidence, tol)
	assert.InDeltaSlice(t, want.Guards, got.Guards, tol)
	require.Len(t, got.Latents, len(want.Latents))
	for i, w := range want.Latents {
		assert.InDelta(t, w.Mean, got.Latents[i].Mean, tol*w.SD, "mean of latent %d", i)
		assert.InEpsilon(t, w.SD, got.Latents[i].SD, tol, "sd of latent %d", i)
	}
}

// Exact posteriors have a probability for each named guard and moments for each latent of their programs.
func TestExactOfEverything(t *testing.T) {
	for _, spec := range All() {
		d, p := compile(t, spec), spec.Exact()
		names := d.GuardNames()
		require.Len(t, names, 1, spec.Name)
		assert.Len(t, p.Guards, len(d.Named(names[0])), spec.Name)
		assert.Len(t, p.Latents, d.Dim(), spec.Name)
		for i, m := range p.Latents {
			assert.Greater(t, m.SD, 0.0, "%s: latent %d", spec.Name, i)
		}
		t.Logf("%s: log evidence %.6f, guards %.4f", spec.Name, p.LogEvidence, p.Guards)
	}
}

// A grid of half the width changes nothing.
func TestExactGrids(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	near(t, textMsgExact(0.0025), TextMsgExact(), 1e-8)
	near(t, temperatureExact(TemperatureData(), 0.25), TemperatureExact(TemperatureData()), 1e-8)
}

// Figures from two further derivations of each posterior, to the digits that they were given with.
func TestExactFigures(t *testing.T) {
	room := TemperatureExact(TemperatureData())
	assert.InDelta(t, -33.12443, room.LogEvidence, 1e-5)
	assert.InDeltaSlice(t, []float64{0, 0, .0805, .4244, .9562, .9999, 1, 1, 1, .9902, .4413, .0086, .0002, 0, .0005, .0961, .6045,
		.9875, .9993, 1}, room.Guards, 1e-4)

	flu := InfluenzaExact(InfluenzaData())
	assert.InDelta(t, -7.01267, flu.LogEvidence, 1e-5)
	assert.InDeltaSlice(t, []float64{0, 0, 0, 0.00015, 0.33827, 0.34277, 0.30209, 0.23187, 0.18178, 0.02107, 0.01062, 0.00578},
		flu.Guards, 1e-5)

	text := TextMsgExact()
	assert.InDelta(t, -291.96234, text.LogEvidence, 1e-5)
	for observed, want := range map[int]float64{12: .824, 7: .0626, 13: .0288, 8: .0235, 3: .008, 15: .007} {
		assert.InDelta(t, want, text.Guards[observed-1]-text.Guards[observed], 5e-4, observed)
	}
}

func TestExactPanics(t *testing.T) {
	assert.Panics(t, func() { InfluenzaExact(nil) })
	assert.Panics(t, func() { InfluenzaExact(make([]float64, 21)) })
	assert.Panics(t, func() { TemperatureExact([]float64{20}) })
}
