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
		c := s.Surface(pieces, make([][]int, len(pieces))).(*curves)
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

// One latent alone does not see all of z0·z1 = c. With independent normals and small c, by the pieces
// of both latents
//
//	∂P(z0·z1 > c)/∂μ_1 = φ(μ_1)·(2Φ(μ_0) − 1) = 0.151   at μ = (0.5, 0.15), s = 1, c = 0,
//
// and by those of z0 alone the draws say 0: the piece z1 = 0 is near none of its points.
func TestOneLatentMissesAPiece(t *testing.T) {
	const n, batches, c, exact = 1000, 1000, 1e-12, 0.151
	phi := func(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
	require.InDelta(t, exact, invSqrt2Pi*math.Exp(-0.5*0.15*0.15)*(2*phi(0.5)-1), 5e-4)
	curve := regions.NewCurve([]regions.Step{
		{Kind: regions.Coordinate, A: 0}, {Kind: regions.Coordinate, A: 1}, {Kind: regions.Times, A: 0, B: 1},
		{Kind: regions.Affine, Const: -c, Terms: []regions.Term{{Of: 2, Coef: 1}}},
	})
	q := Sequential([][]int{{}, {}})
	q.Set([]float64{0.5, 1, 0.15, 1})
	byMean := func(pieces ...boundary.Piece) (mean, se float64) {
		s := q.Bind(n)
		c := s.Surface(pieces, make([][]int, len(pieces))).(*curves)
		c.Locate()
		z, rng := make([]float64, 2*n), rand.New(rand.NewPCG(1, 3))
		at := curve.Bind(n)
		at.In[0], at.In[1] = z[:n], z[n:]
		var sum, squares float64
		for range batches {
			s.Draw(z, rng)
			at.Values()
			for k := range c.pieces {
				c.Move(nil, k, z, nil, at)
			}
			for b := range n {
				x := 0.0
				for _, p := range c.pieces {
					x += p.field[1][b]
				}
				sum, squares = sum+x, squares+x*x
			}
		}
		mean = sum / (n * batches)
		return mean, math.Sqrt((squares/(n*batches) - mean*mean) / (n * batches))
	}
	one, other := boundary.Piece{Curve: curve, Pivot: 0}, boundary.Piece{Curve: curve, Pivot: 1}
	mean, se := byMean(one, other)
	require.Less(t, 5*se, 0.01, "inconclusive")
	require.Less(t, math.Abs(mean-exact), 5*se+5e-4)
	alone, its := byMean(one)
	t.Logf("both %.4f ± %.4f, one alone %.4f ± %.4f", mean, se, alone, its)
	require.Less(t, math.Abs(alone), 0.02)
	require.Greater(t, exact-alone, 5*its, "one latent alone must be rejected")
}
