package regions_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/regions"
)

func TestMain(m *testing.M) { long.Main(m) }

func TestAddTable(t *testing.T) {
	a := regions.NewArrangement(3)
	for _, c := range []struct {
		h    regions.Hyperplane
		want regions.Side
	}{
		{axis(0), regions.Side{Plane: 0, Positive: true}},
		{axis(-1e-12), regions.Side{Plane: 1, Positive: true}},
		{axis(-2e-12), regions.Side{Plane: 2, Positive: true}},
		{axis(5e-324), regions.Side{Plane: 3, Positive: true}},
		{axis(1e-12), regions.Side{Plane: 4, Positive: true}},
		{times(axis(-1e-12), constant(-3)), regions.Side{Plane: 1, Positive: false}},
		{times(axis(0), constant(-1e-300)), regions.Side{Plane: 0, Positive: false}},
		{regions.Hyperplane{Index: []int{1}, Coef: []float64{1}}, regions.Side{Plane: 5, Positive: true}},
		{regions.Hyperplane{Index: []int{0, 2}, Coef: []float64{1, 1e-15}}, regions.Side{Plane: 6, Positive: true}},
		{regions.Hyperplane{Index: []int{0, 2}, Coef: []float64{1, -1e-15}}, regions.Side{Plane: 7, Positive: true}},
		{regions.Hyperplane{Index: []int{0, 2}, Coef: []float64{-3, 3e-15}}, regions.Side{Plane: 7, Positive: false}},
	} {
		require.Equal(t, c.want, add(t, a, c.h), c.h)
	}
	require.Equal(t, 8, a.Len())
	require.Equal(t, 3, a.Dim())
}

func TestAddErrors(t *testing.T) {
	a := regions.NewArrangement(2)
	for _, c := range []struct {
		h    regions.Hyperplane
		want error
	}{
		{regions.Hyperplane{Const: 1}, regions.ErrNoNormal},
		{regions.Hyperplane{Index: []int{2}, Coef: []float64{1}}, regions.ErrMalformed},
		{axis(math.NaN()), regions.ErrNotFinite},
		{regions.Hyperplane{Index: []int{0}, Coef: []float64{1e-300}, Const: 1e300}, regions.ErrRange},
	} {
		_, err := a.Add(c.h)
		require.ErrorIs(t, err, c.want)
	}
	require.Zero(t, a.Len())
	require.Panics(t, func() { regions.NewArrangement(-1) })
}

func TestMultiplesMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, factor := hyperplane().Draw(t, "h"), nonzero().Draw(t, "factor")
		a := regions.NewArrangement(dim)
		first, second := add(t, a, h), add(t, a, times(h, constant(factor)))
		require.Equal(t, 1, a.Len())
		require.Equal(t, factor > 0, first == second)
		require.Equal(t, h.Coef[0] > 0, first.Positive)
	})
}

// rounded returns h with each number off by up to the relative error, and the bounds that say so.
func rounded(t *rapid.T, h regions.Hyperplane, relative float64) (regions.Hyperplane, regions.Rounding) {
	g := times(h, func(int) float64 { return 1 + relative*rapid.Float64Range(-1, 1).Draw(t, "error") })
	bound := relative / (1 - relative) * (1 + 0x1p-30)
	if relative > 0 {
		bound += 5 * 0x1p-53 // 1 + relative*error and its product are rounded too, and so are two divisions by the scale
	}
	bounds := times(g, constant(bound))
	r := regions.Rounding{Const: math.Abs(bounds.Const)}
	for _, c := range bounds.Coef {
		r.Coef = append(r.Coef, math.Abs(c))
	}
	return g, r
}

// Forms of one plane merge, whatever their factors are and however much arithmetic has rounded them, if it says so.
func TestRoundedPlanesMerge(t *testing.T) {
	errors := rapid.SampledFrom([]float64{0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.2})
	rapid.Check(t, func(t *rapid.T) {
		h := hyperplane().Draw(t, "h")
		a := regions.NewArrangement(dim)
		for range 3 {
			g, r := rounded(t, times(h, constant(nonzero().Draw(t, "factor"))), errors.Draw(t, "error"))
			side, err := a.AddRounded(g, r)
			require.NoError(t, err)
			require.Equal(t, g.Coef[0] > 0, side.Positive)
		}
		require.Equal(t, 1, a.Len())
	})
}

