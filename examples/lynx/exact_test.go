package main

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/restarts"
	"github.com/facetvi/facet/vi"
)

// years are those on one side of a threshold, as a regression of the growth on
// 1, the growth before and the distance from the centre, by its sums.
type years struct {
	xx *mat.SymDense
	xy *mat.VecDense
	yy float64
	n  float64
}

func yearsOf(x []float64, in func(lag float64) bool, centre float64) years {
	y := years{xx: mat.NewSymDense(3, nil), xy: mat.NewVecDense(3, nil)}
	for t := 2; t < len(x); t++ {
		if in(x[t-2]) {
			v, growth := mat.NewVecDense(3, []float64{1, x[t-1] - x[t-2], x[t-2] - centre}), x[t]-x[t-1]
			y.xx.SymRankOne(y.xx, 1, v)
			y.xy.AddScaledVec(y.xy, growth, v)
			y.yy, y.n = y.yy+growth*growth, y.n+1
		}
	}
	return y
}

// given is the log evidence given the noise's scale s, and the posterior mean of
// the coefficients, whose priors are standard normal.
func (y years) given(s float64) (float64, mat.VecDense) {
	v := s * s
	a := mat.NewSymDense(3, nil)
	a.ScaleSym(1/v, y.xx)
	for i := range 3 {
		a.SetSym(i, i, a.At(i, i)+1)
	}
	var chol mat.Cholesky
	if !chol.Factorize(a) {
		panic("lynx: the normal equations are singular")
	}
	var mean mat.VecDense
	if err := chol.SolveVecTo(&mean, y.xy); err != nil {
		panic(err)
	}
	mean.ScaleVec(1/v, &mean)
	return -0.5*(y.n*math.Log(2*math.Pi*v)+y.yy/v+chol.LogDet()) + 0.5*mat.Dot(&mean, y.xy)/v, mean
}

// evidence integrates the noise's scale out by quadrature in its logarithm.
func (y years) evidence() (logp float64, mean []float64) {
	const h = 0.05
	var logs []float64
	var means [][]float64
	for u := math.Log(0.05); u < math.Log(2); u += h {
		logp, m := y.given(math.Exp(u))
		logs = append(logs, logp+math.Log(2*h)+u+distuv.Normal{Sigma: 0.5}.LogProb(math.Exp(u)))
		means = append(means, m.RawVector().Data)
	}
	logp = floats.LogSumExp(logs)
	mean = make([]float64, 3)
	for i, m := range means {
		floats.AddScaled(mean, math.Exp(logs[i]-logp), m)
	}
	return logp, mean
}

// exact is the posterior of the threshold on a fine grid, and the posterior
// means of the coefficients, low ones first. The data are the same for all
// thresholds between two neighbouring lags.
type exact struct {
	at, p, coefficients []float64
	evidence            float64
}

func enumerate(x []float64) exact {
	lags := slices.Sorted(slices.Values(x[:len(x)-2]))
	const h = 0.001
	e := exact{coefficients: make([]float64, 6)}
	cells := map[int][]float64{} // by the number of low lags: coefficients
	logs := map[int]float64{}
	var low []int
	for c := 1.3 + h/2; c < 4.5; c += h {
		k, _ := slices.BinarySearch(lags, c)
		if _, ok := logs[k]; !ok {
			l1, m1 := yearsOf(x, func(lag float64) bool { return lag <= c }, centre["low"]).evidence()
			l2, m2 := yearsOf(x, func(lag float64) bool { return lag > c }, centre["high"]).evidence()
			logs[k], cells[k] = l1+l2, append(m1, m2...)
		}
		low = append(low, k)
		e.at = append(e.at, c)
		e.p = append(e.p, logs[k]+distuv.Normal{Mu: 3, Sigma: 0.5}.LogProb(c)+math.Log(h))
	}
	e.evidence = floats.LogSumExp(e.p)
	for i := range e.p {
		e.p[i] = math.Exp(e.p[i] - e.evidence)
		floats.AddScaled(e.coefficients, e.p[i], cells[low[i]])
	}
	return e
}

// tenths are probabilities of [2, 2.1), [2.1, 2.2), …, and the ends hold the rest.
func tenths(at, weight []float64) []float64 {
	p := make([]float64, 20)
	for i, c := range at {
		p[min(max(int(10*c)-20, 0), 19)] += weight[i]
	}
	return p
}

