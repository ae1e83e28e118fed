package boundary_test

import (
	"math"
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
		require.NoError(t, b.Run(eps, mu, s, rng))

		together, all := make([]float64, 2*dim), make([]float64, 2*dim)
		for l, h := range arr.Planes() {
			own := make([]float64, 2*dim)
			b.AddPlane(l, own[:dim], own[dim:])
			b.AddPlane(l, together[:dim], together[dim:])
			for i := range dim {
				if !slices.Contains(h.Index, i) {
					require.Zero(t, own[i])
					require.Zero(t, own[dim+i])
				}
			}
			if settings.Guards > 0 {
				continue
			}
			want, one, size := make([]float64, 2*dim), make([]float64, dim), 1.0
			for k := range n {
				for i := range one {
					one[i] = eps[i*n+k]
				}
				size += brutePlane(t, d, l, settings.Method, one, mu, s, want[:dim], want[dim:])
			}
			require.InDeltaSlice(t, want, own, 1e-10*size, "plane %d", l)
		}
		b.AddGradient(all[:dim], all[dim:])
		require.Equal(t, all, together)
	})
	require.Greater(t, several, 20)
}
