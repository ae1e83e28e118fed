package regions_test

import (
	"math"
	"testing"

	"github.com/facetvi/facet/regions"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

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

// A cell's edge may lie anywhere between two forms that are equal to the tolerance; they merge all the same. The largest coefficient
// moves too and drags the others, so 0.4 of the tolerance is what each number may move.
func TestNearPlanesMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := hyperplane().Draw(t, "h")
		a := regions.NewArrangement(dim)
		first := add(t, a, h)
		jitter := func(int) float64 { return 1 + rapid.Float64Range(-4e-13, 4e-13).Draw(t, "jitter") }
		require.Equal(t, first, add(t, a, times(h, jitter)))
		require.Equal(t, 1, a.Len())
	})
}

// The same at the edges of cells, which are wider than the steps of this run and much narrower than the run.
func TestNoEdgeIsMissed(t *testing.T) {
	const step, near = 1.1e-12, 0.9e-12
	for _, direction := range []float64{1, -1} {
		a := regions.NewArrangement(1)
		for i := range 100_000 {
			x := 1.5 + direction*float64(i)*1.5*step
			first := add(t, a, axis(x))
			if first.Plane != i || add(t, a, axis(x*(1+direction*near))) != first {
				t.Fatalf("plane %d, z0 + %v: an edge is between it and what is near", i, x)
			}
		}
	}
}

func TestPerturbedPlanesDoNotMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := hyperplane().Draw(t, "h")
		if len(h.Coef) == 1 && h.Const == 0 {
			h.Const = 1 // a multiple of one coefficient is the same plane
		}
		moved := rapid.IntRange(0, len(h.Coef)-1).Draw(t, "moved")
		by := rapid.SampledFrom([]float64{1 + 1e-6, 1 - 1e-6, 1 + 1e-11, 1 - 1e-11, -1}).Draw(t, "by")
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

// Add agrees with a search through all planes for the first that is near, on guards so close together that being near is not transitive.
func TestAddFindsTheFirst(t *testing.T) {
	near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-12*max(math.Abs(x), math.Abs(y)) }
	same := func(g, h regions.Hyperplane) bool {
		return near(g.Const, h.Const) && near(g.Coef[0], h.Coef[0]) && near(g.Coef[1], h.Coef[1])
	}
	rapid.Check(t, func(t *rapid.T) {
		a := regions.NewArrangement(2)
		centre := rapid.SampledFrom([]float64{1, 0.7, 1.9999999999999, 1e-20}).Draw(t, "centre")
		number := func(label string) float64 {
			return centre * (1 + float64(rapid.IntRange(-8, 8).Draw(t, label))*3e-13)
		}
		for range 40 {
			h := regions.Hyperplane{Index: []int{0, 1}, Coef: []float64{2, number("coefficient")}, Const: number("constant")}
			c, _, err := regions.Canonical(h)
			require.NoError(t, err)
			want := 0
			for want < a.Len() && !same(c, a.Plane(want)) {
				want++
			}
			require.Equal(t, want, add(t, a, h).Plane)
		}
	})
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
