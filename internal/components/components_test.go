package components

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Sets are in one group if a chain of sets, each sharing a number with the next, leads
// from one to the other.
func TestOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sets := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 7), 0, 3), 0, 6).Draw(t, "sets")
		group := make([]int, len(sets)) // the first set that is linked
		for k := range group {
			group[k] = k
		}
		for range sets {
			for j := range sets {
				for k := range sets {
					if slices.ContainsFunc(sets[j], func(x int) bool { return slices.Contains(sets[k], x) }) {
						group[k] = min(group[j], group[k])
					}
				}
			}
		}
		var want [][]int
		for first := range sets {
			var members []int
			for k := range sets {
				if group[k] == first {
					members = append(members, k)
				}
			}
			if members != nil {
				want = append(want, members)
			}
		}
		require.Equal(t, want, Of(sets))
	})
	require.Equal(t, [][]int{{0}, {1}}, Of([][]int{nil, {}}))
}
