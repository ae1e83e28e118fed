package models_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/models/exact"
)

// The moments of truncated normals are what quadrature says.
func TestTruncated(t *testing.T) {
	n := distuv.Normal{Mu: 0.5, Sigma: 2}
	for _, c := range []struct{ lo, hi float64 }{
		{-1, 3}, {2, 2.5}, {-7, -5}, {6, 9}, {math.Inf(-1), 0}, {1, math.Inf(1)}, {math.Inf(-1), math.Inf(1)},
	} {
		lo, hi := math.Max(c.lo, -30), math.Min(c.hi, 30)
		moment := func(f func(x float64) float64) float64 {
			return quad.Fixed(func(x float64) float64 { return f(x) * n.Prob(x) }, lo, hi, 200, quad.Legendre{}, 1)
		}
		want := moment(func(float64) float64 { return 1 })
		mean := moment(func(x float64) float64 { return x }) / want
		variance := moment(func(x float64) float64 { return (x - mean) * (x - mean) }) / want
		prob, gotMean, gotVariance := exact.Truncated(n.Mu, n.Sigma, c.lo, c.hi)
		assert.InEpsilon(t, want, prob, 1e-11)
		assert.InDelta(t, mean, gotMean, 1e-11)
		assert.InEpsilon(t, variance, gotVariance, 1e-9)
	}
}

// A mixture's moments are those of its components, whatever their order and scale.
func TestMixture(t *testing.T) {
	var m exact.Mixture
	m.Add(0.5, 1e6+1, 4)
	m.Add(0, math.NaN(), math.NaN())
	m.Add(1.5, 1e6-3, 1)
	got := m.Moments()
	assert.InDelta(t, 1e6-2, got.Mean, 1e-9)
	assert.InDelta(t, math.Sqrt((0.5*(4+9)+1.5*(1+1))/2), got.SD, 1e-12)
	var none exact.Mixture
	assert.True(t, math.IsNaN(none.Moments().SD))
}
