package mixture

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/vi/family"
)

// A set has all parts whose intervals of all latents hold a point; it has no others, but where there are more cuts or latents
// than there is room for.
func TestBoxes(t *testing.T) {
	for _, c := range []struct{ parts, latents int }{{1, 1}, {64, 2}, {65, 3}, {200, mostBoxLatents + 5}, {6000, 1}} {
		rng := rand.New(rand.NewPCG(*seed, uint64(c.parts)))
		end := func() float64 {
			if rng.IntN(4) == 0 {
				return math.Inf(1)
			}
			return rng.NormFloat64()
		}
		b, all := boxes{of: make([]family.Q, c.parts)}, make([][]boxSide, c.latents)
		b.once.Do(func() {}) // the list is the test's
		for i := range all {
			for k := range c.parts {
				if rng.IntN(3) > 0 {
					all[i] = append(all[i], boxSide{i, k, -end(), end()})
				}
			}
			if i < mostBoxLatents {
				b.list = append(b.list, newBoxLatent(all[i], c.parts))
			}
		}
		extra := 0
		for range 50 {
			z := make([]float64, c.latents)
			for i := range z {
				z[i] = rng.NormFloat64()
			}
			inside := make([]bool, c.parts)
			for k := range inside {
				inside[k] = true
			}
			for i, list := range all {
				for _, s := range list {
					inside[s.part] = inside[s.part] && s.lo <= z[i] && z[i] < s.hi
				}
			}
			var got []int
			var at place
			at.put(&b, z, 1, 0)
			b.each(&at, func(k int) { got = append(got, k) })
			require.True(t, slices.IsSorted(got))
			for _, k := range got {
				if !inside[k] {
					extra++
				}
				inside[k] = false
			}
			require.NotContains(t, inside, true, "a part that holds the point is not there")
		}
		if c.latents <= mostBoxLatents && c.parts < 1000 {
			require.Zero(t, extra)
		}
	}
}
