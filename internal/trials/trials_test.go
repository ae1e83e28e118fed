//go:build long

package trials

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each trial compiles, and of each of its latents there is what a fit can be compared with: a mean, and a standard deviation that
// is known, of itself or of its logarithm.
func TestTrials(t *testing.T) {
	for _, x := range slices.Concat(Ordinary, Hard) {
		d, err := x.Density()
		require.NoError(t, err, x.Name)
		refs, err := x.References(d)
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(refs), d.Dim())
		for _, r := range refs {
			require.Positive(t, r.SD, "%s: %s", x.Name, r.Latent)
			require.Less(t, r.MeanSE, 0.02*r.SD, "%s: %s", x.Name, r.Latent)
		}
	}
	_, err := Find("nowhere")
	require.EqualError(t, err, `trials: no trial "nowhere"`)
}

// Off takes the worst of all.
func TestOff(t *testing.T) {
	var o Off
	o.Add(Reference{Latent: "a", Mean: 1, SD: 2}, 1.1, 2)
	o.Add(Reference{Latent: "b", Log: true, Mean: 1, SD: 2}, 1, 1.5)
	o.Add(Reference{Latent: "c", Mean: 1, SD: 2, SDSE: 0.2}, 9, 9) // not known
	require.Equal(t, "the mean of a is off by 0.050 sd, the sd of log b by 25.0 %", o.String())
	require.InDelta(t, 0.05, o.Mean, 1e-12)
	require.InDelta(t, 0.25, o.SD, 1e-12)
}
