package family

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/regions"
)

// On z0·z1 = c both slopes vanish somewhere, for small c where draws are: shared between
// the latents no weight times a slope is more than the density φ(0)/√v of a latent at its
// mode, in a million draws; of a latent alone some are a hundred times as large.
func TestCurvedWeightsAreBounded(t *testing.T) {
	for _, c := range []float64{0.3, 0.001} {
		t.Run(fmt.Sprint(c), func(t *testing.T) { checkBounded(t, c) })
	}
}

func checkBounded(t *testing.T, threshold float64) {
	curve := regions.NewCurve([]regions.Step{
		{Kind: regions.Coordinate, A: 0}, {Kind: regions.Coordinate, A: 1}, {Kind: regions.Times, A: 0, B: 1},
		{Kind: regions.Affine, Const: -threshold, Terms: []regions.Term{{Of: 2, Coef: 1}}},
	})
	q := Sequential([][]int{{}, {0}})
	q.Set([]float64{0.1, 0.8, -0.2, 1.1, 0.4})
	const n, batches = 1000, 1000
	largest := func(pieces ...boundary.Piece) (most [2]float64, sum float64) {
		s := q.Bind(n)
		c := s.Surface(pieces, make([][]int, len(pieces)), Own).(*curves)
		c.Locate()
		z, rng := make([]float64, 2*n), rand.New(rand.NewPCG(1, 2))
		at := curve.Bind(n)
		at.In[0], at.In[1] = z[:n], z[n:]
		for range batches {
			s.Draw(z, rng)
			at.Values()
			for k := range c.pieces {
				c.Move(nil, k, z, nil, at)
				for l, row := range c.pieces[k].field {
					for b, x := range row {
						most[l] = max(most[l], math.Abs(x))
						sum += c.pieces[k].w[b]
					}
				}
			}
		}
		return most, sum / (2 * n * batches)
	}
	both := []boundary.Piece{{Curve: curve, Pivot: 0}, {Curve: curve, Pivot: 1}}
	most, length := largest(both...)
	for l := range most {
		bound := invSqrt2Pi / math.Sqrt(q.Bind(1).(*normalSampler).variance(l))
		require.Less(t, most[l], bound*(1+1e-12))
		require.Greater(t, most[l], 0.5*bound)
		alone, its := largest(both[l])
		if threshold < 0.01 {
			require.Greater(t, alone[1-l], 100*bound)
		}
		require.InDelta(t, length, its, 0.1*length, "both are the density of Φ at 0")
	}
}
