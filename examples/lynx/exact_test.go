package main

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/examples/models/lynx"
	"github.com/facetvi/facet/examples/restarts"
	"github.com/facetvi/facet/vi"
)

// tenths are probabilities of [2, 2.1), [2.1, 2.2), …, and the ends hold the rest.
func tenths(below func(c float64) float64) []float64 {
	p := make([]float64, 20)
	for i := range p {
		p[i] = below(2 + float64(i+1)/10)
	}
	p[19] = 1
	for i := 19; i > 0; i-- {
		p[i] -= p[i-1]
	}
	return p
}

// belowOf is the share of the draws below c.
func belowOf(draws []float64) func(c float64) float64 {
	return func(c float64) float64 {
		return float64(floats.Count(func(x float64) bool { return x < c }, draws)) / float64(len(draws))
	}
}

// The sum over the windows against the exact posterior: mean and sd of the
// threshold within 0.03, no statement about its tenths off by more than 0.12,
// and coefficients within a quarter of their standard deviation.
func TestThresholdExact(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	x := lynx.Logs(lynx.Trapped)
	want := lynx.Exact()
	threshold := want.Latents[0]
	assert.InDelta(t, 3.2, threshold.Mean, 0.1, "what Tong and others find")

	fits, err := profile(context.Background(), x, 300, 1)
	require.NoError(t, err)
	d := restarts.Draws(fits, 10000, 0)
	got := d["threshold"]
	mean, sd := stat.MeanStdDev(got, nil)
	assert.InDelta(t, threshold.Mean, mean, 0.03)
	assert.InDelta(t, threshold.SD, sd, 0.03)
	assert.Less(t, floats.Distance(tenths(want.Below), tenths(belowOf(got)), 1)/2, 0.12)
	for i, name := range []string{"base low", "momentum low", "pull low", "noise low", "base high", "momentum high", "pull high", "noise high"} {
		mean, sd := stat.MeanStdDev(d[name], nil)
		assert.InDelta(t, want.Latents[1+i].Mean, mean, sd/4, name)
	}

	// Windows a tenth apart add up to ten times the posterior; each ELBO is a bound.
	var elbos []float64
	for _, e := range fits {
		elbos = append(elbos, e.ELBO.Mean-math.Log(10))
	}
	assert.Less(t, floats.LogSumExp(elbos), want.LogEvidence)
	assert.Greater(t, floats.LogSumExp(elbos), want.LogEvidence-1)
}

// One fit of the whole finds the best threshold and is too sure of it;
// reparameterization alone learns nothing about it.
func TestOneFit(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	m, _ := lynx.Model(lynx.Logs(lynx.Trapped))
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
