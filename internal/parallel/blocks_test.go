package parallel

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Blocks of samples have streams of their own: no draw of one is in another.
func TestStreamsDiffer(t *testing.T) {
	seen := map[float64]bool{}
	for seed := range uint64(3) {
		for b := range 40 {
			pcg := Stream(seed, b)
			for range 20 {
				x := float64(pcg.Uint64())
				require.False(t, seen[x])
				seen[x] = true
			}
		}
	}
}

// All samples are in one block each, and a stream that is put back goes the same
// way.
func TestBlocks(t *testing.T) {
	for _, dim := range []int{1, 37, 10_000, 10_000_000} {
		for _, n := range []int{1, 2, 16, 33, 512, 1000, 100_000} {
			cut, sum := Cut(n, dim), 0
			for k := range cut.Len() {
				require.Positive(t, cut.Width(k))
				require.LessOrEqual(t, cut.Width(k), cut.Size)
				sum += cut.Width(k)
			}
			require.Equal(t, n, sum)
		}
	}
	s := Stream(3, 5)
	first := s.Uint64()
	s.Uint64()
	Reseed(s, 3, 5)
	require.Equal(t, first, s.Uint64())
}
