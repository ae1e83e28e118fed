package family

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/regions"
)

// walkAbove is a random walk with steps of sd 1 and its sides: all of its places from first on are above floor.
func walkAbove(t *testing.T, n, first int, floor float64) (free *Normal, confined Q) {
	t.Helper()
	precision := mat.NewSymDense(n, nil)
	for i := range n {
		precision.SetSym(i, i, 2)
		if i > 0 {
			precision.SetSym(i, i-1, -1)
		}
	}
	precision.SetSym(n-1, n-1, 1)
	free = FromPrecision(make([]float64, n), precision)
	var sides []Side
	for i := first; i < n; i++ {
		sides = append(sides, Side{regions.Hyperplane{Index: []int{i}, Coef: []float64{1}, Const: -floor}, true})
	}
	q, open, err := free.Confine(sides)
	require.NoError(t, err)
	require.Empty(t, open)
	return free, q
}

// effectiveShare weighs draws of q by a normal. It returns the share that is effective and the logarithm of the mean weight.
func effectiveShare(q Q, of *Normal, n int) (share, log float64) {
	rng, z, logs := parallel.NewRand(1), make([]float64, q.Dim()), make([]float64, n)
	for k := range logs {
		q.Rand(z, rng)
		logs[k] = of.LogProb(z) - q.LogProb(z)
	}
	sum := floats.LogSumExp(logs)
	log = sum - math.Log(float64(n))
	floats.Scale(2, logs)
	return math.Exp(2*sum-floats.LogSumExp(logs)) / float64(n), log
}

// Of a walk of 20 steps that stays above 1 from the fifth on, untilted draws have very uneven weights.
func TestTilted(t *testing.T) {
	free, q := walkAbove(t, 20, 4, 1)
	plain, _ := effectiveShare(q, free, 20_000)
	even, log := effectiveShare(Tilted(q), free, 20_000)
	assert.Less(t, plain, 0.3)
	assert.Greater(t, even, 0.6)

	// P(walk above 1 from the fifth step on) by quadrature on a grid, step by step
	const width, from, to = 0.05, -20., 30.
	at := func(k int) float64 { return from + (float64(k)+0.5)*width }
	cells := int((to - from) / width)
	density := make([]float64, cells)
	for k := range density {
		x := at(k)
		if density[k] = math.Exp(-x*x/10) / math.Sqrt(10*math.Pi); x < 1 { // N(0, 5), after five steps
			density[k] = 0
		}
	}
	for range 15 {
		next := make([]float64, cells)
		for k, p := range density {
			for j := max(0, k-160); p > 0 && j < min(cells, k+161); j++ {
				if d := at(j) - at(k); at(j) > 1 {
					next[j] += p * width * math.Exp(-d*d/2) / math.Sqrt(2*math.Pi)
				}
			}
		}
		density = next
	}
	assert.InDelta(t, math.Log(floats.Sum(density)*width), log, 5*math.Sqrt((1/even-1)/20_000))
}

// Where no mass depends on other latents there is nothing to tilt.
func TestTiltedAlone(t *testing.T) {
	free := FromPrecision([]float64{1, 2, 3}, mat.NewDiagDense(3, []float64{1, 2, 3}))
	q, _, err := free.Confine([]Side{{regions.Hyperplane{Index: []int{1}, Coef: []float64{1}}, true}})
	require.NoError(t, err)
	assert.Equal(t, q.Theta(), Tilted(q).Theta())
	assert.Same(t, free, Tilted(free))
}

// Where the steps to the saddle point do not arrive the distribution stays what it is.
func TestTiltedNowhere(t *testing.T) {
	precision := mat.NewSymDense(2, []float64{1, 0, 0, 1})
	free := FromPrecision([]float64{0, 0}, precision)
	q, open, err := free.Confine([]Side{{regions.Hyperplane{Index: []int{0, 1}, Coef: []float64{-1e8, 1}, Const: -1e9}, true}})
	require.NoError(t, err)
	require.Empty(t, open)
	tilted := Tilted(q)
	z, rng := make([]float64, 2), parallel.NewRand(1)
	for range 1000 {
		tilted.Rand(z, rng)
		assert.False(t, math.IsNaN(free.LogProb(z)-tilted.LogProb(z)))
	}
}