// Exact forms with a factor of their own are different from 4 roundings on, and forms whose largest coefficient is a power of two from
// the last bit on.
func TestDifferentPlanesDoNotMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := hyperplane().Draw(t, "h")
		if h.Const == 0 {
			h.Const = 1 // a multiple of one coefficient is the same plane
		}
		by := rapid.SampledFrom([]float64{1 + 1e-6, 1 + 1e-13, 1 + 0x1p-50, 1 - 0x1p-50, -1}).Draw(t, "by")
		if rapid.Bool().Draw(t, "power of two") {
			h, _, _ = regions.Canonical(h)
			h = times(h, constant(math.Ldexp(1, rapid.IntRange(-60, 60).Draw(t, "power"))))
			by = 1 + 0x1p-52
		}
		moved := rapid.IntRange(-1, len(h.Coef)-1).Draw(t, "moved")
		if moved >= 0 && by == 1+0x1p-52 && math.Abs(h.Coef[moved]) == slices.Max(magnitudes(h)) {
			moved = -1
		}
		g := times(h, func(k int) float64 {
			if k == moved {
				return by
			}
			return 1
		})
		a := regions.NewArrangement(dim)
		require.NotEqual(t, add(t, a, h).Plane, add(t, a, g).Plane)
	})
}

func magnitudes(h regions.Hyperplane) (out []float64) {
	for _, c := range h.Coef {
		out = append(out, math.Abs(c))
	}
	return out
}

// Different numbers are different guards, and equal ones computed in other units are the same, at every magnitude: here the units of the
// axis, and seconds, milliseconds and nanoseconds of today.
func TestNeighbouringNumbers(t *testing.T) {
	sizes := []float64{1.7e9, 1.7e12, 1.7e18}
	for e := -300; e <= 300; e += 25 {
		sizes = append(sizes, math.Pow10(e))
	}
	for _, size := range sizes {
		a := regions.NewArrangement(1)
		c := size
		for l := range 10 {
			want := regions.Side{Plane: l, Positive: true}
			require.Equal(t, want, add(t, a, axis(-c)), size)
			require.Equal(t, want, add(t, a, times(axis(-c), constant(0.25))), size)
			require.Equal(t, regions.Side{Plane: l}, add(t, a, times(axis(-c), constant(-2))), size)
			c = math.Nextafter(c, math.Inf(1))
		}
		require.Equal(t, 10, a.Len(), size)

		a = regions.NewArrangement(1)
		for l := range 10 {
			threshold := axis(-size * (1 + float64(l)*0x1p-49))
			for _, unit := range []float64{1, 1e3, 1e-3, 1e9, 1.0 / 3} {
				if size*unit < 1e300 && size*unit > 1e-300 {
					require.Equal(t, l, add(t, a, times(threshold, constant(unit))).Plane, "%v in units of %v", size, unit)
				}
			}
		}
	}
}

// AddRounded agrees with a search through all planes for the first that is near, on guards so close together that being near is not
// transitive, and with errors of all sizes.
func TestAddFindsTheFirst(t *testing.T) {
	type numbers [2]struct{ at, err float64 }
	near := func(x, y numbers) bool {
		return math.Abs(x[0].at-y[0].at) <= x[0].err+y[0].err && math.Abs(x[1].at-y[1].at) <= x[1].err+y[1].err
	}
	rapid.Check(t, func(t *rapid.T) {
		a := regions.NewArrangement(2)
		centre := rapid.SampledFrom([]float64{1, 0.7, 1.9999999999999, 1e-20}).Draw(t, "centre")
		step := rapid.SampledFrom([]float64{0x1p-52, 1e-15, 1e-12, 1e-9, 1e-3}).Draw(t, "step")
		var planes []numbers
		for range 40 {
			var x numbers
			for k := range x {
				x[k].at = centre * (1 + float64(rapid.IntRange(-8, 8).Draw(t, "number"))*step)
				x[k].err = centre * float64(rapid.IntRange(0, 3).Draw(t, "error")) * step * rapid.SampledFrom([]float64{1, 30}).Draw(t, "times")
			}
			want := slices.IndexFunc(planes, func(y numbers) bool { return near(x, y) })
			if want < 0 {
				want = len(planes)
				planes = append(planes, x)
			}
			h := regions.Hyperplane{Index: []int{0, 1}, Coef: []float64{4, x[0].at}, Const: x[1].at}
			side, err := a.AddRounded(h, regions.Rounding{Coef: []float64{0, x[0].err}, Const: x[1].err})
			require.NoError(t, err)
			require.Equal(t, want, side.Plane)
		}
	})
}

