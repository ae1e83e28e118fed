package vi

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// softplus and its slope are exact to rounding from where eˣ underflows to where
// 1 + eˣ is eˣ, around 0, and where results are subnormal.
func TestSoftplusAtAllSizes(t *testing.T) {
	for e := -300.0; e <= 3; e += 0.01 {
		for _, x := range []float64{math.Pow(10, e), -math.Pow(10, e)} {
			value, slope := softplusAndSlope(x)
			want, logistic := max(x, 0)+math.Log1p(math.Exp(-math.Abs(x))), 1/(1+math.Exp(-x))
			if x < 0 {
				logistic = math.Exp(x) / (1 + math.Exp(x))
			}
			require.InDelta(t, want, value, 3e-16*want+5e-324, "at %v", x)
			require.InDelta(t, logistic, slope, 3e-16*logistic+5e-324, "at %v", x)
		}
	}
	for x, want := range map[float64][2]float64{math.Inf(1): {math.Inf(1), 1}, math.Inf(-1): {0, 0}, 0: {math.Ln2, 0.5}} {
		value, slope := softplusAndSlope(x)
		require.Equal(t, want, [2]float64{value, slope}, "at %v", x)
	}
	value, slope := softplusAndSlope(math.NaN())
	require.True(t, math.IsNaN(value) && math.IsNaN(slope))
}

// 1 − power is 1 − math.Pow to rounding for as long as a fit may take.
func TestPower(t *testing.T) {
	for _, x := range []float64{0, 0.5, 0.9, 0.99, 0.999, 0.999999, math.Nextafter(1, 0)} {
		for n := 1; n <= 1e6; n += 1 + n/1000 {
			want := 1 - math.Pow(x, float64(n))
			require.InDelta(t, want, 1-power(x, n), 2e-16*want, "%v to the power of %d", x, n)
		}
	}
}
