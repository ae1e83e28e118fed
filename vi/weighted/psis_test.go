package weighted

import (
	"cmp"
	"encoding/json"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/vi/mc"
)

var seed = flag.Uint64("seed", 1, "seed of the statistical tests")

// psisCase is a case of testdata/psis.json, by R's package loo.
type psisCase struct {
	Name       string    `json:"name"`
	Tail       int       `json:"tail"`
	K          string    `json:"pareto_k"` // a number or Inf
	ESS        float64   `json:"n_eff"`
	LogRatios  []float64 `json:"log_ratios"`
	LogWeights []float64 `json:"log_weights"`
}

func psisCases(t testing.TB) []psisCase {
	t.Helper()
	data, err := os.ReadFile("testdata/psis.json")
	require.NoError(t, err)
	var cases []psisCase
	require.NoError(t, json.Unmarshal(data, &cases))
	require.Len(t, cases, 12)
	return cases
}

func TestParetoSmoothIsLoo(t *testing.T) {
	for _, c := range psisCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			k, err := strconv.ParseFloat(c.K, 64)
			require.NoError(t, err)
			got, err := ParetoSmooth(c.LogRatios)
			require.NoError(t, err)
			require.Equal(t, c.Tail, got.Tail)
			if math.IsInf(k, 1) {
				require.Equal(t, k, got.K)
			} else {
				require.InDelta(t, k, got.K, 1e-9)
			}
			require.InEpsilon(t, c.ESS, got.ESS, 1e-9)
			scale := 1 + floats.Norm(c.LogRatios, math.Inf(1))
			require.InDeltaSlice(t, c.LogWeights, got.LogWeights, 1e-12*scale+1e-9)
		})
	}
}

// The weights r = exp(k·E) with E exponential have a Pareto tail of shape k: the
// estimate finds it, but for the prior's pull towards 0.5.
func TestParetoSmoothFindsTheShape(t *testing.T) {
	const n, repeats = 10000, 80
	tail := float64(tailLength(n))
	for _, k := range []float64{0.2, 0.7, 1.4} {
		var m mc.Moments
		for r := range repeats {
			rng := rand.New(rand.NewPCG(*seed, uint64(r)))
			ratios := make([]float64, n)
			for i := range ratios {
				ratios[i] = k * rng.ExpFloat64()
			}
			s, err := ParetoSmooth(ratios)
			require.NoError(t, err)
			m.Add(s.K)
		}
		want := (k*tail + 5) / (tail + 10)
		require.Less(t, math.Abs(m.Mean-want), 5*m.SE()+0.02, "k = %v", k) // the estimate's own bias is of order 1/tail
		require.Less(t, 5*m.SE(), 0.1, "inconclusive")
	}
}

func TestParetoSmoothShifts(t *testing.T) {
	c := psisCases(t)[1]
	shifted := make([]float64, len(c.LogRatios))
	for i, x := range c.LogRatios {
		shifted[i] = x + 64
	}
	a, err := ParetoSmooth(c.LogRatios)
	require.NoError(t, err)
	b, err := ParetoSmooth(shifted)
	require.NoError(t, err)
	require.InDelta(t, a.K, b.K, 1e-10)
	require.InEpsilon(t, a.ESS, b.ESS, 1e-10)
	require.InDelta(t, a.LogWeights[3]+64, b.LogWeights[3], 1e-10)
}

// Weights that are equal but for rounding are perfect, not hopeless.
func TestParetoSmoothConstant(t *testing.T) {
	ratios := make([]float64, 1000)
	for i := range ratios {
		ratios[i] = -40 + 1e-14*float64(i%3)
	}
	s, err := ParetoSmooth(ratios)
	require.NoError(t, err)
	require.Equal(t, math.Inf(-1), s.K)
	require.InDelta(t, 1000, s.ESS, 1e-6)
	require.InDeltaSlice(t, ratios, s.LogWeights, 1e-13)
}

func TestParetoSmoothZeroWeights(t *testing.T) {
	ratios := make([]float64, 500)
	rng := rand.New(rand.NewPCG(*seed, 0))
	for i := range ratios {
		ratios[i] = rng.NormFloat64()
		if i%2 == 0 {
			ratios[i] = math.Inf(-1)
		}
	}
	s, err := ParetoSmooth(ratios)
	require.NoError(t, err)
	require.False(t, math.IsInf(s.K, 0))
	require.Less(t, s.ESS, 250.0)
	require.True(t, math.IsInf(s.LogWeights[0], -1))
}

func TestParetoSmoothErrors(t *testing.T) {
	for want, ratios := range map[string][]float64{
		"weighted: log importance ratio 1 is NaN":           {0, math.NaN()},
		"weighted: log importance ratio 0 is +Inf":          {math.Inf(1), 0},
		"weighted: none of 2 importance ratios is positive": {math.Inf(-1), math.Inf(-1)},
		"weighted: none of 0 importance ratios is positive": nil,
	} {
		_, err := ParetoSmooth(ratios)
		require.EqualError(t, err, want)
	}
}

func TestKThreshold(t *testing.T) {
	require.InDelta(t, 0.5, KThreshold(100), 1e-15)
	require.InDelta(t, 2.0/3, KThreshold(1000), 1e-15)
	require.Equal(t, 0.7, KThreshold(2200))
	require.Equal(t, 0.7, KThreshold(1000000))
}

// largest is the end of a stable sort.
func TestLargest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		n := 1 + rng.IntN(50)
		x, order := make([]float64, n+rng.IntN(200)), []int(nil)
		for i := range x {
			x[i] = float64(rng.IntN(30))
			order = append(order, i)
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
		require.Equal(t, order[len(x)-n:], largest(x, n))
	}
}
