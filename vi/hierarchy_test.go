package vi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/calibration"
)

// The centre and the spread of 24 groups' thresholds are as uncertain as they are,
// however the program writes the thresholds: as latents, or as centre + spread·η, where
// every guard is curved.
func TestHierarchyOfThresholds(t *testing.T) {
	for _, centred := range []bool{true, false} {
		c := calibration.Hierarchy24(centred)
		t.Run(c.Name, func(t *testing.T) {
			require.Equal(t, !centred, c.Density.Arrangement().Curve(0) != nil)
			f, p := fitCase(t, c, *seed)
			evidence, err := p.LogEvidence()
			require.NoError(t, err)
			t.Logf("%s %v, sds %.4f and %.4f, exactly %.4f and %.4f; log evidence %v, exactly %.4f; %.1f s", f.verdict, f.wrong,
				p.Summary().Latents[0].SD, p.Summary().Latents[1].SD, c.Exact.SD["centre"], c.Exact.SD["spread"], evidence, c.Exact.LogEvidence, f.seconds)
			require.NotEqual(t, TrustNothing, f.verdict)
			assert.Empty(t, f.wrong)
			for k, name := range []string{"centre", "spread"} {
				require.InEpsilon(t, c.Exact.SD[name], p.Summary().Latents[k].SD, 0.1)
			}
		})
	}
}
