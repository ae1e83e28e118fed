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
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/models/coalmining"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
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
	for i, n := range coalmining.Disasters {
		share := float64(i) / float64(len(coalmining.Disasters)-1)
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
	exact := coalmining.Exact()
	want := exact.Latents[0]
	assert.InDelta(t, 1890, want.Mean, 1, "the answer that everybody finds")

	fit, err := fitted(context.Background(), vi.Settings{Steps: 2000, Seed: 1})
	require.NoError(t, err)
	got := lastYearOf(t, fit)
	assert.InDelta(t, 1, floats.Sum(got), 1e-12)
	mean, err := fit.Mean("change")
	require.NoError(t, err)
	sd, err := fit.SD("change")
	require.NoError(t, err)
	assert.InDelta(t, want.Mean, mean, 0.5)
	assert.Less(t, sd, want.SD)
	assert.Greater(t, sd, 0.8*want.SD)
	assert.Less(t, variation(exact.LastYear, got), 0.25)

	best, err := optimize.Minimize(optimize.Problem{Func: func(x []float64) float64 { return -elboOf(x) }},
		thetaOf(fit.Q), nil, &optimize.NelderMead{})
	require.NoError(t, err)
	elbo := elboOf(thetaOf(fit.Q))
	assert.Less(t, elbo, exact.LogEvidence)
	assert.Greater(t, elbo, -best.F-0.01)
	estimate, err := fit.ELBO(10000, 0)
	require.NoError(t, err)
	assert.InDelta(t, elbo, estimate.Mean, 5*estimate.SE)
	assert.Less(t, estimate.SE, 0.02)

	// Reparameterization alone learns nothing about the change.
	start, err := vi.StartAt(fit.Density, map[string]float64{"change": coalmining.FirstYear + 55.5})
	require.NoError(t, err)
	blind, err := fitted(context.Background(), vi.Settings{Estimator: vi.Reparam{}, Steps: 2000, Start: start, Seed: 1})
	require.NoError(t, err)
	assert.Greater(t, variation(exact.LastYear, lastYearOf(t, blind)), 0.5)
}

// Importance weights bring the fit nearer to the exact posterior.
func TestImportanceExact(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	exact := coalmining.Exact()
	want := exact.Latents[0]
	fit, err := fitted(context.Background(), vi.Settings{Steps: 2000, Seed: 1})
	require.NoError(t, err)
	weighted, err := fit.Importance(draws, 1)
	require.NoError(t, err)
	change := weighted.Latents[0]
	require.Less(t, change.Mean.SE, 0.1, "inconclusive: too few effective draws")
	assert.InDelta(t, want.Mean, change.Mean.Mean, 5*change.Mean.SE)
	assert.Less(t, math.Abs(change.SD-want.SD), math.Abs(change.FitSD-want.SD))
	assert.InDelta(t, exact.LogEvidence, weighted.LogEvidence.Mean, 5*weighted.LogEvidence.SE)

	// What the decision rests on: the probability that the old rate is over.
	for _, year := range []int{1892, 1897} {
		p := floats.Sum(exact.LastYear[:year-coalmining.FirstYear])
		assert.InDelta(t, p, overBy(weighted, year), 5*math.Sqrt(p*(1-p)/weighted.ESS), year)
	}
}

func lastYearOf(t *testing.T, fit *vi.Posterior) []float64 {
	old, err := fit.Summary().Of("old")
	require.NoError(t, err)
	return lastYear(old.Guards)
}
