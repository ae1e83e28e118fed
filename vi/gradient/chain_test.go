package gradient_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// A hidden Markov model whose transitions change at z = −0.4 and whose means change at z = 0.3: the gradient has the jumps of
// the sum over all paths. Exact is the quadrature of a sum path by path.
func TestJumpsOfAChain(t *testing.T) {
	ys := []float64{0.2, 1.5, -1, 2, 0.4, 1.8}
	stay := func(z float64) float64 {
		if z > -0.4 {
			return 0.9
		}
		return 0.3
	}
	mean := func(z float64, s int) float64 {
		if z > 0.3 {
			return 2*float64(s) - z
		}
		return z - float64(s)
	}
	logR := func(z float64) float64 {
		total := 0.0
		for path := range 1 << len(ys) {
			p := 0.5
			for k, y := range ys {
				s := path >> k & 1
				if k > 0 {
					if path>>(k-1)&1 == s {
						p *= stay(z)
					} else {
						p *= 1 - stay(z)
					}
				}
				p *= distuv.Normal{Mu: mean(z, s), Sigma: 0.8}.Prob(y)
			}
			total += p
		}
		return math.Log(total) + distuv.UnitNormal.LogProb(z)
	}

	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	stays := graph.If(graph.Greater(z, -0.4), 0.9, 0.3)
	m.ObserveHMM("y", graph.HMM{
		Initial:    graph.Numbers(0.5, 0.5),
		Transition: [][]graph.Expr{{stays, graph.Sub(1, stays)}, {graph.Sub(1, stays), stays}},
		Emission: func(_ int, s []int) graph.Dist {
			return graph.Normal(graph.If(graph.Greater(z, 0.3), graph.Sub(2*s[0], z), graph.Sub(z, s[0])), 0.8)
		},
	}, ys)
	d := vitest.Compile(t, m)

	for _, at := range [][2]float64{{0, 1}, {0.4, 0.5}, {-0.6, 0.7}} {
		mu, sd := at[0], at[1]
		integral := func(f func(z float64) float64) (sum float64) {
			ends := []float64{mu - 8*sd, -0.4, 0.3, mu + 8*sd}
			for k := range 3 {
				sum += quad.Fixed(f, ends[k], ends[k+1], 200, nil, 0)
			}
			return sum
		}
		q := distuv.Normal{Mu: mu, Sigma: sd}
		want := []float64{
			integral(func(z float64) float64 { return q.Prob(z) * logR(z) * (z - mu) / (sd * sd) }),
			integral(func(z float64) float64 { return q.Prob(z) * logR(z) * ((z-mu)*(z-mu)/(sd*sd) - 1) / sd }) + 1/sd,
		}
		member := family.Independent([]float64{mu}, []float64{sd})
		worst := func(e gradient.Estimator) (z float64) {
			s := gradientOf(t, d, member, e, 4000)
			for k := range want {
				require.Less(t, 5*s.SE[k], vitest.Precision(0.05)*math.Hypot(want[0], want[1]), "inconclusive")
				z = max(z, math.Abs(s.Mean[k]-want[k])/s.SE[k])
			}
			return z
		}
		require.Less(t, worst(gradient.Boundary{}), 5.0, at)
		require.Greater(t, worst(gradient.Reparam{}), 5.0, "reparameterization alone must be rejected")
	}
}
