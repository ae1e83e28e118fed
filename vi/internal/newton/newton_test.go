package newton

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// L·Lᵀ is the matrix, and the two solves undo it, for few and for many numbers.
func TestCholesky(t *testing.T) {
	for _, n := range []int{0, 1, 3, few + 1, 3 * few} {
		rng := rand.New(rand.NewPCG(uint64(n), 1))
		h, l, b := make([]float64, n*n), make([]float64, n*n), make([]float64, n)
		for i := range n {
			for j := range i {
				h[i*n+j] = rng.NormFloat64()
				h[j*n+i] = h[i*n+j]
			}
			h[i*n+i], b[i] = float64(4*n), rng.NormFloat64()
		}
		require.True(t, Cholesky(l, h, n, 0.5))
		x := make([]float64, n)
		Step(x, l, b)
		for i := range n {
			require.InDelta(t, b[i], floats.Dot(h[i*n:][:n], x)+0.5*h[i*n+i]*x[i], 1e-12)
		}
		if n > 0 {
			h[n*n-1] = -1
			require.False(t, Cholesky(l, h, n, 0))
		}
	}
}

// climb goes to a maximum of f from start, for f with its gradient and minus its second derivative.
func climb(start float64, f func(u float64) (value, g, h float64)) *Climb {
	c := New(1, Interval)
	c.Trial[0] = start
	for c.Begin(); c.State < Arrived && c.Tries < 100; {
		value, g, h := f(c.Trial[0])
		c.NextG[0], c.NextH[0] = g, h
		c.Advance(value)
	}
	return &c
}

// A climb comes to the maximum uphill of where it begins, from where the function is convex too, and where full steps go too far;
// of a quadratic function in one step. It fails where there is no value.
func TestClimb(t *testing.T) {
	quartic := func(u float64) (value, g, h float64) {
		s := u*u - 1
		return -s * s, -4 * u * s, 12*u*u - 4
	}
	for start, want := range map[float64]float64{0.1: 1, -0.01: -1, 3: 1} {
		c := climb(start, quartic)
		require.Equal(t, Arrived, c.State)
		require.InDelta(t, want, c.Trial[0], 1e-3)
		require.InDelta(t, 0, c.Value+c.Gain, Gain)
	}

	far := climb(5, func(u float64) (value, g, h float64) { // −log cosh u
		return -math.Log(math.Cosh(u)), -math.Tanh(u), 1 / (math.Cosh(u) * math.Cosh(u))
	})
	require.Equal(t, Arrived, far.State)
	require.InDelta(t, 0, far.Trial[0], 1e-3)

	once := climb(7, func(u float64) (value, g, h float64) { return 3 - 2*u*u, -4 * u, 4 })
	require.Equal(t, Arrived, once.State)
	require.LessOrEqual(t, once.Tries, 2)
	require.InDelta(t, 3+math.Log(math.Sqrt(2*math.Pi)/2), once.LogNormal(), 1e-12)

	none := climb(-1, func(u float64) (value, g, h float64) { return math.Log(u), 1 / u, 1 / (u * u) })
	require.Equal(t, Failed, none.State)
}
