package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/models/lynx"
	"github.com/facetvi/facet/vi"
)

// The fits against the exact posterior: log evidences within 0.03, means within 0.02 sd, sds within 3 %, any statement about the
// tenths of the threshold within 0.01.
func TestThresholdExact(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	want := lynx.Exact()
	assert.InDelta(t, 3.2, want.Latents[0].Mean, 0.1, "what Tong and others find")

	fits, err := fitted(context.Background(), 1)
	require.NoError(t, err)
	for i, exact := range []float64{lynx.OneLogEvidence(), want.LogEvidence} {
		s := fits[i].Summary()
		t.Logf("log evidence %v, exactly %.4f", s.LogEvidence, exact)
		assert.InDelta(t, exact, s.LogEvidence.Value, 0.03)
		assert.Equal(t, vi.TrustFit, s.Verdict.Trust, s.Verdict)
	}
	for i, l := range fits[1].Summary().Latents {
		exact := want.Latents[i]
		t.Logf("%s: mean off by %.4f, sd by %.4f", l.Name, (l.Mean.Value-exact.Mean)/exact.SD, l.SD.Value/exact.SD-1)
		assert.InDelta(t, exact.Mean, l.Mean.Value, 0.02*exact.SD, l.Name)
		assert.InEpsilon(t, exact.SD, l.SD.Value, 0.03, l.Name)
	}
	tenths, err := between(fits[1])
	require.NoError(t, err)
	for k, in := range tenths {
		low := lowest + binWidth*float64(k)
		t.Logf("from %.1f: %v, exactly %.4f", low, in, want.Below(low+binWidth)-want.Below(low))
		assert.InDelta(t, want.Below(low+binWidth)-want.Below(low), in.Value, 0.01, "from %v", low)
	}
}
