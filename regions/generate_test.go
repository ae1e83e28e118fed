package regions_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/regions"
)

const dim = 6

// axis returns z0 + constant.
func axis(constant float64) regions.Hyperplane {
	return regions.Hyperplane{Index: []int{0}, Coef: []float64{1}, Const: constant}
}

// nonzero draws a number of any sign with a magnitude from 1e-30 to 1e30.
func nonzero() *rapid.Generator[float64] {
	return rapid.Custom(func(t *rapid.T) float64 {
		x := rapid.Float64Range(1, 10).Draw(t, "mantissa") * math.Pow10(rapid.IntRange(-30, 29).Draw(t, "exponent"))
		if rapid.Bool().Draw(t, "negative") {
			return -x
		}
		return x
	})
}

// hyperplane draws a hyperplane in ℝ^dim that uses 1 to dim coordinates; its constant is zero half of the time.
func hyperplane() *rapid.Generator[regions.Hyperplane] {
	return rapid.Custom(func(t *rapid.T) (h regions.Hyperplane) {
		used := rapid.IntRange(1, 1<<dim-1).Draw(t, "coordinates")
		for i := range dim {
			if used>>i&1 == 1 {
				h.Index = append(h.Index, i)
				h.Coef = append(h.Coef, nonzero().Draw(t, "coefficient"))
			}
		}
		if rapid.Bool().Draw(t, "affine") {
			h.Const = nonzero().Draw(t, "constant")
		}
		return h
	})
}

// integral draws a hyperplane with coefficients and constant so small and whole that arithmetic on it is exact.
func integral() *rapid.Generator[regions.Hyperplane] {
	return rapid.Custom(func(t *rapid.T) (h regions.Hyperplane) {
		h.Const = float64(rapid.IntRange(-2, 2).Draw(t, "constant"))
		for i := range dim {
			if c := rapid.IntRange(-1, 1).Draw(t, "coefficient"); c != 0 || i == dim-1 && h.Index == nil {
				h.Index = append(h.Index, i)
				h.Coef = append(h.Coef, float64(c|1))
			}
		}
		return h
	})
}

// whole draws n whole numbers from -3 to 3.
func whole(t *rapid.T, n int, label string) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(rapid.IntRange(-3, 3).Draw(t, label))
	}
	return x
}

// times returns h with each number multiplied by the factor that the function gives for it; the constant is number -1.
func times(h regions.Hyperplane, factor func(k int) float64) regions.Hyperplane {
	g := regions.Hyperplane{Index: h.Index, Const: h.Const * factor(-1)}
	for k, c := range h.Coef {
		g.Coef = append(g.Coef, c*factor(k))
	}
	return g
}

func constant(x float64) func(int) float64 { return func(int) float64 { return x } }

// add registers h, which must be free of faults.
func add(t require.TestingT, a *regions.Arrangement, h regions.Hyperplane) regions.Side {
	side, err := a.Add(h)
	require.NoError(t, err)
	return side
}

// arrange registers the planes that g draws.
func arrange(t *rapid.T, g *rapid.Generator[regions.Hyperplane]) *regions.Arrangement {
	a := regions.NewArrangement(dim)
	for range rapid.IntRange(0, 20).Draw(t, "guards") {
		add(t, a, g.Draw(t, "guard"))
	}
	return a
}

// TestIntegral guards the generator: the exact identities rest on it.
func TestIntegral(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := integral().Draw(t, "h")
		require.NoError(t, h.Validate())
		c, scale, err := regions.Canonical(h)
		require.NoError(t, err)
		require.Equal(t, 1., math.Abs(scale))
		require.Equal(t, h.Const, scale*c.Const)
	})
}