// The sum over the windows against the exact posterior: mean and sd of the
// threshold within 0.03, no statement about its tenths off by more than 0.12,
// and coefficients within a quarter of their standard deviation.
func TestThresholdExact(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	x := logs(trapped)
	want := enumerate(x)
	wantMean := stat.Mean(want.at, want.p)
	wantSD := math.Sqrt(stat.MomentAbout(2, want.at, wantMean, want.p))
	assert.InDelta(t, 3.2, wantMean, 0.1, "what Tong and others find")

	fits, err := profile(context.Background(), x, 300, 1)
	require.NoError(t, err)
	d := restarts.Draws(fits, 10000, 0)
	got := d["threshold"]
	mean, sd := stat.MeanStdDev(got, nil)
	assert.InDelta(t, wantMean, mean, 0.03)
	assert.InDelta(t, wantSD, sd, 0.03)
	equal := make([]float64, len(got))
	floats.AddConst(1/float64(len(got)), equal)
	assert.Less(t, floats.Distance(tenths(want.at, want.p), tenths(got, equal), 1)/2, 0.12)
	for i, name := range []string{"base low", "momentum low", "pull low", "base high", "momentum high", "pull high"} {
		mean, sd := stat.MeanStdDev(d[name], nil)
		assert.InDelta(t, want.coefficients[i], mean, sd/4, name)
	}

	// Windows a tenth apart add up to ten times the posterior; each ELBO is a bound.
	var elbos []float64
	for _, e := range fits {
		elbos = append(elbos, e.ELBO.Mean-math.Log(10))
	}
	assert.Less(t, floats.LogSumExp(elbos), want.evidence)
	assert.Greater(t, floats.LogSumExp(elbos), want.evidence-1)
}

// One fit of the whole finds the best threshold and is too sure of it;
// reparameterization alone learns nothing about it.
func TestOneFit(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	m, _ := population(logs(trapped))
	d, err := m.Compile()
	require.NoError(t, err)
	start, err := start(d, 3)
	require.NoError(t, err)
	for _, e := range []vi.Estimator{vi.Boundary{}, vi.Reparam{}} {
		fit, err := vi.Fit(context.Background(), d, vi.Settings{Estimator: e, Steps: 2000, Start: start, Seed: 1})
		require.NoError(t, err)
		sd, err := fit.SD("threshold")
		require.NoError(t, err)
		mean, err := fit.Mean("threshold")
		require.NoError(t, err)
		if (e == vi.Boundary{}) {
			assert.InDelta(t, 3.30, mean, 0.02)
			assert.Less(t, sd, 0.05)
		} else {
			assert.InDelta(t, 3, mean, 0.1)
			assert.Greater(t, sd, 0.4)
		}
	}
}

// Least squares on the sums that the evidence is made of: the model that R's
// tsDyn::setar(log10(lynx), m = 2, thDelay = 1) fits, with the threshold at 3.31
// and these coefficients of 1, x_{t−1} and x_{t−2}. At Tong's threshold of 3.25
// they are within 0.04 of those that he prints for these data (1990): 0.62, 1.25,
// −0.43 and 2.25, 1.52, −1.24.
func TestLeastSquares(t *testing.T) {
	x := logs(trapped)
	lags := slices.Sorted(slices.Values(x[:len(x)-2]))
	fit := func(c float64) (squares float64, coefficients []float64) {
		for _, side := range []struct {
			name string
			in   func(float64) bool
		}{
			{"low", func(lag float64) bool { return lag <= c }},
			{"high", func(lag float64) bool { return lag > c }},
		} {
			y := yearsOf(x, side.in, centre[side.name])
			var b mat.VecDense
			require.NoError(t, b.SolveVec(y.xx, y.xy))
			squares += y.yy - mat.Dot(&b, y.xy)
			coefficients = append(coefficients, b.AtVec(0)-b.AtVec(2)*centre[side.name], 1+b.AtVec(1), b.AtVec(2)-b.AtVec(1))
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
	x := logs(trapped)
	m, _ := population(x)
	d, err := m.Compile()
	require.NoError(t, err)
	const c = 3.05
	z := []float64{c, 0.1, 0.3, -0.2, math.Log(0.2), -0.3, 0.5, -0.6, math.Log(0.3)}
	got, err := d.LogProb(z)
	require.NoError(t, err)
	want := distuv.Normal{Mu: 3, Sigma: 0.5}.LogProb(c)
	for i, y := range []years{
		yearsOf(x, func(lag float64) bool { return lag <= c }, centre["low"]),
		yearsOf(x, func(lag float64) bool { return lag > c }, centre["high"]),
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
		logp, mean := y.given(s)
		a := mat.NewSymDense(3, nil)
		a.ScaleSym(1/(s*s), y.xx)
		for k := range 3 {
			a.SetSym(k, k, a.At(k, k)+1)
		}
		joint := -0.5 * (y.n*math.Log(2*math.Pi*s*s) + (y.yy-2*mat.Dot(&mean, y.xy)+mat.Inner(&mean, y.xx, &mean))/(s*s))
		joint += -1.5*math.Log(2*math.Pi) - 0.5*mat.Dot(&mean, &mean)
		assert.InDelta(t, joint, logp-1.5*math.Log(2*math.Pi)+0.5*math.Log(mat.Det(a)), 1e-9)
	}
	assert.InDelta(t, want, got, 1e-9)
}
