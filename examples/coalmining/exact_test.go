package main

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// enumerate gives the exact posterior of the change: the log evidence and the
// probability of each last year of the old rate. A rate with prior Gamma(1, ½)
// integrates out of its years in closed form, and within a year the change is
// uniform.
func enumerate(counts []float64) (evidence float64, p []float64) {
	segment := func(counts []float64) float64 {
		sum, logs := floats.Sum(counts), math.Log(0.5)
		for _, n := range counts {
			logs -= lgamma(n + 1)
		}
		return logs + lgamma(1+sum) - (1+sum)*math.Log(0.5+float64(len(counts)))
	}
	for k := 1; k < len(counts); k++ {
		p = append(p, segment(counts[:k])+segment(counts[k:])-math.Log(float64(len(counts)-1)))
	}
	evidence = floats.LogSumExp(p)
	for i := range p {
		p[i] = math.Exp(p[i] - evidence)
	}
	return evidence, p
}

// moments are the mean and sd of a change that is uniform within its year.
func moments(p []float64) (mean, sd float64) {
	years := make([]float64, len(p))
	for i := range years {
		years[i] = firstYear + float64(i) + 0.5
	}
	mean = stat.Mean(years, p)
	return mean, math.Sqrt(stat.MomentAbout(2, years, mean, p) + 1.0/12)
}

// variation is the total variation distance: the most by which they differ in
// the probability of anything about the last year.
func variation(p, q []float64) float64 { return floats.Distance(p, q, 1) / 2 }

// elboOf is the exact ELBO of a mean-field fit, θ = (μ, log s) of the change,
// of before and of after: the data's part needs only the probability of each
// guard and the moments of lognormal rates.
func elboOf(theta []float64) float64 {
	elbo := 3 * 0.5 * (1 + math.Log(2*math.Pi))
	for i := range 3 {
		elbo += theta[2*i+1] // entropy
	}
	change := distuv.Normal{Mu: theta[0], Sigma: math.Exp(theta[1])}
	elbo -= quad.Fixed(func(t float64) float64 { // the prior of a logistic coordinate
		u := change.Mu + math.Sqrt2*change.Sigma*t
		return (math.Abs(u) + 2*math.Log1p(math.Exp(-math.Abs(u)))) / math.SqrtPi
	}, math.Inf(-1), math.Inf(1), 40, quad.Hermite{}, 0)
	log, rate := [2]float64{theta[2], theta[4]}, [2]float64{}
	for i := range rate {
		rate[i] = math.Exp(log[i] + math.Exp(2*theta[3+2*i])/2)
		elbo += math.Log(0.5) - 0.5*rate[i] + log[i]
	}
	for i, n := range disasters {
		share := float64(i) / float64(len(disasters)-1)
		old := change.Survival(math.Log(share / (1 - share)))
		elbo += old*(n*log[0]-rate[0]) + (1-old)*(n*log[1]-rate[1]) - lgamma(n+1)
	}
	return elbo
}

func thetaOf(q family.Q) (theta []float64) {
	for i := range q.Dim() {
		theta = append(theta, q.Mean(i), math.Log(q.SD(i)))
	}
	return theta
}

