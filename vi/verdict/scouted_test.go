package verdict

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Errors of moments are those of draws with weights; a few points far out, which one island may have more of than
// there are, do not make them large, and many do.
func TestMomentErrors(t *testing.T) {
	const n = 1000
	square, mass, variance := make([]float64, n), make([]float64, n), make([]float64, n)
	for k := range square {
		square[k], mass[k], variance[k] = 1, 1./n, 1e-8
	}
	e := momentErrors(square, mass, variance)
	require.InEpsilon(t, math.Sqrt(998*1e-8+2*1e-8), e.mean, 1e-9) // those of two draws as well, as they have no more than the variance
	require.Zero(t, e.sd)
	square[7] = 1e4 // with ten times all of the variance
	e = momentErrors(square, mass, variance)
	require.InEpsilon(t, math.Sqrt(998*1e-8+(1e4+1)*1e-8/((1e4+1)/n)), e.mean, 1e-9)
	require.Zero(t, e.sd)
	for k := range 20 {
		square[k] = 1e4
	}
	e = momentErrors(square, mass, variance)
	require.InEpsilon(t, math.Sqrt(18*1e-4+980*1e-8+2e-4/20), e.mean, 1e-9)
	require.InEpsilon(t, math.Sqrt(18*1e-8*9999*9999)/2, e.sd, 1e-9)
}
