package sbc

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/internal/parallel"
)

func TestRank(t *testing.T) {
	require.InDelta(t, 0.5/4, Rank(0, []float64{1, 2, 3}, 0.5), 1e-15)
	require.InDelta(t, 2.5/4, Rank(2.5, []float64{1, 2, 3}, 0.5), 1e-15)
	require.InDelta(t, (1+0.25*3)/4, Rank(2, []float64{1, 2, 2}, 0.25), 1e-15)
}

// Tails are those of the binomial distribution.
func TestTails(t *testing.T) {
	b := distuv.Binomial{N: 40, P: 0.3}
	for k, got := range tails(40, 0.3) {
		require.InDelta(t, min(1, 2*min(b.CDF(float64(k)), 1-b.CDF(float64(k)-1))), got, 1e-9)
	}
}

// Uniform ranks leave the band with its probability, and have p-values that are uniform.
func TestLevel(t *testing.T) {
	const n, runs = 60, 4000
	_, low, high := Band(n, 0.9)
	rng, b := parallel.NewRand(7), newBands(n)
	out, small := 0, 0
	for range runs {
		u := make([]float64, n)
		for k := range u {
			u[k] = rng.Float64()
		}
		left := false
		for i := range low {
			x, below := float64(i+1)/float64(len(low)+1), 0
			for _, v := range u {
				if v < x {
					below++
				}
			}
			left = left || float64(below)/n < low[i]-1e-12 || float64(below)/n > high[i]+1e-12
		}
		if left {
			out++
		}
		if b.pValue(u) < 0.05 {
			small++
		}
	}
	require.InDelta(t, 0.1, float64(out)/runs, 0.02) // of which the error of 2000 simulations is a third
	require.InDelta(t, 0.05, float64(small)/runs, 0.015)
}

// Ranks that are narrow, wide or on one side are named so.
func TestShapes(t *testing.T) {
	rng := parallel.NewRand(3)
	draws := func(a, b float64) (u []float64) {
		for range 200 {
			u = append(u, distuv.Beta{Alpha: a, Beta: b, Src: rng}.Rand())
		}
		return u
	}
	for want, u := range map[string][]float64{
		"x is too narrow in the fits": draws(0.5, 0.5), "x is too wide in the fits": draws(3, 3),
		"x is too low in the fits": draws(3, 1), "x is too high in the fits": draws(1, 3),
	} {
		r := Of([]Quantity{{Name: "y", Ranks: draws(1, 1)}, {Name: "x", Ranks: u}})
		require.Less(t, r.P, 0.01)
		require.Contains(t, r.String(), "200 fits are not calibrated")
		require.Contains(t, r.String(), want)
	}
	right := Of([]Quantity{{Name: "x", Ranks: draws(1, 1)}, {Name: "y", Ranks: draws(1, 1)}})
	require.Contains(t, right.String(), "200 fits are calibrated, as far as they tell: the ranks of 2 quantities are uniform")
	require.Equal(t, 1.0, Of(nil).P)
}