func TestAddRoundedPanics(t *testing.T) {
	a := regions.NewArrangement(1)
	require.Panics(t, func() { _, _ = a.AddRounded(axis(0), regions.Rounding{Coef: []float64{1, 2}}) })
}

func TestPlanesAreCanonicalAndInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := arrange(t, hyperplane())
		next := 0
		for l, h := range a.Planes() {
			require.Equal(t, next, l)
			require.Equal(t, h, a.Plane(l))
			c, _, err := regions.Canonical(h)
			require.NoError(t, err)
			require.Equal(t, c, h)
			next++
		}
		require.Equal(t, a.Len(), next)
		for range a.Planes() {
			break // an iterator must heed this
		}
	})
}

// A guard holds at a point exactly where its side holds in the point's region, off the zero set.
func TestSidesHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := regions.NewArrangement(dim)
		guards := rapid.SliceOfN(integral(), 1, 20).Draw(t, "guards")
		var sides []regions.Side
		for _, g := range guards {
			sides = append(sides, add(t, a, g))
		}
		z := whole(t, dim, "z")
		s := a.Signs(z)
		for k, g := range guards {
			if phi := g.At(z); phi != 0 {
				require.Equal(t, phi > 0, sides[k].Holds(s))
			} else {
				require.False(t, s.Positive(sides[k].Plane))
			}
		}
	})
}

func TestSignsOfNoPlanes(t *testing.T) {
	require.True(t, regions.NewArrangement(2).Signs([]float64{1, 2}) == regions.Signs{})
	require.Panics(t, func() { regions.NewArrangement(2).Signs([]float64{1}) })
}

// First keeps the first planes with their numbers, and finds them again; the
// arrangement that it came from goes on by itself.
func TestFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := regions.NewArrangement(5)
		for range rapid.IntRange(0, 20).Draw(t, "planes") {
			k := rapid.IntRange(0, 3).Draw(t, "coordinate")
			h := regions.Hyperplane{Index: []int{k, 4}, Coef: []float64{rapid.Float64Range(1, 2).Draw(t, "a"), -1.5}, Const: 0.3}
			_, err := a.AddRounded(h, regions.Rounding{Coef: []float64{1e-17, 0}})
			require.NoError(t, err)
		}
		n := rapid.IntRange(0, a.Len()).Draw(t, "first")
		b := a.First(n, 7)
		b.Reserve(rapid.IntRange(0, 30).Draw(t, "room"))
		a.Reserve(n)
		require.Equal(t, n, b.Len())
		require.Equal(t, 7, b.Dim())
		for l, h := range b.Planes() {
			require.Equal(t, a.Plane(l), h)
			require.Equal(t, regions.Side{Plane: l, Positive: true}, add(t, b, h))
		}
		require.Equal(t, regions.Side{Plane: n, Positive: true}, add(t, b, regions.Hyperplane{Index: []int{6}, Coef: []float64{1}}))
		require.Equal(t, b.Signs(make([]float64, 7)).Positive(n), false)
		require.Equal(t, a.Len(), a.First(a.Len(), 5).Len())
	})
	require.Panics(t, func() {
		a := regions.NewArrangement(2)
		add(t, a, regions.Hyperplane{Index: []int{1}, Coef: []float64{1}})
		a.First(1, 1)
	})
}
