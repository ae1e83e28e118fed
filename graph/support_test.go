package graph

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Inverse undoes Value on every support, and refuses the edge of
// a support and what lies beyond it.
func TestUnconstrain(t *testing.T) {
	m := NewModel()
	m.Sample("real", Normal(0, 1))
	m.Sample("positive", Gamma(2, 3))
	m.Sample("unit", Beta(2, 3))
	m.Sample("interval", Uniform(-3, 5))
	d, err := m.Compile()
	require.NoError(t, err)
	for i, name := range d.Latents() {
		for _, u := range []float64{-7, -1, 0, 0.3, 5} {
			got, err := d.Coordinate(i).Inverse(d.Coordinate(i).Value(u))
			require.NoError(t, err, name)
			require.InDelta(t, u, got, 1e-12, name)
		}
	}
	for i, bad := range [][]float64{{math.NaN(), math.Inf(1)}, {0, -1}, {0, 1, 1.5}, {-3, 5, 7}} {
		for _, x := range bad {
			_, err := d.Coordinate(i).Inverse(x)
			require.ErrorContains(t, err, d.Latents()[i])
			require.ErrorContains(t, err, "support_test.go")
		}
	}
}

// PriorStartAt keeps what is given, and what follows it in the program follows.
func TestPriorStartAt(t *testing.T) {
	m := NewModel()
	x := m.Sample("x", Normal(1, 2))
	y := m.Sample("y", Normal(If(Greater(x, 0), x, -9), 3))
	m.Sample("z", Normal(y, 1))
	d, err := m.Compile()
	require.NoError(t, err)
	for _, c := range []struct {
		given map[int]float64
		want  []float64
	}{
		{nil, []float64{1, 1, 1}},
		{map[int]float64{0: 4}, []float64{4, 4, 4}},
		{map[int]float64{0: -1}, []float64{-1, -9, -9}},
		{map[int]float64{1: 7}, []float64{1, 7, 7}},
	} {
		center, scale := d.PriorStartAt(c.given)
		require.Equal(t, c.want, center)
		require.Equal(t, []float64{2, 3, 1}, scale)
	}
}
