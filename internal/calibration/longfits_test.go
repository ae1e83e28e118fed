package calibration

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi"
)

// A change point with many intervals is fitted right: 500 of them, or 10 000 with -exhaustive.
func TestFitOfLongChangePoint(t *testing.T) {
	long.Skip(t)
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	n := 500
	if long.Exhaustive() {
		n = 10_000
	}
	f := compareCase(t, LongChangePoint(n), *fitSeed)
	t.Logf("%s\n%s", comparisonHeader, f)
	assert.NotEqual(t, vi.TrustNothing, f.verdict)
	assert.Empty(t, f.wrong)
	assert.LessOrEqual(t, f.guard, rightGuard)
}

// BenchmarkLongChangePoint compiles and fits by default a change point with more and more
// intervals, with the CPU time that it takes.
func BenchmarkLongChangePoint(b *testing.B) {
	for _, n := range long.Brief([]int{100, 1000}, []int{100, 1000, 10_000, 1_000_000}) {
		b.Run(fmt.Sprintf("intervals=%d", n), func(b *testing.B) {
			start := cputime.Seconds()
			for b.Loop() {
				_, err := vi.Fit(context.Background(), LongChangePoint(n).Density, vi.Settings{Seed: 1})
				require.NoError(b, err)
			}
			b.ReportMetric((cputime.Seconds()-start)/float64(b.N), "CPU-s/op")
		})
	}
}
