package plot

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Any range has a few ticks inside it, evenly spaced, with labels that say where
// they are.
func TestTicks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		low := math.Exp(rng.Float64()*40-20) * (2*rng.Float64() - 1)
		high := low + math.Abs(low)*math.Exp(rng.Float64()*20-15)
		marks := ticks{}.Ticks(low, high)
		require.GreaterOrEqual(t, len(marks), 3, "%v … %v", low, high)
		require.LessOrEqual(t, len(marks), 9, "%v … %v", low, high)
		slack := 1e-6 * (high - low)
		for i, m := range marks {
			require.GreaterOrEqual(t, m.Value, low-slack)
			require.LessOrEqual(t, m.Value, high+slack)
			v, err := strconv.ParseFloat(strings.Replace(m.Label, "−", "-", 1), 64)
			require.NoError(t, err)
			require.InDelta(t, m.Value, v, 1e-9*math.Abs(m.Value)+slack)
			if i > 1 {
				require.InDelta(t, marks[1].Value-marks[0].Value, m.Value-marks[i-1].Value, slack+1e-15*math.Abs(low))
			}
		}
	}
}

func TestTickLabels(t *testing.T) {
	labels := func(low, high float64) string {
		var out []string
		for _, m := range (ticks{}).Ticks(low, high) {
			out = append(out, m.Label)
		}
		return strings.Join(out, " ")
	}
	require.Equal(t, "0.0 0.2 0.4 0.6 0.8 1.0", labels(0, 1))
	require.Equal(t, "−0.10 −0.05 0.00 0.05 0.10 0.15", labels(-0.1, 0.199))
	require.Equal(t, "−10 −5 0 5 10 15 20 25", labels(-11, 25.5))
	require.Equal(t, "1970 1980 1990 2000 2010 2020", labels(1965, 2020))
	require.Equal(t, "0 5e+06 1e+07 1.5e+07 2e+07 2.5e+07 3e+07 3.5e+07", labels(0, 3.9e7))
	require.Equal(t, "0 2e−07 4e−07 6e−07 8e−07 1e−06", strings.ReplaceAll(labels(0, 1e-6), "-", "−"))
	require.Equal(t, "2", labels(2, 2))
	require.Equal(t, "0", labels(0, math.Inf(1)))
}

func TestRuns(t *testing.T) {
	nan := math.NaN()
	require.Equal(t, [][2]int{{1, 3}, {4, 5}}, runs([]float64{nan, 1, 2, nan, 3, nan}))
	require.Equal(t, [][2]int{{0, 2}}, runs([]float64{1, 2}))
	require.Empty(t, runs([]float64{nan}))
	require.Empty(t, runs(nil))
}
