package vi

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// Truncated laws whose tails are below any number somewhere, or whose density has a pole at an end, against quadrature.
func TestTruncatedFar(t *testing.T) {
	ys := []float64{2.1, 2.2, 2.35, 2.6, 2.9, 2.05, 2.4}
	type moments struct{ evidence, mean, sd float64 }
	for name, c := range map[string]struct {
		build func(m *graph.Model)
		want  moments // of the first latent
	}{
		"Weibull": {func(m *graph.Model) {
			k, l := m.Sample("k", graph.HalfCauchy(2)), m.Sample("l", graph.HalfCauchy(2))
			for _, y := range ys {
				m.Observe("y", graph.Truncated(graph.Weibull(k, l), -1, 3), y)
			}
		}, moments{-5.0853, 4.722, 1.992}},
		"Gumbel": {func(m *graph.Model) {
			mu, beta := m.Sample("mu", graph.Normal(0, 3)), m.Sample("beta", graph.Exponential(1))
			m.Observe("y", graph.Truncated(graph.Gumbel(mu, beta), 2, 3), 2.4)
		}, moments{-0.21741, -0.483, 2.616}},
		"Beta": {func(m *graph.Model) {
			x := m.Sample("x", graph.Truncated(graph.Beta(2, 0.5), 0.5, 1))
			m.Observe("y", graph.Normal(x, 0.3), 0.6)
		}, moments{-0.14508, 0.81702, 0.14563}},
	} {
		m := graph.NewModel()
		c.build(m)
		d, err := m.Compile()
		require.NoError(t, err)
		for seed := range uint64(3) {
			p, err := Fit(context.Background(), d, Settings{Seed: seed + 1})
			require.NoError(t, err, "%s, seed %d", name, seed+1)
			v, err := p.Verdict()
			require.NoError(t, err)
			require.Equal(t, TrustFit, v.Trust, "%s, seed %d: %v", name, seed+1, v)
			e, err := p.LogEvidence()
			require.NoError(t, err)
			require.InDelta(t, c.want.evidence, e.Value, 0.03, "%s, seed %d", name, seed+1)
			mean, err := p.Mean(d.Latents()[0])
			require.NoError(t, err)
			require.InDelta(t, c.want.mean, mean.Value, 0.05*c.want.sd, "%s, seed %d", name, seed+1)
			sd, err := p.SD(d.Latents()[0])
			require.NoError(t, err)
			if !math.IsInf(sd.SE, 1) {
				require.InEpsilon(t, c.want.sd, sd.Value, 0.05, "%s, seed %d", name, seed+1)
			}
		}
	}
}
