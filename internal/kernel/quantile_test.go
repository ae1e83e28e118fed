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

// Quantiles with shapes, their inverses, and their slopes by central differences.
func TestQuantilesWithShapes(t *testing.T) {
	for f, log := range map[Function]func(x, a, b float64) (below, above float64){
		LogGammaOfNormal: func(x, a, _ float64) (below, above float64) {
			at := gammaAt(a, math.Exp(x), false)
			return at.side(false).log, at.side(true).log
		},
		LogitBetaOfNormal: func(x, a, b float64) (below, above float64) {
			return betaAt(sigmoid(x), a, b).side(false).log, betaAt(sigmoid(-x), b, a).side(false).log
		},
		StudentOfNormal: func(x, a, _ float64) (below, above float64) { return logStudentCDF(x, a), logStudentCDF(-x, a) },
	} {
		for _, a := range []float64{0.05, 0.5, 1, 3.3, 40, 2000} {
			for _, u := range []float64{-6, -1.3, -0.1, 0, 0.2, 2, 7} {
				numbers := []float64{u, a, 1.7}[:2]
				if functions[f].ternary != nil {
					numbers = numbers[:3]
				}
				x := f.ValueOf(numbers)
				if math.IsInf(math.Exp(math.Abs(x)), 0) || f == LogitBetaOfNormal && math.Abs(x) > 15 { // no number has that logarithm, or 1 − x no digits
					continue
				}
				below, above := log(x, a, 1.7)
				require.InDelta(t, logNormalCDF(u), below, 1e-9*(1+math.Abs(below)), "%v at %v", f, numbers)
				require.InDelta(t, logNormalCDF(-u), above, 1e-9*(1+math.Abs(above)), "%v at %v", f, numbers)
				require.InDelta(t, u, f.First(x, numbers), 1e-8*(1+math.Abs(u)), "%v at %v", f, numbers)
				for k := range numbers {
					h := 1e-4 * math.Max(1e-2, math.Abs(numbers[k]))
					at := func(by float64) float64 {
						moved := append([]float64(nil), numbers...)
						moved[k] += by
						return f.ValueOf(moved)
					}
					slope := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
					require.InDelta(t, slope, f.SlopeOf(k, numbers, x), 1e-5*(1e-2+math.Abs(slope)), "%v at %v, by %d", f, numbers, k)
				}
			}
		}
	}
}
