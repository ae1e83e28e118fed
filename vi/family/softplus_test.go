package family

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

// softplus and its slope are exact to rounding from where eˣ underflows to where
// 1 + eˣ is eˣ, around 0, and where results are subnormal.
func TestSoftplusAtAllSizes(t *testing.T) {
	for e := -300.0; e <= 3; e += 0.01 {
		for _, x := range []float64{math.Pow(10, e), -math.Pow(10, e)} {
			value, slope := softplus(x)
			want, logistic := max(x, 0)+math.Log1p(math.Exp(-math.Abs(x))), 1/(1+math.Exp(-x))
			if x < 0 {
				logistic = math.Exp(x) / (1 + math.Exp(x))
			}
			require.InDelta(t, want, value, 3e-16*want+5e-324, "at %v", x)
			require.InDelta(t, logistic, slope, 3e-16*logistic+5e-324, "at %v", x)
		}
	}
	for x, want := range map[float64][2]float64{math.Inf(1): {math.Inf(1), 1}, math.Inf(-1): {0, 0}, 0: {math.Ln2, 0.5}} {
		value, slope := softplus(x)
		require.Equal(t, want, [2]float64{value, slope}, "at %v", x)
	}
	value, slope := softplus(math.NaN())
	require.True(t, math.IsNaN(value) && math.IsNaN(slope))
}

// Independent normals have the means and the scales that they are given, whatever
// their size and the parameters; a copy shares nothing with them.
func TestIndependent(t *testing.T) {
	mean, sd := []float64{1, -2, 3}, []float64{1e-300, 0.5, 1e6}
	paper := Softplus{}.At(make([]float64, 6))
	paper.Place(mean, sd)
	require.Equal(t, paper, Softplus{}.At(paper.Theta()))
	for _, q := range []Gaussian{Independent(mean, sd), paper} {
		want := 0.0
		for i := range mean {
			require.Equal(t, mean[i], q.Mean(i))
			require.InEpsilon(t, sd[i], q.SD(i), 1e-12)
			want += distuv.Normal{Mu: mean[i], Sigma: sd[i]}.Entropy()
		}
		require.InDelta(t, want, q.Entropy(), 1e-9)
		clone := q.Clone()
		require.Equal(t, q, clone)
		clone.Set([]float64{9, 9, 9, 9, 9, 9})
		require.Equal(t, mean[0], q.Mean(0))
		require.NotEqual(t, q, clone)
	}
	require.Panics(t, func() { Independent(mean, sd[:2]) })
	require.Panics(t, func() { paper.Set(make([]float64, 5)) })
	require.Panics(t, func() { Softplus{}.At(make([]float64, 5)) })
}
