package trials

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi"
)

// An epidemic with a lockdown, of 28 steps, has an answer with its verdict in seconds, and the answer is that of another sampler.
func TestLockdown(t *testing.T) {
	long.Skip(t)
	x := Named("lockdown")
	d, err := x.Density()
	require.NoError(t, err)
	began := cputime.Seconds()
	p, err := vi.Fit(context.Background(), d, vi.Settings{Seed: 1})
	require.NoError(t, err)
	took := cputime.Seconds() - began
	v, err := p.Verdict()
	require.NoError(t, err)
	require.NotEmpty(t, v.Reasons)
	t.Logf("%.1f CPU seconds; %v", took, v)
	require.Less(t, took, 60.0)
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
