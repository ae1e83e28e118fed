package vi

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/models"
)

// Cells that have next to nothing of the mass, but most of the variance of a latent, are found, also where those between
// them and the others have nothing of either: that the room stayed off at its sixth step has probability 1e-4, and
// asks for two temperatures on other sides of 22.
func TestRareStates(t *testing.T) {
	obs := models.TemperatureData()[:10]
	d := mustCompile(t, models.Temperature(obs))
	want := models.TemperatureExact(obs)
	for seed := uint64(1); seed <= 3; seed++ {
		p, err := Fit(context.Background(), d, Settings{Seed: seed})
		require.NoError(t, err)
		moments, err := p.Moments()
		require.NoError(t, err)
		for i, name := range d.Latents() {
			w := want.Latents[i]
			require.InDelta(t, w.Mean, moments[i].Mean.Value, 0.01*w.SD, "seed %d: mean of %s", seed, name)
			require.InEpsilon(t, w.SD, moments[i].SD.Value, 0.015, "seed %d: sd of %s", seed, name)
		}
	}
}
