//go:build long

package trials

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/vi"
)

// The mode of galaxies with a wide second component has a weight of about .012, and most of that component's standard deviation. What the sampler says that it
// knows is right. Without the scout's draws among those that proposals are near, it knew that standard deviation to be a quarter.
func TestGalaxies(t *testing.T) {
	x := Named("galaxies")
	d, err := x.Density()
	require.NoError(t, err)
	p, err := vi.Fit(context.Background(), d, vi.Settings{Seed: 1, Method: vi.Sampler{}})
	require.NoError(t, err)
	refs, err := x.References(d)
	require.NoError(t, err)
	for _, r := range refs {
		if r.Log {
			continue
		}
		mean, err := p.Mean(r.Latent)
		require.NoError(t, err)
		sd, err := p.SD(r.Latent)
		require.NoError(t, err)
		if !math.IsInf(mean.SE, 1) {
			require.InDelta(t, r.Mean, mean.Value, 5*math.Hypot(mean.SE, r.MeanSE)+0.02*r.SD, r.Latent)
		}
		if !math.IsInf(sd.SE, 1) && !(r.SDSE > 0.05*r.SD) {
			require.InDelta(t, r.SD, sd.Value, 5*math.Hypot(sd.SE, r.SDSE), r.Latent)
		}
	}
}
