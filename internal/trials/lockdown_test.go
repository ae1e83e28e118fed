//go:build long

package trials

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/vi"
)

// An epidemic with a lockdown, of 28 steps, has an answer with its verdict, and the answer is that of another sampler. BenchmarkTrials of vi says in how
// many seconds.
func TestLockdown(t *testing.T) {
	x := Named("lockdown")
	d, err := x.Density()
	require.NoError(t, err)
	p, err := vi.Fit(context.Background(), d, vi.Settings{Seed: 1})
	require.NoError(t, err)
	v, err := p.Verdict()
	require.NoError(t, err)
	require.NotEmpty(t, v.Reasons)
	t.Log(v)
	refs, err := x.References(d)
	require.NoError(t, err)
	var off Off
	for _, r := range refs {
		mean, err := p.Mean(r.Latent)
		require.NoError(t, err)
		sd, err := p.SD(r.Latent)
		require.NoError(t, err)
		off.Add(r, mean.Value, sd.Value)
	}
	t.Log(off)
	require.Less(t, off.Mean, 0.05)
	require.Less(t, off.SD, 0.05)
}
