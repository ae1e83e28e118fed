package family

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/regions"
)

// Draws on a rare side are draws of q given the side: there they have the side's law,
// and change log q as they say.
func TestMoverTo(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seed, 2))
	const dim, draws = 4, 20000
	h := regions.Hyperplane{Index: []int{0, 2}, Coef: []float64{1, 0.5}}
	var members []Q
	for _, f := range families(dim) {
		members = append(members, randomMember(t, f, program(dim), rng))
	}
	for _, q := range members {
		for _, positive := range []bool{true, false} {
			h.Const = 0
			tail := q.Law(h).Quantile(1e-6)
			if positive {
				tail = q.Law(h).Quantile(1 - 1e-6)
			}
			h.Const = -tail
			prob, name := q.Law(h).OnSide(positive), q.Family().Name()
			require.InEpsilon(t, 1e-6, prob, 1e-6)
			deeper := h // a part of the side of known probability
			deeper.Const = h.Const - 0.1
			if !positive {
				deeper.Const = h.Const + 0.1
			}
			move, z := q.MoverTo(h, positive), make([]float64, dim)
			var sum, squares float64
			for range draws {
				q.Rand(z, rng)
				was := q.LogProb(z)
				logQ, weight := move(z, rng)
				require.InEpsilon(t, prob, weight, 1e-9)
				require.InDelta(t, q.LogProb(z)-was, logQ, 1e-8*(1+math.Abs(was)))
				require.True(t, h.At(z) > -1e-9 == positive || math.Abs(h.At(z)) < 1e-9)
				if deeper.At(z) > 0 == positive {
					sum += weight
					squares += weight * weight
				}
			}
			want := q.Law(deeper).OnSide(positive)
			se := math.Sqrt(squares) / draws
			require.Less(t, math.Abs(sum/draws-want), 5*se, name)
			require.Less(t, 5*se, 0.2*want, "inconclusive")
		}
	}
}

func TestPick(t *testing.T) {
	require.Equal(t, 0, Pick([]float64{0.7, 0.3}, 0.69))
	require.Equal(t, 1, Pick([]float64{0.3, 0.6}, 0.95), "rounding")
}
