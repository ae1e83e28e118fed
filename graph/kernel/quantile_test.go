package kernel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each quantile x(u) has F(x) = Φ(u), by the logarithms of both tails, and its inverse is u.
func TestQuantilesOfNormal(t *testing.T) {
	for f, log := range map[Function]func(x float64) (below, above float64){
		ExponentialOfNormal: func(x float64) (below, above float64) { return log1mExp(-x), -x },
		LogisticOfNormal:    func(x float64) (below, above float64) { return -softplus(-x), -softplus(x) },
		LaplaceOfNormal:     func(x float64) (below, above float64) { return logLaplaceCDF(x), logLaplaceCDF(-x) },
		CauchyOfNormal:      func(x float64) (below, above float64) { return LogCauchyCDF.Value(x), LogCauchyCDF.Value(-x) },
		HalfNormalOfNormal:  func(x float64) (below, above float64) { return logErf(x / math.Sqrt2), logNormalCDF(-x) + math.Ln2 },
		HalfCauchyOfNormal: func(x float64) (below, above float64) {
			return LogHalfCauchyCDF.Value(x), LogHalfCauchyCDF.Value(1 / x)
		},
	} {
		for _, u := range []float64{-12, -5, -1.3, -0.1, 0, 0.2, 2, 7, 11} {
			x := f.Value(u)
			below, above := log(x)
			require.InDelta(t, logNormalCDF(u), below, 1e-11*(1+math.Abs(below)), "%v at %v", f, u)
			require.InDelta(t, logNormalCDF(-u), above, 1e-11*(1+math.Abs(above)), "%v at %v", f, u)
			back, roots := f.Inverse(x)
			require.Equal(t, 1, roots)
			require.InDelta(t, u, back[0], 1e-10*(1+math.Abs(u)), "%v at %v", f, u)
			require.True(t, f.Increasing())
		}
	}
	for _, y := range []float64{-1e6, -600, -400, -3, -0.7, -0.69, -1e-3, -1e-30} {
		require.InEpsilon(t, y, logNormalCDF(logNormalQuantile(y)), 1e-12, "%v", y)
	}
	require.True(t, math.IsNaN(logNormalQuantile(0.1)))
}
