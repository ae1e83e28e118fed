package loo

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// columns are the log likelihoods of a file, observations × draws, and the observations' names.
func columns(t *testing.T, name string) (names []string, x [][]float64) {
	file, err := os.Open("testdata/" + name + ".csv")
	require.NoError(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	for i := range rows[0] {
		names = append(names, fmt.Sprintf("y[%d]", i))
		x = append(x, nil)
		for _, row := range rows {
			v, err := strconv.ParseFloat(row[i], 64)
			require.NoError(t, err)
			x[i] = append(x[i], v)
		}
	}
	return names, x
}

// R's package loo says the same of the same draws: elpd, standard errors, k-hat, differences, stacking.
func TestLikeR(t *testing.T) {
	text, err := os.ReadFile("testdata/loo.json")
	require.NoError(t, err)
	var all map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(text, &all))
	of := map[string]Result{}
	for _, name := range []string{"schools", "islands", "plain"} {
		var want struct {
			ELPD, SE, P  float64
			PSE          float64 `json:"p_se"`
			Pointwise, K []float64
		}
		require.NoError(t, json.Unmarshal(all[name], &want))
		names, x := columns(t, name)
		r, err := Of(names, x, nil, nil)
		require.NoError(t, err)
		require.InDelta(t, want.ELPD, r.ELPD.Value, 1e-7)
		require.InDelta(t, want.SE, r.ELPD.SE, 1e-7)
		require.InDelta(t, want.P, r.Params.Value, 1e-7)
		require.InDelta(t, want.PSE, r.Params.SE, 1e-7)
		for i, p := range r.Points {
			require.InDelta(t, want.Pointwise[i], p.ELPD.Value, 1e-8)
			require.InDelta(t, want.K[i], p.K, 1e-8)
		}
		of[name] = r
	}
	var difference, se float64
	var stacking []float64
	for name, v := range map[string]any{"difference": &difference, "difference_se": &se, "stacking": &stacking} {
		require.NoError(t, json.Unmarshal(all[name], v))
	}
	got, err := of["islands"].Minus(of["plain"])
	require.NoError(t, err)
	require.InDelta(t, difference, got.Value, 1e-7)
	require.InDelta(t, se, got.SE, 1e-7)
	weights, err := Stack(of["islands"], of["plain"])
	require.NoError(t, err)
	for k, w := range stacking {
		require.InDelta(t, w, weights[k], 1e-3)
	}
}

// Draws of which each is there as often as its weight says are the draws with their weights, but for the fit of the tail.
func TestWeights(t *testing.T) {
	names, x := columns(t, "schools")
	n := len(x[0])
	weights := make([]float64, n)
	twice := make([][]float64, len(x))
	for s := range weights {
		copies := 1
		if x[0][s] > -4.5 { // where the first is likely
			copies = 3
		}
		weights[s] = float64(copies)
		for i := range x {
			twice[i] = append(twice[i], slices.Repeat(x[i][s:s+1], copies)...)
		}
	}
	one, err := Of(names, x, weights, nil)
	require.NoError(t, err)
	two, err := Of(names, twice, nil, nil)
	require.NoError(t, err)
	require.InDelta(t, two.ELPD.Value, one.ELPD.Value, 0.01)
	plain, err := Of(names, x, nil, nil)
	require.NoError(t, err)
	require.Greater(t, math.Abs(plain.ELPD.Value-two.ELPD.Value), 0.03) // weights count
}

// Chains of which all draws are the same tell as much as one draw each.
func TestChains(t *testing.T) {
	names, x := columns(t, "schools")
	times, chains := make([][]float64, len(x)), []int{}
	for range 4 {
		for c := range x[0] {
			chains = append(chains, c)
		}
		for i := range x {
			times[i] = append(times[i], x[i]...)
		}
	}
	one, err := Of(names, x, nil, nil)
	require.NoError(t, err)
	of, err := Of(names, times, nil, chains)
	require.NoError(t, err)
	independent, err := Of(names, times, nil, nil)
	require.NoError(t, err)
	require.InEpsilon(t, one.MonteCarlo, of.MonteCarlo, 0.05)
	require.InEpsilon(t, one.MonteCarlo/2, independent.MonteCarlo, 0.05) // chains count
}

// Weights of predictions are those that maximise their logarithm, in closed form: of two models which are right in turns.
func TestStack(t *testing.T) {
	model := func(elpd ...float64) (r Result) {
		for i, x := range elpd {
			r.Points = append(r.Points, Point{Name: fmt.Sprint(i)})
			r.Points[i].ELPD.Value = x
		}
		return r
	}
	weights, err := Stack(model(0, -900, 0, 0), model(-900, 0, -900, -900))
	require.NoError(t, err)
	require.InDelta(t, 0.75, weights[0], 1e-6)
	require.InDelta(t, 0.25, weights[1], 1e-6)
	_, err = Stack(model(0), model(0, 0))
	require.ErrorContains(t, err, "1 observations and 2, by model 2")
}

func TestErrors(t *testing.T) {
	for want, x := range map[string][][]float64{
		"of 0 observations with 1 names": {},
		"y: log importance":              {nil},
		"y: weighted: log importance":    {{math.NaN(), 0}},
	} {
		if want == "y: log importance" {
			want = "none of 0"
		}
		_, err := Of([]string{"y"}, x, nil, nil)
		require.ErrorContains(t, err, want)
	}
}
