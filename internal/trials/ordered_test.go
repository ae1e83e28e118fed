//go:build long

package trials

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi"
)

// Vectors in order have modes of little weight that rule a standard deviation: a wide second component of galaxies, a component or an interval between breaks
// that has no data, whose place or level is then that of the prior. What is said to be known is right, and so are means.
func TestOrdered(t *testing.T) {
	for _, c := range []struct {
		name   string
		method vi.Method
	}{
		{"galaxies", nil},
		{"galaxies", vi.Sampler{}},
		{"galaxies of six", vi.Sampler{}},
		{"breaks", nil}, // the sampler is first, and its draws are pooled with others
	} {
		t.Run(fmt.Sprintf("%s %T", c.name, c.method), func(t *testing.T) {
			x := Named(c.name)
			d, err := x.Density()
			require.NoError(t, err)
			refs, err := x.References(d)
			require.NoError(t, err)
			for seed := range uint64(long.Few(1, 3)) {
				p, err := vi.Fit(context.Background(), d, vi.Settings{Seed: seed + 1, Method: c.method})
				require.NoError(t, err)
				v, err := p.Verdict()
				require.NoError(t, err)
				require.Equal(t, vi.TrustFit, v.Trust, v)
				require.True(t, c.name != "breaks" || strings.Contains(v.String(), "weighed together"), v)
				for _, r := range refs {
					if r.Log {
						continue
					}
					mean, err := p.Mean(r.Latent)
					require.NoError(t, err)
					sd, err := p.SD(r.Latent)
					require.NoError(t, err)
					require.InDelta(t, r.Mean, mean.Value, 0.05*r.SD, r.Latent)
					if !math.IsInf(mean.SE, 1) {
						require.InDelta(t, r.Mean, mean.Value, 5*math.Hypot(mean.SE, r.MeanSE)+0.02*r.SD, r.Latent)
					}
					if !math.IsInf(sd.SE, 1) {
						require.InDelta(t, r.SD, sd.Value, 5*math.Hypot(sd.SE, r.SDSE), r.Latent)
					}
				}
			}
		})
	}
}
