package cells

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/weighted"
)

// A pool of chains and of mixtures near them has the posterior's expectations, with the errors that it says, which are much less than those of
// the chains where these are ruled by a rare place: behind a guard with 2 % of the posterior. Draws that are not weighed have others.
func TestPool(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Sample("y", graph.Normal(graph.Mul(0.5, x), 1))
	u := graph.Div(x, 0.3)
	m.Factor(graph.If(graph.Greater(x, 2), math.Log(0.3), graph.Mul(-0.5, graph.Mul(u, u))))
	d, err := m.Compile()
	require.NoError(t, err)
	integral := func(f func(x float64) float64) float64 {
		near := quad.Fixed(func(x float64) float64 { return f(x) * distuv.UnitNormal.Prob(x) * math.Exp(-x*x/0.18) }, -8, 2, 4000, nil, 0)
		return near + quad.Fixed(func(x float64) float64 { return f(x) * distuv.UnitNormal.Prob(x) * 0.3 }, 2, 9, 4000, nil, 0)
	}
	above := func(x float64) float64 {
		if x > 2 {
			return 1
		}
		return 0
	}
	functions := []func(x float64) float64{func(x float64) float64 { return x }, func(x float64) float64 { return x * x }, above}
	all := integral(func(float64) float64 { return 1 })
	expect := func(c weighted.Chains) (z [3]float64, se [3]float64) {
		s := weighted.OfChains(d, nil, c)
		f := make([]float64, s.Len())
		for j, by := range functions {
			for k, x := range s.Latent(0) {
				f[k] = by(x)
			}
			e := s.Expect(f)
			z[j], se[j] = (e.Value-integral(by)/all)/e.SE, e.SE
		}
		return z, se
	}
	var square [3]mc.Moments
	var gain, plain mc.Moments
	for seed := range uint64(long.Or(20, 100)) {
		chains := weighted.Chains{Z: independent(t, d, 8192, seed+1), N: 256, Groups: 8, Effective: 8192}
		_, before := expect(chains)
		var pool weighted.Chains
		enough, err := Pool(context.Background(), d, chains, Pooling{Seed: parallel.Mix(seed, 1), draws: 2048, Judge: func(p weighted.Chains, proposed int) (enough, hopeless bool) {
			pool = p
			require.Equal(t, len(p.Z)-8192, proposed)
			require.Equal(t, 6*2048, proposed)
			return true, false
		}})
		require.NoError(t, err)
		require.True(t, enough)
		z, se := expect(pool)
		for j := range z {
			square[j].Add(z[j] * z[j])
		}
		gain.Add(before[1] / se[1])
		pool.Weights = nil
		z, _ = expect(pool)
		plain.Add(math.Abs(z[2]))
	}
	t.Logf("squares of z: %.2f, %.2f, %.2f; errors are %.1f times smaller; not weighed z is %.0f", square[0].Mean, square[1].Mean, square[2].Mean, gain.Mean, plain.Mean)
	for _, s := range square {
		require.InDelta(t, 1, s.Mean, 5*math.Sqrt(2/float64(s.N)))
	}
	require.Greater(t, gain.Mean, 2.)
	require.Greater(t, plain.Mean, 10.)
}
