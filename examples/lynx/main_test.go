//go:build long

package main

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/models/lynx"
	"github.com/facetvi/facet/vi"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(&out, 1, filepath.Join(t.TempDir(), "fit.html")))
	for _, text := range []string{"verdict: trust", "threshold        3.23", "0.993", "\n1946 "} {
		assert.Contains(t, out.String(), text)
	}
}

// The fits against the exact posterior: log evidences within 0.03, means within 0.02 sd, sds within 3 %, any statement about the
// tenths of the threshold within 0.01.
func TestExact(t *testing.T) {
	require.Equal(t, lynx.Trapped, trapped)
	want := lynx.Exact()
	assert.InDelta(t, 3.2, want.Latents[0].Mean, 0.1, "what Tong and others find")
	regimes, _, err := fit(1)
	require.NoError(t, err)
	for i, exact := range []float64{lynx.OneLogEvidence(), want.LogEvidence} {
		assert.InDelta(t, exact, regimes.Models[i].LogEvidence.Value, 0.03)
		assert.Equal(t, vi.TrustFit, regimes.Models[i].Trust)
	}
	two := regimes.Models[1].Fit
	for i, l := range two.Summary().Latents {
		exact := want.Latents[i]
		assert.InDelta(t, exact.Mean, l.Mean.Value, 0.02*exact.SD, l.Name)
		assert.InEpsilon(t, exact.SD, l.SD.Value, 0.03, l.Name)
	}
	threshold, _ := two.Density.Latent("threshold")
	for low := 2.7; low < 3.55; low += 0.1 {
		in, err := two.Expect(func(x []float64) float64 {
			if low < x[threshold] && x[threshold] <= low+0.1 {
				return 1
			}
			return 0
		})
		require.NoError(t, err)
		assert.InDelta(t, want.Below(low+0.1)-want.Below(low), in.Value, 0.01, "from %v", low)
	}
}
