package boundary_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/regions"
)

func TestProjection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 6).Draw(t, "dim")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "numbers"), 0))
		h := regions.Hyperplane{Const: rng.NormFloat64()}
		for i := range dim {
			if i == dim-1 && len(h.Index) == 0 || rapid.Bool().Draw(t, "used") {
				h.Index, h.Coef = append(h.Index, i), append(h.Coef, rng.NormFloat64())
			}
		}
		p, err := boundary.NewProjection(h, dim)
		require.NoError(t, err)

		normal, pivot := p.Normal(), p.Pivot()
		require.Len(t, normal, dim)
		require.Equal(t, 1.0, math.Abs(normal[pivot]))
		require.Equal(t, 1.0, floats.Norm(normal, math.Inf(1)))
		for k, i := range h.Index {
			require.LessOrEqual(t, math.Abs(h.Coef[k]), math.Abs(h.Coef[0])*math.Abs(1/normal[h.Index[0]])*(1+1e-12))
			require.Equal(t, h.Coef[k] > 0, normal[i] > 0)
		}

		zeta := make([]float64, dim-1)
		for i := range zeta {
			zeta[i] = rng.NormFloat64()
		}
		before := append([]float64{}, zeta...)
		x := p.Point(nil, zeta)
		require.InDelta(t, 0, h.At(x), 1e-12*(1+floats.Norm(x, 1)))
		require.Equal(t, before, zeta)
		require.Equal(t, zeta, append(append([]float64{}, x[:pivot]...), x[pivot+1:]...))
		for _, room := range []int{0, 3, 10} { // wherever it is written
			require.Equal(t, x, p.Point(make([]float64, room), zeta))
		}
		// ∂g/∂ζ is tangent to the plane: moving ζ keeps to it, which Normal is orthogonal to.
		if dim > 1 {
			zeta[0]++
			y := p.Point(nil, zeta)
			floats.Sub(y, x)
			require.InDelta(t, 0, floats.Dot(y, normal), 1e-9*(1+floats.Norm(y, 1)))
		}
		require.Panics(t, func() { p.Point(nil, make([]float64, dim)) })
	})
}

// With the nodes of a quadrature a projection integrates exactly: here polynomials
// times a normal density, by the trapezoidal rule, which is exact to rounding.
func TestProjectionQuadrature(t *testing.T) {
	const step, reach = 0.125, 9.0
	for _, h := range []regions.Hyperplane{plane(0.4, 1, -2, 0.5), plane(-1, 0, 0.3, 0.3), plane(0.7, -1, 0, 0)} {
		p, err := boundary.NewProjection(h, 3)
		require.NoError(t, err)
		normal, a := p.Normal(), make([]float64, 3)
		for k, i := range h.Index {
			a[i] = h.Coef[k]
		}
		norm := floats.Norm(a, 2)
		distance := h.Const / norm
		var constant [3]float64
		var radial float64
		for u := -reach; u <= reach; u += step {
			for v := -reach; v <= reach; v += step {
				e := p.Point(nil, []float64{u, v})
				w := step * step * distuv.UnitNormal.Prob(u) * distuv.UnitNormal.Prob(v) * distuv.UnitNormal.Prob(e[p.Pivot()])
				for i := range constant {
					constant[i] += w * normal[i]
				}
				radial += w * floats.Dot(e, e) * floats.Dot(e, normal)
			}
		}
		for i := range constant {
			require.InDelta(t, distuv.UnitNormal.Prob(distance)*a[i]/norm, constant[i], 1e-9)
		}
		require.InDelta(t, -distance*(2+distance*distance)*distuv.UnitNormal.Prob(distance), radial, 1e-9)
	}
}

// In one dimension less than two there is a rule of Gauss and Hermite: on a line,
// weights of one coordinate are enough.
func TestProjectionGaussHermite(t *testing.T) {
	p, err := boundary.NewProjection(plane(0.3, 0.5, 1), 2)
	require.NoError(t, err)
	const n = 40
	x, w := make([]float64, n), make([]float64, n)
	quad.Hermite{}.FixedLocations(x, w, math.Inf(-1), math.Inf(1))
	sum := 0.0
	for k := range x {
		e := p.Point(nil, []float64{math.Sqrt2 * x[k]})
		sum += w[k] / math.Sqrt(math.Pi) * distuv.UnitNormal.Prob(e[p.Pivot()]) * p.Normal()[0]
	}
	norm := math.Hypot(0.5, 1)
	require.InDelta(t, distuv.UnitNormal.Prob(0.3/norm)*0.5/norm, sum, 1e-9)
}

func TestProjectionErrors(t *testing.T) {
	_, err := boundary.NewProjection(regions.Hyperplane{Const: 1}, 3)
	require.ErrorIs(t, err, regions.ErrNoNormal)
	_, err = boundary.NewProjection(plane(math.Inf(1), 1), 3)
	require.ErrorIs(t, err, regions.ErrNotFinite)
	_, err = boundary.NewProjection(regions.Hyperplane{Index: []int{2, 1}, Coef: []float64{1, 1}}, 3)
	require.ErrorIs(t, err, regions.ErrMalformed)
	_, err = boundary.NewProjection(plane(0, 0, 0, 0, 1), 3)
	require.Error(t, err)
	_, err = boundary.NewProjection(plane(0, 1), 0)
	require.Error(t, err)
}

// The projection keeps no reference to the plane that it was made from.
func TestProjectionIsImmutable(t *testing.T) {
	h := plane(0.4, 1, -2)
	p, err := boundary.NewProjection(h, 2)
	require.NoError(t, err)
	want := p.Point(nil, []float64{1})
	h.Coef[0], h.Coef[1] = 5, 7
	require.Equal(t, want, p.Point(nil, []float64{1}))
	require.Equal(t, []float64{0.5, -1}, p.Normal())
}
