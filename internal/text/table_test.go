package text

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Two digits of the standard deviation, in every number of a row.
func TestDecimals(t *testing.T) {
	for _, c := range []struct {
		sd, mean float64
		want     string
	}{
		{0.21, 6.54321, "6.54"}, {0.0996, 1, "1.000"}, {2.1, -3.14159, "-3.1"}, {35, 1234.5, "1234"}, {3500, 1234.5, "1234"},
		{1e-9, 0.25, "2.500000000e-01"}, {1e8, 1.5e9, "1.50e+09"}, {0, 2, "2.000"}, {math.NaN(), 2, "2.000"},
		{1, math.Inf(1), "+Inf"}, {math.Inf(1), 2, "2.000"}, {1e-300, 1e300, "1.000000000000000e+300"}, {1e-8, 3e-9, "3.0e-09"},
	} {
		require.Equal(t, c.want, Decimals(c.sd, c.mean)(c.mean), "%v ± %v", c.mean, c.sd)
	}
	for p, want := range map[float64]string{0: "0.000", 1e-9: "<0.001", 0.0005: "0.001", 0.5: "0.500", 0.9995: "1.000", 0.99951: ">0.999", 1: "1.000"} {
		require.Equal(t, want, Probability(p))
	}
}

// A moment that is not known is a dash, and does not say how many decimals the others have.
func TestMoments(t *testing.T) {
	inf := math.Inf(1)
	require.Equal(t, []string{"1.00", "0.01", "0.30", "0.50", "1.02", "1.50"}, Moments(1, 0.012, 0.3, 0.01, 0.5, 1.02, 1.5))
	require.Equal(t, []string{"1.00", "0.01", "–", "0.50", "1.02", "1.50"}, Moments(1, 0.012, 1e49, inf, 0.5, 1.02, 1.5))
	require.Equal(t, []string{"–", "", "–", "0.50", "1.02", "1.50"}, Moments(1e49, inf, 1e49, inf, 0.5, 1.02, 1.5))
}
