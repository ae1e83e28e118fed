package vi

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
)

// A hard constraint may be a jump whose square overflows. Nothing of the fit is
// beyond it, and the fit comes to the best normal along it. After gradients of 1e200 where it ends is chance: errors are
// root mean squares over seeds.
func TestHardConstraint(t *testing.T) {
	d, above := halfNormal(t)
	mean, sd := bestHalfNormal()
	seeds := uint64(5)
	if testing.Short() {
		seeds = 1
	}
	for _, steps := range []int{10000, 100000}[:long.Or(1, 2)] {
		var means, sds, within float64 // mean squares of relative errors
		for k := range seeds {
			var s Settings
			s, within = Settings{Seed: *seed + k, Method: Climb{Family: family.MeanField{}, Steps: steps}}, 0.1
			if steps > 10000 { // shorter steps keep less clear of the wall
				s.climb().StepSize, within = 0.01, 0.05
			}
			p, err := Fit(context.Background(), d, s)
			require.NoError(t, err)
			t.Logf("seed %d, %d steps: mean %.4f, sd %.5f; best %.4f, %.5f", *seed+k, steps, p.Q.Mean(0), p.Q.SD(0), mean, sd)
			below, err := p.Prob(graph.Not(above))
			require.NoError(t, err)
			require.Less(t, below.Value, 1e-20) // by the wider part of the draws, ten of its standard deviations above 0
			for _, z := range drawsOf(t, p, 1000, *seed).Values {
				require.Positive(t, z[0])
			}
			means += math.Pow(p.Q.Mean(0)/mean-1, 2) / float64(seeds)
			sds += math.Pow(p.Q.SD(0)/sd-1, 2) / float64(seeds)
		}
		require.Less(t, math.Sqrt(means), within)
		require.Less(t, math.Sqrt(sds), within)
	}
}

// halfNormal is a standard normal with a hard constraint: x > 0.
func halfNormal(t testing.TB) (*graph.Density, graph.Guard) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	above := graph.Greater(x, 0)
	m.Factor(graph.If(above, 0, -1e200))
	return mustCompile(t, m), above
}

// bestHalfNormal is the mean and standard deviation of the best normal N(μ, s²) for
// halfNormal. With k = μ/s the best s is 1/√(1 + k²), and
//
//	ELBO(k) = −½·log(1 + k²) − 1e200·Φ(−k) + const.
func bestHalfNormal() (mean, sd float64) {
	elbo := func(k float64) float64 { return -0.5*math.Log1p(k*k) - 1e200*0.5*math.Erfc(k/math.Sqrt2) }
	best := 30.0
	for k := best; k < 31; k += 1e-4 {
		if elbo(k) > elbo(best) {
			best = k
		}
	}
	sd = 1 / math.Sqrt(1+best*best)
	return best * sd, sd
}
