package mixture

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
)

// Each number has one draw in each interval of equal probability.
func TestHypercube(t *testing.T) {
	var c hypercube
	rng := parallel.NewRand(1)
	for _, m := range []int{8, 100, 11} { // of all sizes after another
		c.fill(m, 3, rng)
		for i := range 3 {
			var at []int
			for k := range m {
				at = append(at, int(c.draw(k)[i]*float64(m)))
			}
			assert.False(t, slices.IsSorted(at))
			slices.Sort(at)
			for k, i := range at {
				assert.Equal(t, k, i)
			}
		}
	}
}

func TestHypercubeSizes(t *testing.T) {
	assert.Empty(t, Hypercubes(nil))
	parts := slices.Concat(slices.Repeat([]int{3}, 1), slices.Repeat([]int{4}, 16), slices.Repeat([]int{5}, 31), slices.Repeat([]int{7}, 32))
	assert.Equal(t, []int{1, 16, 31, 16, 16}, Hypercubes(parts))
}

// The mean of 64 draws of a part is known more than 5 times better by hypercubes, and its draws are those of the part.
func TestHypercubeOfAMixture(t *testing.T) {
	precision := mat.NewSymDense(2, []float64{2, 0.5, 0.5, 1})
	a, b := family.FromPrecision([]float64{1, -1}, precision), family.FromPrecision([]float64{5, 3}, precision)
	m := New([]float64{0, 0}, []family.Q{a, b})
	const n, rounds = 128, 400
	draw, z, rng := m.Drawer(n).(*Drawer), make([]float64, 2*n), parallel.NewRand(1)
	parts := make([]int, n)
	for k := range n / 2 {
		parts[n/2+k] = 1
	}
	square, within := 0.0, 0.0
	for range rounds {
		draw.DrawParts(z, parts, rng)
		for _, side := range [][2]float64{{0, 1}, {n / 2, 5}} {
			mean := 0.0
			for _, x := range z[int(side[0]):][:n/2] {
				mean += x / (n / 2)
				within += (x - side[1]) * (x - side[1]) / (rounds * n)
			}
			square += (mean - side[1]) * (mean - side[1]) / (2 * rounds)
		}
	}
	assert.InDelta(t, a.SD(0)*a.SD(0), within, 0.02)
	independent := a.SD(0) / math.Sqrt(n/2)
	assert.Less(t, math.Sqrt(square), independent/5)
}
