package intervals

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mathext"

	"github.com/facetvi/facet/vi/mc"
)

// A logGamma is found from three slopes of its log density, which is normalised; its draws and its nodes have the moments of the
// logarithm of a Gamma variable. A normal has none.
func TestLogGamma(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, shape := range []float64{0.6, 1, 1.7, 4, 60, 1e5} {
		for _, c := range []float64{1 / math.Sqrt(shape), -0.4, 2} {
			const h = 0.7
			a, b := shape*c, 1.3*c*shape
			slope := func(t float64) float64 { return a - b*math.Exp(c*t) }
			x := newLogGamma(slope(-h), slope(0), slope(h), h)
			require.InDelta(t, c, x.c, 1e-9*math.Abs(c))
			require.InDelta(t, shape, x.shape, 1e-8*shape)
			mean := (mathext.Digamma(shape) - math.Log(1.3*shape)) / c
			sd := math.Sqrt(mathext.Zeta(2, shape)) / math.Abs(c)

			log := func(t float64) float64 { // density
				_, half := x.put(math.Exp(c*t - x.at))
				return -half - 0.5*math.Log(2*math.Pi)
			}
			sum, far, step := 0.0, 40*sd, sd/100
			for u := mean - far; u < mean+far; u += step {
				sum += math.Exp(log(u)) * step
			}
			require.InDelta(t, 1, sum, 1e-6, "shape %v, c %v", shape, c)
			for _, u := range []float64{mean, mean - sd, mean + sd} {
				e := sd / 1000
				require.InDelta(t, slope(u), (log(u+e)-log(u-e))/(2*e), 1e-5*(math.Abs(a)+1/sd))
			}

			var m, s mc.Moments
			for range 20_000 {
				u, _ := x.put(x.draw(rng))
				m.Add(u)
				s.Add((u - mean) * (u - mean))
			}
			require.InDelta(t, mean, m.Mean, 5*m.SE(), "shape %v, c %v", shape, c)
			require.InDelta(t, sd*sd, s.Mean, 5*s.SE(), "shape %v, c %v", shape, c)
			require.Less(t, m.SE(), 0.01*sd)

			q := drawer{finder: &finder{program: &program{bent: []bool{false}}}, nodes: newQuadrature()}
			if !x.hasMoments(false) {
				continue
			}
			first, second := q.expect(0, 0, 1, &x)
			require.InDelta(t, mean, first, 1e-3*sd, "shape %v, c %v", shape, c)
			require.InDelta(t, mean*mean+sd*sd, second, 1e-3*(mean*mean+sd*sd), "shape %v, c %v", shape, c)
		}
	}
	require.Zero(t, newLogGamma(0.7, 0, -0.7, 0.7))
	for _, slopes := range [][3]float64{{-1, 0, 1}, {1, 0, 0}, {math.NaN(), 0, -1}, {1, math.Inf(1), -1}, {0, 0, 0}, {1e-9, 0, -1e9}} {
		require.Zero(t, newLogGamma(slopes[0], slopes[1], slopes[2], 1), slopes)
	}
}
