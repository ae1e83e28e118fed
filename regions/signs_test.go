package regions_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/regions"
)

func TestSignsTable(t *testing.T) {
	s := regions.NewSigns([]bool{true, false, true})
	require.Equal(t, 3, s.Len())
	require.Equal(t, "+-+", s.String())
	require.Equal(t, "++-", s.Flip(1).Flip(2).String())
	require.Equal(t, "--+", s.Force(0, false).String())
	require.Equal(t, "+-+", s.String(), "signs are immutable")
	require.Equal(t, []float64{1, 0, 1}, s.Floats(nil))
	require.Equal(t, []float64{1, 0, 1}, s.Floats([]float64{7, 7, 7}))
}

func TestSignsZeroValue(t *testing.T) {
	var zero regions.Signs
	require.True(t, zero == regions.NewSigns(nil))
	require.Equal(t, "", zero.String())
	require.Empty(t, zero.Floats(nil))
}

func TestSignsPanics(t *testing.T) {
	s := regions.NewSigns(make([]bool, 9)) // the last byte of the bitset has unused bits
	for _, l := range []int{-1, 9, 15} {
		require.Panics(t, func() { s.Positive(l) })
		require.Panics(t, func() { s.Flip(l) })
		require.Panics(t, func() { s.Force(l, false) })
	}
	require.Panics(t, func() { s.Floats(make([]float64, 8)) })
}

func TestSignsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		positive := rapid.SliceOfN(rapid.Bool(), 1, 40).Draw(t, "positive")
		s := regions.NewSigns(positive)
		for l, p := range positive {
			require.Equal(t, p, s.Positive(l))
		}
		require.Len(t, s.String(), len(positive))
		l := rapid.IntRange(0, len(positive)-1).Draw(t, "l")
		flipped := s.Flip(l)
		require.True(t, flipped != s)
		require.True(t, flipped.Flip(l) == s)
		require.True(t, s.Force(l, true) == flipped.Force(l, true))
		require.True(t, s.Force(l, positive[l]) == s)
		positive[l] = !positive[l]
		require.True(t, flipped == regions.NewSigns(positive))
	})
}

// Two ways to one region are one key, and sign vectors that differ in length only are two.
func TestSignsAreMapKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		positive := rapid.SliceOfN(rapid.Bool(), 1, 20).Draw(t, "positive")
		count := map[regions.Signs]int{}
		count[regions.NewSigns(positive)]++
		byForce := regions.NewSigns(make([]bool, len(positive)))
		for l, p := range positive {
			byForce = byForce.Force(l, p)
		}
		count[byForce]++
		require.Equal(t, map[regions.Signs]int{byForce: 2}, count)

		count[regions.NewSigns(append(positive, false))]++
		require.Len(t, count, 2)
	})
}

func TestSignsOfManyGuards(t *testing.T) {
	const n = 100_000
	s := regions.NewSigns(make([]bool, n))
	require.Equal(t, n, s.Len())
	require.True(t, s.Flip(n-1).Positive(n-1))
	require.True(t, s.Flip(n-1).Flip(n-1) == s)
}