// The fit is the best that a mean-field normal can be, and that is near the
// exact posterior: its mean within half a year, its sd less than a fifth too
// small, and no statement about the last year off by more than 0.25 (0.20 is
// what the lumps of the exact posterior at 1887 and 1896 cost a normal).
func TestChangeExact(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	evidence, exact := enumerate(disasters)
	wantMean, wantSD := moments(exact)
	assert.InDelta(t, 1890, wantMean, 1, "the answer that everybody finds")

	fit, err := fitted(context.Background(), vi.Settings{Steps: 2000, Seed: 1})
	require.NoError(t, err)
	got := lastYearOf(t, fit)
	assert.InDelta(t, 1, floats.Sum(got), 1e-12)
	mean, err := fit.Mean("change")
	require.NoError(t, err)
	sd, err := fit.SD("change")
	require.NoError(t, err)
	assert.InDelta(t, wantMean, mean, 0.5)
	assert.Less(t, sd, wantSD)
	assert.Greater(t, sd, 0.8*wantSD)
	assert.Less(t, variation(exact, got), 0.25)

	best, err := optimize.Minimize(optimize.Problem{Func: func(x []float64) float64 { return -elboOf(x) }},
		thetaOf(fit.Q), nil, &optimize.NelderMead{})
	require.NoError(t, err)
	elbo := elboOf(thetaOf(fit.Q))
	assert.Less(t, elbo, evidence)
	assert.Greater(t, elbo, -best.F-0.01)
	estimate, err := fit.ELBO(10000, 0)
	require.NoError(t, err)
	assert.InDelta(t, elbo, estimate.Mean, 5*estimate.SE)
	assert.Less(t, estimate.SE, 0.02)

	// Reparameterization alone learns nothing about the change.
	start, err := vi.StartAt(fit.Density, map[string]float64{"change": firstYear + 55.5})
	require.NoError(t, err)
	blind, err := fitted(context.Background(), vi.Settings{Estimator: vi.Reparam{}, Steps: 2000, Start: start, Seed: 1})
	require.NoError(t, err)
	assert.Greater(t, variation(exact, lastYearOf(t, blind)), 0.5)
}

// Importance weights bring the fit nearer to the exact posterior.
func TestImportanceExact(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	evidence, exact := enumerate(disasters)
	wantMean, wantSD := moments(exact)
	fit, err := fitted(context.Background(), vi.Settings{Steps: 2000, Seed: 1})
	require.NoError(t, err)
	weighted, err := fit.Importance(draws, 1)
	require.NoError(t, err)
	change := weighted.Latents[0]
	require.Less(t, change.Mean.SE, 0.1, "inconclusive: too few effective draws")
	assert.InDelta(t, wantMean, change.Mean.Mean, 5*change.Mean.SE)
	assert.Less(t, math.Abs(change.SD-wantSD), math.Abs(change.FitSD-wantSD))
	assert.InDelta(t, evidence, weighted.LogEvidence.Mean, 5*weighted.LogEvidence.SE)

	// What the decision rests on: the probability that the old rate is over.
	for _, year := range []int{1892, 1897} {
		p := floats.Sum(exact[:year-firstYear])
		assert.InDelta(t, p, overBy(weighted, year), 5*math.Sqrt(p*(1-p)/weighted.ESS), year)
	}
}

func lastYearOf(t *testing.T, fit *vi.Posterior) []float64 {
	old, err := fit.Summary().Of("old")
	require.NoError(t, err)
	return lastYear(old.Guards)
}

// The enumeration's evidence for one change is what integrating the program's
// own density over the two rates gives.
func TestEnumerateAgainstDensity(t *testing.T) {
	density, err := mines(disasters).Compile()
	require.NoError(t, err)
	evidence, exact := enumerate(disasters)
	const share, nodes = 0.36, 24 // the change is in 1890
	z := []float64{math.Log(share / (1 - share)), 0, 0}
	year := 1851 + 111*share
	inner := func(lo, hi float64, i int, f func() float64) float64 {
		return quad.Fixed(func(u float64) float64 {
			z[i] = u
			return f()
		}, lo, hi, nodes, quad.Legendre{}, 1)
	}
	sum := inner(0.4, 1.8, 1, func() float64 {
		return inner(-1.2, 0.9, 2, func() float64 {
			logProb, err := density.LogProb(z)
			require.NoError(t, err)
			return math.Exp(logProb - evidence)
		})
	})
	// Per unit of z[0], of which a year has dz/dyear = 1/(111·share·(1−share)).
	assert.InEpsilon(t, exact[int(year)-firstYear], sum/(111*share*(1-share)), 1e-6)
}
