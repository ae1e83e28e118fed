package mc

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
)

// Moments are those of the textbook, however the values are divided.
func TestMoments(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	values := make([]float64, 1000)
	var whole, left, right, none Moments
	for k := range values {
		values[k] = 1e6 + rng.NormFloat64()
		whole.Add(values[k])
		if k < 317 {
			left.Add(values[k])
		} else {
			right.Add(values[k])
		}
	}
	left.Merge(right)
	left.Merge(none)
	mean, sd := stat.MeanStdDev(values, nil)
	for _, m := range []Moments{whole, left} {
		require.Equal(t, 1000, m.N)
		require.InEpsilon(t, mean, m.Mean, 1e-14)
		require.InEpsilon(t, sd*sd, m.Variance(), 1e-8)
		require.InEpsilon(t, sd/math.Sqrt(1000), m.SE(), 1e-8)
		require.Equal(t, Estimate{m.Mean, m.SE()}, m.Estimate())
	}
	require.Equal(t, whole.Estimate(), Mean(values))
}

// A value of −Inf makes the mean −Inf, wherever it comes; NaN stays NaN.
func TestMomentsOfZeroDensity(t *testing.T) {
	inf := math.Inf(-1)
	for _, values := range [][]float64{{inf, 1, 2}, {1, inf, 2}, {1, 2, inf}, {inf, inf}, {inf}} {
		require.Equal(t, Estimate{Value: inf}, Mean(values), "%v", values)
		var all, other Moments
		all.Add(3)
		for _, v := range values {
			other.Add(v)
		}
		all.Merge(other)
		require.Equal(t, Estimate{Value: inf}, all.Estimate(), "merged %v", values)
	}
	require.True(t, math.IsNaN(Mean([]float64{1, math.NaN()}).Value))
	require.Equal(t, Estimate{Value: inf}, Estimate{Value: inf}.Plus(Estimate{1, 2}))
	require.Equal(t, Estimate{Value: inf}, Estimate{1, 2}.Plus(Estimate{Value: inf}))
	require.Equal(t, Estimate{4, 5}, Estimate{1, 3}.Plus(Estimate{3, 4}))
}

func TestEstimateText(t *testing.T) {
	require.Equal(t, "-1.5 ± 0.25", Estimate{-1.5, 0.25}.String())
	require.Equal(t, "-1.5", Estimate{-1.5, 0}.String())
	for _, want := range []Estimate{{-1.5, 0.1 + 0.2}, {math.Inf(-1), 0}, {math.NaN(), math.Inf(1)}, {5e-324, math.MaxFloat64}} {
		data, err := json.Marshal(want)
		require.NoError(t, err)
		var got Estimate
		require.NoError(t, json.Unmarshal(data, &got))
		for _, pair := range [][2]float64{{want.Value, got.Value}, {want.SE, got.SE}} {
			require.True(t, pair[0] == pair[1] || math.IsNaN(pair[0]) && math.IsNaN(pair[1]), "%s", data)
		}
	}
}

// As many digits as two digits of the standard error need.
func TestEstimateDigits(t *testing.T) {
	for want, e := range map[string]Estimate{
		"-2500217.3 ± 5":                  {-2500217.3, 5},
		"-2.5e+06 ± 1.2e+05":              {-2500000, 123456},
		"1.5 ± 0.25":                      {1.5, 0.25},
		"-291.96234 ± 0.00042":            {-291.962342, 0.00042},
		"-2.50022e+06":                    {-2500217.3, 0},
		"0 ± 0.1":                         {0, 0.1},
		"-Inf":                            {math.Inf(-1), 0},
		"NaN ± NaN":                       {math.NaN(), math.NaN()},
		"1 ± +Inf":                        {1, math.Inf(1)},
		"1.0000000000000001e+300 ± 1e-05": {1e300, 1e-5},
	} {
		require.Equal(t, want, e.String())
	}
	require.Equal(t, "-291.962 ± 0.042", Estimate{-291.962342, 0.042}.Text(4))
	require.Equal(t, "-292 ± 4.2", Estimate{-291.962342, 4.2}.Text(4))
}
