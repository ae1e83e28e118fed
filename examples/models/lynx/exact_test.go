//go:build long

package lynx

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// A grid of half the width changes nothing.
func TestExact(t *testing.T) {
	x := Logs(Trapped)
	a, finer := Exact(), enumerate(x, 0.025)
	assert.Len(t, a.Guards, len(x)-2)
	assert.InDelta(t, finer.LogEvidence, a.LogEvidence, 1e-8)
	assert.InDelta(t, one(x, 0.025), OneLogEvidence(), 1e-8)
	assert.InDeltaSlice(t, finer.Guards, a.Guards, 1e-8)
	for i, m := range finer.Latents {
		assert.InDelta(t, m.Mean, a.Latents[i].Mean, 1e-7*m.SD)
		assert.InEpsilon(t, m.SD, a.Latents[i].SD, 1e-7)
	}
	sum := 0.0
	for _, in := range a.Intervals {
		sum += in.Prob
	}
	assert.InDelta(t, 1, sum, 1e-12)
	assert.InDelta(t, 1, a.Below(10), 1e-12)
	assert.InDelta(t, 3.23, a.Latents[0].Mean, 0.005)
	assert.InDelta(t, 0.15, a.Latents[0].SD, 0.005)
	t.Logf("log evidence %.6f, of one regime %.6f, latents %.4f", a.LogEvidence, OneLogEvidence(), a.Latents)
}

// Least squares on the sums that the evidence is made of: the model that R's
// tsDyn::setar(log10(lynx), m = 2, thDelay = 1) fits, with the threshold at 3.31
// and these coefficients of 1, x_{t−1} and x_{t−2}. At Tong's threshold of 3.25
// they are within 0.04 of those that he prints for these data (1990): 0.62, 1.25,
// −0.43 and 2.25, 1.52, −1.24.
func TestLeastSquares(t *testing.T) {
	x := Logs(Trapped)
	lags := slices.Sorted(slices.Values(x[:len(x)-2]))
	fit := func(c float64) (squares float64, coefficients []float64) {
		for _, side := range []struct {
			name string
			in   func(float64) bool
		}{
			{"low", func(lag float64) bool { return lag <= c }},
			{"high", func(lag float64) bool { return lag > c }},
		} {
			y := yearsOf(x, side.in, Centre[side.name])
			var b mat.VecDense
			require.NoError(t, b.SolveVec(y.xx, y.xy))
			squares += y.yy - mat.Dot(&b, y.xy)
			coefficients = append(coefficients, b.AtVec(0)-b.AtVec(2)*Centre[side.name], 1+b.AtVec(1), b.AtVec(2)-b.AtVec(1))
		}
		return squares, coefficients
	}
	best, threshold := math.Inf(1), 0.0
	for _, c := range lags[15 : len(lags)-15] {
		if squares, _ := fit(c); squares < best {
			best, threshold = squares, c
		}
	}
	assert.InDelta(t, 3.31, threshold, 0.005)
	_, coefficients := fit(threshold)
	assert.InDeltaSlice(t, []float64{0.588, 1.264, -0.428, 1.166, 1.599, -1.012}, coefficients, 0.0006)
	_, coefficients = fit(3.25)
	assert.InDeltaSlice(t, []float64{0.62, 1.25, -0.43, 2.25, 1.52, -1.24}, coefficients, 0.04)
}

// The program's density is the evidence's: with the coefficients and the noise
// given, it is that of two regressions.
func TestEvidenceAgainstDensity(t *testing.T) {
	x := Logs(Trapped)
	d, err := Model(x).Compile()
	require.NoError(t, err)
	assert.Len(t, d.Named("high"), len(x)-2)
	const c = 3.05
	z := []float64{c, 0.1, 0.3, -0.2, math.Log(0.2), -0.3, 0.5, -0.6, math.Log(0.3)}
	got, err := d.LogProb(z)
	require.NoError(t, err)
	want := distuv.Normal{Mu: 3, Sigma: 0.5}.LogProb(c)
	for i, y := range []years{
		yearsOf(x, func(lag float64) bool { return lag <= c }, Centre["low"]),
		yearsOf(x, func(lag float64) bool { return lag > c }, Centre["high"]),
	} {
		side := z[1+4*i : 5+4*i]
		s := math.Exp(side[3])
		b := mat.NewVecDense(3, side[:3])
		squares := y.yy - 2*mat.Dot(b, y.xy) + mat.Inner(b, y.xx, b)
		want += -0.5*(y.n*math.Log(2*math.Pi*s*s)+squares/(s*s)) + math.Ln2 + distuv.Normal{Sigma: 0.5}.LogProb(s) + side[3]
		for _, b := range side[:3] {
			want += distuv.UnitNormal.LogProb(b)
		}
		// Bayes: given s, prior times likelihood is evidence times posterior, here at its mean.
		logp, mean, cov := y.given(s)
		joint := -0.5 * (y.n*math.Log(2*math.Pi*s*s) + (y.yy-2*mat.Dot(&mean, y.xy)+mat.Inner(&mean, y.xx, &mean))/(s*s))
		joint += -1.5*math.Log(2*math.Pi) - 0.5*mat.Dot(&mean, &mean)
		assert.InDelta(t, joint, logp-1.5*math.Log(2*math.Pi)-0.5*math.Log(mat.Det(&cov)), 1e-9)
	}
	assert.InDelta(t, want, got, 1e-9)
}
