package regions_test

import (
	"math"
	"testing"

	"github.com/facetvi/facet/regions"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// drawScale draws a matrix of whole numbers: diagonal, triangular with a positive diagonal, or any with dim rows.
func drawScale(t *rapid.T) mat.Matrix {
	switch rapid.IntRange(0, 2).Draw(t, "kind") {
	case 0:
		return mat.NewDiagDense(dim, whole(t, dim, "diagonal"))
	case 1:
		l := mat.NewTriDense(dim, mat.Lower, whole(t, dim*dim, "triangle"))
		for i := range dim {
			l.SetTri(i, i, float64(rapid.IntRange(1, 3).Draw(t, "diagonal")))
		}
		return l
	}
	cols := rapid.IntRange(1, 2*dim).Draw(t, "columns")
	return mat.NewDense(dim, cols, whole(t, dim*cols, "scale"))
}

// In whole numbers nothing is rounded, so the value of every plane at ε is its value at z, and so is the region.
func TestPushForwardIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, mu, scale := arrange(t, integral()), whole(t, dim, "mu"), drawScale(t)
		b, err := a.PushForward(mu, scale)
		if err != nil {
			requireSingular(t, a, scale, err)
			return
		}
		_, cols := scale.Dims()
		require.Equal(t, a.Len(), b.Len())
		require.Equal(t, cols, b.Dim())
		eps := whole(t, cols, "eps")
		z := location(mu, scale, eps)
		for l, h := range b.Planes() {
			require.NoError(t, h.Validate())
			require.Equal(t, a.Plane(l).At(z), h.At(eps))
		}
		require.True(t, a.Signs(z) == b.Signs(eps))
	})
}

// location returns μ + Lε.
func location(mu []float64, scale mat.Matrix, eps []float64) []float64 {
	z := mat.NewVecDense(len(mu), nil)
	z.MulVec(scale, mat.NewVecDense(len(eps), eps))
	z.AddVec(z, mat.NewVecDense(len(mu), mu))
	return z.RawVector().Data
}

// requireSingular checks that the plane of the error is one that the scale maps to a constant.
func requireSingular(t *rapid.T, a *regions.Arrangement, scale mat.Matrix, err error) {
	var fault *regions.PlaneError
	require.ErrorAs(t, err, &fault)
	require.ErrorIs(t, err, regions.ErrNoNormal)
	require.Equal(t, a.Plane(fault.Plane), fault.Form)
	normal := mat.NewVecDense(dim, nil)
	for k, i := range fault.Form.Index {
		normal.SetVec(i, fault.Form.Coef[k])
	}
	var image mat.VecDense
	image.MulVec(scale.T(), normal)
	require.Zero(t, mat.Norm(&image, 1))
}

// With rounding, a sign may change only where Φ is as small as the rounding.
func TestPushForwardSignsAgreeOffThePlanes(t *testing.T) {
	number := rapid.Float64Range(-3, 3)
	rapid.Check(t, func(t *rapid.T) {
		a := arrange(t, hyperplane())
		draw := func(n int, label string) []float64 { return rapid.SliceOfN(number, n, n).Draw(t, label) }
		mu, eps := draw(dim, "mu"), draw(dim, "eps")
		scale := mat.NewDense(dim, dim, draw(dim*dim, "scale"))
		for i := range dim {
			scale.Set(i, i, 20) // dominant, hence no normal vanishes
		}
		b, err := a.PushForward(mu, scale)
		require.NoError(t, err)
		z := location(mu, scale, eps)
		at, pushed := a.Signs(z), b.Signs(eps)
		for l, h := range a.Planes() {
			size := math.Abs(h.Const) + 200*float64(len(h.Coef))
			if math.Abs(h.At(z)) > 1e-13*size {
				require.Equal(t, at.Positive(l), pushed.Positive(l))
			}
		}
	})
}

func TestPushForwardByIdentityChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := arrange(t, hyperplane())
		ones := []float64{1, 1, 1, 1, 1, 1}
		for _, identity := range []mat.Matrix{mat.NewDiagDense(dim, ones), mat.DenseCopyOf(mat.NewDiagDense(dim, ones))} {
			b, err := a.PushForward(make([]float64, dim), identity)
			require.NoError(t, err)
			for l, h := range a.Planes() {
				require.Equal(t, h, b.Plane(l))
			}
			for i := range dim {
				require.Equal(t, a.Touching(i), b.Touching(i))
			}
		}
	})
}

// A negative scale turns the normal, and the plane keeps its number and its orientation.
func TestPushForwardKeepsOrientation(t *testing.T) {
	a := regions.NewArrangement(2)
	add(t, a, axis(-1))
	add(t, a, regions.Hyperplane{Index: []int{0, 1}, Coef: []float64{1, 0.5}})
	b, err := a.PushForward([]float64{3, 4}, mat.NewDiagDense(2, []float64{-2, 0}))
	require.NoError(t, err)
	require.Equal(t, regions.Hyperplane{Index: []int{0}, Coef: []float64{-2}, Const: 2}, b.Plane(0))
	require.Equal(t, regions.Hyperplane{Index: []int{0}, Coef: []float64{-2}, Const: 5}, b.Plane(1))
	require.Panics(t, func() { _, _ = b.Add(axis(0)) })
}

func TestPushForwardErrors(t *testing.T) {
	a := regions.NewArrangement(2)
	add(t, a, axis(-1))
	add(t, a, regions.Hyperplane{Index: []int{1}, Coef: []float64{1}, Const: 2})
	diagonal := func(x, y float64) mat.Matrix { return mat.NewDiagDense(2, []float64{x, y}) }

	_, err := a.PushForward([]float64{0, 0}, diagonal(1, 0))
	require.EqualError(t, err, "regions: image of plane 1 (z1 + 2): no normal: a hyperplane needs a nonzero coefficient")
	_, err = a.PushForward([]float64{0, 0}, diagonal(math.NaN(), 1))
	require.ErrorIs(t, err, regions.ErrNotFinite)
	_, err = a.PushForward([]float64{0, math.Inf(1)}, diagonal(1, 1))
	require.ErrorIs(t, err, regions.ErrNotFinite)

	require.Panics(t, func() { _, _ = a.PushForward([]float64{0}, diagonal(1, 1)) })
	require.Panics(t, func() { _, _ = a.PushForward([]float64{0, 0}, mat.NewDense(3, 2, nil)) })
}
