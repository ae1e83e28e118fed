package regions_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/regions"
)

func TestHyperplaneString(t *testing.T) {
	for _, c := range []struct {
		h    regions.Hyperplane
		want string
	}{
		{regions.Hyperplane{Index: []int{3, 5}, Coef: []float64{1, -2}, Const: 0.5}, "z3 - 2·z5 + 0.5"},
		{regions.Hyperplane{Index: []int{0}, Coef: []float64{-1}}, "-z0"},
		{regions.Hyperplane{Index: []int{0, 12}, Coef: []float64{-0.1, 1}, Const: -1e-12}, "-0.1·z0 + z12 - 1e-12"},
		{regions.Hyperplane{Const: -2}, "-2"},
		{regions.Hyperplane{Const: 1}, "1"},
		{regions.Hyperplane{}, "0"},
		{regions.Hyperplane{Index: []int{1, 2}, Coef: []float64{2}}, "2·z1"},
	} {
		require.Equal(t, c.want, c.h.String())
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name  string
		index []int
		coef  []float64
		con   float64
		want  error
	}{
		{"one", []int{0}, []float64{1}, 0, nil},
		{"two", []int{2, 7}, []float64{1e-100, -1e100}, -1, nil},
		{"empty", nil, nil, 1, regions.ErrNoNormal},
		{"lengths", []int{0, 1}, []float64{1}, 0, regions.ErrMalformed},
		{"no coefficients", []int{0}, nil, 0, regions.ErrMalformed},
		{"unsorted", []int{1, 0}, []float64{1, 1}, 0, regions.ErrMalformed},
		{"repeated", []int{1, 1}, []float64{1, 1}, 0, regions.ErrMalformed},
		{"negative", []int{-1}, []float64{1}, 0, regions.ErrMalformed},
		{"zero", []int{0, 1}, []float64{1, 0}, 0, regions.ErrMalformed},
		{"NaN", []int{0}, []float64{math.NaN()}, 0, regions.ErrNotFinite},
		{"infinite", []int{0}, []float64{math.Inf(-1)}, 0, regions.ErrNotFinite},
		{"NaN constant", []int{0}, []float64{1}, math.NaN(), regions.ErrNotFinite},
		{"infinite constant", []int{0}, []float64{1}, math.Inf(1), regions.ErrNotFinite},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := regions.Hyperplane{Index: c.index, Coef: c.coef, Const: c.con}
			require.ErrorIs(t, h.Validate(), c.want)
			_, _, err := regions.Canonical(h)
			require.ErrorIs(t, err, c.want)
		})
	}
}

func TestValidateSaysWhere(t *testing.T) {
	h := regions.Hyperplane{Index: []int{7, 5}, Coef: []float64{1, 1}}
	require.EqualError(t, h.Validate(), "regions: hyperplane: index 5 follows 7, but indices must increase: malformed sparse form")
}

func TestCanonicalRange(t *testing.T) {
	for _, h := range []regions.Hyperplane{
		{Index: []int{0}, Coef: []float64{1e-200}, Const: 1e200},
		{Index: []int{0}, Coef: []float64{1e200}, Const: 1e-200},
		{Index: []int{0, 1}, Coef: []float64{1e200, 1e-200}},
	} {
		_, _, err := regions.Canonical(h)
		require.ErrorIs(t, err, regions.ErrRange, h)
	}
}

func TestCanonicalTable(t *testing.T) {
	c, scale, err := regions.Canonical(regions.Hyperplane{Index: []int{1, 4, 6}, Coef: []float64{-1, 4, 2}, Const: -8})
	require.NoError(t, err)
	require.Equal(t, regions.Hyperplane{Index: []int{1, 4, 6}, Coef: []float64{0.25, -1, -0.5}, Const: 2}, c)
	require.Equal(t, -4., scale)
}

func TestCanonicalHasNoNegativeZero(t *testing.T) {
	c, _, err := regions.Canonical(regions.Hyperplane{Index: []int{0}, Coef: []float64{-3}})
	require.NoError(t, err)
	require.False(t, math.Signbit(c.Const))
}

func TestCanonicalProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := hyperplane().Draw(t, "h")
		c, scale, err := regions.Canonical(h)
		require.NoError(t, err)

		// It is its own canonical form, and that of −2ᵏ·h, without rounding.
		again, one, err := regions.Canonical(c)
		require.NoError(t, err)
		require.Equal(t, c, again)
		require.Equal(t, 1., one)
		power := -math.Ldexp(1, rapid.IntRange(-50, 50).Draw(t, "power"))
		same, other, err := regions.Canonical(times(h, constant(power)))
		require.NoError(t, err)
		require.Equal(t, c, same)
		require.Equal(t, power*scale, other)

		// It shares no memory with h, and scale leads back to within two roundings.
		for k, x := range h.Coef {
			require.InEpsilon(t, x, scale*c.Coef[k], 3e-16)
			h.Coef[k] = math.NaN()
		}
		require.Equal(t, again, c)
	})
}

func TestAt(t *testing.T) {
	h := regions.Hyperplane{Index: []int{0, 2}, Coef: []float64{2, -1}, Const: 0.5}
	require.Equal(t, -4.5, h.At([]float64{1, 100, 7}))
	require.Panics(t, func() { h.At([]float64{1, 100}) })
}
