package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// In each of many columns a log sum is that of pairs, one after the other, and its slopes are those of these: of numbers that are near one another
// and far apart, infinite and NaN.
func TestLogSum(t *testing.T) {
	const rows, columns = 3, 2*part + 3
	rng := rand.New(rand.NewPCG(1, 2))
	odd := []float64{math.Inf(1), math.Inf(-1), math.NaN(), 1e308, -1e308}
	for _, many := range []int{2, 3, 7} {
		in, out := make([]Matrix, many), NewMatrix((1+many)*rows, columns)
		for j := range in {
			in[j] = NewMatrix(rows, columns)
			for i := range in[j].Data {
				in[j].Data[i] = 300 * math.Pow(rng.NormFloat64(), 3)
				if i > columns && rng.IntN(20) == 0 { // finite in the first row
					in[j].Data[i] = odd[rng.IntN(len(odd))]
				}
			}
		}
		LogSum{}.Eval(out, in)
		alone := NewMatrix(rows, columns)
		LogSum{Alone: true}.Eval(alone, in)
		for i, v := range alone.Data {
			same(t, out.Data[i], v, 0)
		}
		g, grad := NewMatrix(rows, columns), make([]Matrix, many)
		for i := range g.Data {
			g.Data[i] = float64(rng.IntN(3))
		}
		for j := range in {
			grad[j] = NewMatrix(rows, columns)
			LogSumShare{j}.Eval(grad[j], []Matrix{g, out})
		}
		for i, g := range g.Data {
			sum := in[0].Data[i]
			for _, a := range in[1:] {
				sum = logAddExp(sum, a.Data[i])
			}
			same(t, sum, out.Data[i], 1e-15+1e-14*math.Abs(sum))
			for j, a := range in {
				share := math.Exp(a.Data[i] - sum)
				if math.IsInf(sum, -1) {
					share = 1 / float64(many)
				}
				if g == 0 {
					require.Zero(t, grad[j].Data[i])
				} else if !math.IsInf(sum, 1) {
					same(t, g*share, grad[j].Data[i], 1e-13*(1+math.Abs(sum)))
				}
			}
		}
	}
	out := NewMatrix(3, 1) // what is left of a small number beside 1
	LogSum{}.Eval(out, []Matrix{Column([]float64{0}), Column([]float64{-50})})
	require.InEpsilon(t, math.Exp(-50), out.Data[0], 1e-14)
	require.InEpsilon(t, math.Exp(-50), out.Data[2], 1e-14)
}

// same requires numbers to be as near one another, or both NaN or infinite.
func same(t *testing.T, want, got, tolerance float64) {
	t.Helper()
	if want == got || math.IsNaN(want) && math.IsNaN(got) {
		return
	}
	require.InDelta(t, want, got, tolerance)
}
