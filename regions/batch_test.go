package regions_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/regions"
)

// requireBatch compares SignBatch with Signs, point by point, without tolerance.
func requireBatch(t require.TestingT, a *regions.Arrangement, points [][]float64) {
	n := len(points)
	z, dst := make([]float64, a.Dim()*n), make([]float64, a.Len()*n)
	for s, point := range points {
		for i, x := range point {
			z[i*n+s] = x
		}
	}
	for k := range dst {
		dst[k] = math.NaN()
	}
	a.SignBatch(dst, z, n)
	for s, point := range points {
		for l, want := range a.Signs(point).Floats(nil) {
			require.Equal(t, want, dst[l*n+s], "plane %d (%v) at %v", l, a.Plane(l), point)
		}
	}
}

// Points are random, and on the zero sets as nearly as rounding can put them, where the last bit decides the sign.
func TestSignBatchIsSigns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := arrange(t, hyperplane())
		var points [][]float64
		for range rapid.IntRange(0, 4).Draw(t, "random points") {
			points = append(points, rapid.SliceOfN(rapid.Float64(), dim, dim).Draw(t, "z"))
		}
		for _, h := range a.Planes() {
			z := rapid.SliceOfN(nonzero(), dim, dim).Draw(t, "z")
			z[h.Index[0]] -= h.At(z) / h.Coef[0]
			points = append(points, z)
		}
		requireBatch(t, a, points)
	})
}

func TestSignBatchAtSpecialValues(t *testing.T) {
	a := regions.NewArrangement(2)
	add(t, a, axis(-1))
	add(t, a, axis(0))
	add(t, a, regions.Hyperplane{Index: []int{0, 1}, Coef: []float64{1, 1}})
	values := []float64{0, math.Copysign(0, -1), 1, math.Nextafter(1, 2), 5e-324, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	var points [][]float64
	for _, x := range values {
		for _, y := range values {
			points = append(points, []float64{x, y})
		}
	}
	requireBatch(t, a, points)
	require.Equal(t, "---", a.Signs([]float64{math.NaN(), 0}).String())
	require.Equal(t, "-+-", a.Signs([]float64{1, -1}).String(), "a zero has sign -")
}

func TestSignBatchPanics(t *testing.T) {
	a := regions.NewArrangement(2)
	add(t, a, axis(0))
	for _, c := range []struct{ dst, z, n int }{{3, 5, 3}, {2, 6, 3}, {4, 6, 3}, {0, 0, -1}} {
		require.Panics(t, func() { a.SignBatch(make([]float64, c.dst), make([]float64, c.z), c.n) })
	}
	require.NotPanics(t, func() { a.SignBatch(nil, nil, 0) })
}

func TestSignBatchAllocatesNothing(t *testing.T) {
	a, z, dst := batch(10, 3, 64)
	require.Zero(t, testing.AllocsPerRun(10, func() { a.SignBatch(dst, z, 64) }))
}

// batch returns planes of the given number of coefficients, n normal points, and room for the signs.
func batch(planes, coefs, n int) (a *regions.Arrangement, z, dst []float64) {
	const dim = 50
	rng := rand.New(rand.NewPCG(1, 2))
	a = regions.NewArrangement(dim)
	for a.Len() < planes {
		h := regions.Hyperplane{Const: rng.NormFloat64()}
		for i := range coefs {
			h.Index, h.Coef = append(h.Index, i*dim/coefs), append(h.Coef, rng.NormFloat64())
		}
		if _, err := a.Add(h); err != nil {
			panic(err)
		}
	}
	z = make([]float64, dim*n)
	for k := range z {
		z[k] = rng.NormFloat64()
	}
	return a, z, make([]float64, planes*n)
}

func BenchmarkSignBatch(b *testing.B) {
	for _, c := range []struct {
		name             string
		planes, coefs, n int
	}{
		{"60 planes on 1 latent", 60, 1, 1024},
		{"60 planes on 2 latents", 60, 2, 1024},
		{"60 planes on 50 latents", 60, 50, 1024},
		{"100000 planes on 1 latent", 100_000, 1, 16},
	} {
		b.Run(c.name, func(b *testing.B) {
			a, z, dst := batch(c.planes, c.coefs, c.n)
			b.ReportAllocs()
			for b.Loop() {
				a.SignBatch(dst, z, c.n)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(dst)), "ns/sign")
		})
	}
}
