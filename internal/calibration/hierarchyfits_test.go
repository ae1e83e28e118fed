//go:build long

package calibration

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/vi"
)

// The centre and the spread of 24 groups' thresholds are as uncertain as they are,
// however the program writes the thresholds: as latents, or as centre + spread·η, where
// every guard is curved.
func TestHierarchyOfThresholds(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	for _, centred := range []bool{true, false} {
		c := Hierarchy24(centred)
		t.Run(c.Name, func(t *testing.T) {
			require.Equal(t, !centred, c.Density.Arrangement().Curve(0) != nil)
			f := compareCase(t, c, *fitSeed)
			t.Log(comparisonHeader)
			t.Log(f)
			require.NotEqual(t, vi.TrustNothing, f.verdict)
			require.Empty(t, f.wrong)
			require.LessOrEqual(t, f.sd, 0.1)
			require.LessOrEqual(t, f.guard, rightGuard)
		})
	}
}
