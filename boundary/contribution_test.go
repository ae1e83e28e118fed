package boundary_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
)

// brutePlane is brute for hyperplane l alone.
func brutePlane(t *rapid.T, d *graph.Density, l int, method boundary.Method, eps, mu, s, gMu, gScale []float64) (size float64) {
	h := d.Arrangement().Plane(l)
	a, z := make([]float64, len(h.Index)), make([]float64, len(mu))
	for k, i := range h.Index {
		a[k] = h.Coef[k] * s[i]
	}
	point := slices.Clone(eps)
	w := onto(point, h.Index, a, h.At(mu), method)
	for i := range z {
		z[i] = mu[i] + s[i]*point[i]
	}
	signs := d.Arrangement().Signs(z)
	above, err := d.LogProbAt(z, signs.Force(l, true))
	require.NoError(t, err)
	below, err := d.LogProbAt(z, signs.Force(l, false))
	require.NoError(t, err)
	for k, i := range h.Index {
		gMu[i] += w * (above - below) * h.Coef[k]
		gScale[i] += w * (above - below) * h.Coef[k] * point[i]
	}
	return w * (math.Abs(above) + math.Abs(below))
}

// planeGradient is what hyperplane l brings to the gradient of a batch.
func planeGradient(t *rapid.T, d *graph.Density, l int, method boundary.Method, eps, mu, s []float64) (g []float64, size float64) {
	dim, n := len(mu), len(eps)/len(mu)
	g, size = make([]float64, 2*dim), 1
	one := make([]float64, dim)
	for k := range n {
		for i := range one {
			one[i] = eps[i*n+k]
		}
		size += brutePlane(t, d, l, method, one, mu, s, g[:dim], g[dim:])
	}
	return g, size
}

// What the hyperplanes of random programs bring one by one is what brute force
// says, and together AddGradient, to the last bit.
func TestPlanesAddUp(t *testing.T) {
	several := 0
	rapid.Check(t, func(t *rapid.T) {
		d, rng := program(t)
		dim, arr := d.Dim(), d.Arrangement()
		if arr.Len() > 1 {
			several++
		}
		n := rapid.SampledFrom([]int{1, 2, 5}).Draw(t, "samples")
		settings := boundary.Settings{
			Method: rapid.SampledFrom([]boundary.Method{boundary.Orthogonal, boundary.Elimination}).Draw(t, "method"),
			Guards: rapid.IntRange(0, 2).Draw(t, "guards"),
		}
		jumps, err := boundary.NewJumps(d)
		require.NoError(t, err)
		b, err := jumps.Bind(d, n, settings)
		require.NoError(t, err)
		mu, s, eps := make([]float64, dim), make([]float64, dim), make([]float64, dim*n)
		for i := range mu {
			mu[i], s[i] = 0.5*rng.NormFloat64(), 0.3+rng.Float64()
		}
		x := b.Samples()
		for k := range eps {
			eps[k] = rng.NormFloat64()
			x.Z[k] = mu[k/n] + s[k/n]*eps[k]
		}
		arr.SignBatch(x.Signs, x.Z, n)
		b.Locate(mu, s)
		require.NoError(t, b.Run(eps, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "guards used"), 0))))

		all, together, own := make([]float64, 2*dim), make([]float64, 2*dim), make([]float64, 2*dim)
		b.AddGradient(all[:dim], all[dim:])
		b.AddPlanes(together[:dim], together[dim:], func(int) {})
		require.Equal(t, all, together)
		seen := map[int]bool{}
		b.AddPlanes(own[:dim], own[dim:], func(l int) {
			require.False(t, seen[l])
			seen[l] = true
			for i := range dim {
				if !slices.Contains(arr.Plane(l).Index, i) {
					require.Zero(t, own[i])
					require.Zero(t, own[dim+i])
				}
			}
			if settings.Guards == 0 {
				want, size := planeGradient(t, d, l, settings.Method, eps, mu, s)
				require.InDeltaSlice(t, want, own, 1e-10*size, "plane %d", l)
			}
			clear(own)
		})
		for l := range arr.Len() {
			if !seen[l] { // then it brings nothing
				want, size := planeGradient(t, d, l, settings.Method, eps, mu, s)
				require.InDeltaSlice(t, own, want, 1e-10*size)
			}
		}
	})
	require.Greater(t, several, 10)
}

// Jumps that are the same for all samples are computed once, and must survive
// subsampling, which counts some of them and others not.
func TestSubsamplingConstantJumps(t *testing.T) {
	m := graph.NewModel()
	x, y := m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1))
	m.Factor(graph.If(graph.Greater(x, 0.5), 2, 0))
	m.Factor(graph.If(graph.Greater(y, 0.5), 1.5, 0))
	d, err := m.Compile()
	require.NoError(t, err)
	jumps, err := boundary.NewJumps(d)
	require.NoError(t, err)
	b, err := jumps.Bind(d, 1, boundary.Settings{Guards: 1})
	require.NoError(t, err)
	b.Locate([]float64{0, 0}, []float64{1, 1})
	rng := rand.New(rand.NewPCG(1, 2))
	drawn := map[[2]float64]int{}
	for range 100 {
		g := make([]float64, 4)
		require.NoError(t, b.Run([]float64{0, 0}, rng))
		b.AddGradient(g[:2], g[2:])
		drawn[[2]float64(g[:2])]++
	}
	w := 2 * normalProb(0.5) // one of two guards, counted double
	require.Len(t, drawn, 2)
	require.Greater(t, drawn[[2]float64{2 * w, 0}], 20)
	require.Greater(t, drawn[[2]float64{0, 1.5 * w}], 20)
}
