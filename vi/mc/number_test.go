package mc

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Numbers are written as encoding/json writes them, but for those that it does not, and read
// to the last bit.
func TestNumbersInJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	list := Numbers{0, math.Copysign(0, -1), 1e-6, 9.999e-7, 1e21, 9.99e20, 5e-324, math.MaxFloat64, 1e-10, 1e100, -1e-7}
	for range 10_000 {
		if x := math.Float64frombits(rng.Uint64()); !math.IsNaN(x) && !math.IsInf(x, 0) {
			list = append(list, x, rng.NormFloat64()*math.Pow10(rng.IntN(60)-30))
		}
	}
	for _, x := range list {
		want, err := json.Marshal(x)
		require.NoError(t, err)
		got, err := json.Marshal(Number(x))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
	}
	want, err := json.Marshal([]float64(list))
	require.NoError(t, err)
	list = append(list, math.NaN(), math.Inf(1), math.Inf(-1))
	got, err := json.Marshal(list)
	require.NoError(t, err)
	require.Equal(t, string(want[:len(want)-1])+`,"NaN","+Inf","-Inf"]`, string(got))
	var back Numbers
	require.NoError(t, json.Unmarshal(got, &back))
	require.Len(t, back, len(list))
	for i, x := range list {
		require.Equal(t, math.Float64bits(x), math.Float64bits(back[i]))
	}
	none, err := json.Marshal(Numbers(nil))
	require.NoError(t, err)
	require.Equal(t, "null", string(none))
}
