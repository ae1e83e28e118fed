package regions

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// A linear program without end is an error, not a process that hangs.
func TestSimplexEnds(t *testing.T) {
	// max x subject to x + slack = 3.
	c, b, basis := []float64{-1, 0}, []float64{3}, []int{1}
	a := mat.NewDense(1, 2, []float64{1, 1})
	x, err := simplex(c, a, b, basis, 1000)
	require.NoError(t, err)
	require.InDelta(t, 3, x[0], 1e-12)
	_, err = simplex(c, a, b, basis, 4)
	require.ErrorIs(t, err, errRound)
}

// The margin is that of the point, and no other point has a larger one, up to the tolerance: the best of many random ones has not.
func TestMargin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	for range 30 {
		rows := [][]float64{{0, 0, 1}}
		for range 5 {
			rows = append(rows, []float64{rng.Float64()*2 - 1, rng.Float64()*2 - 1, rng.Float64()*2 - 0.5})
		}
		got, x, err := margin(rows)
		require.NoError(t, err)
		least := func(x []float64) float64 {
			t := x[2]
			for _, row := range rows {
				t = min(t, dot(row, x))
			}
			return t
		}
		require.Equal(t, least(x), got)
		best := -10.0
		for range 20000 {
			best = max(best, least([]float64{rng.Float64()*2 - 1, rng.Float64()*2 - 1, rng.Float64()}))
		}
		require.Greater(t, got, best-thin)
		require.InDelta(t, best, got, 0.1, "the random search is too coarse to tell")
	}
}
