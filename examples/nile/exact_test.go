package main

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/examples/models/nile"
	"github.com/facetvi/facet/examples/restarts"
	"github.com/facetvi/facet/vi"
)

// The sum over the windows against enumeration: the year of the fall within 0.06,
// the levels within 1 km³ of their means. Of two large shifts, whose years can be
// many, mean-field fits see less than there is, since each keeps one choice.
func TestShiftsExact(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	want := nile.Exact()
	require.Equal(t, 1898, nile.FirstYear+floats.MaxIdx(want.Shift))

	fits, err := shifts(context.Background(), 800, 1)
	require.NoError(t, err)
	all := histories(fits)
	year, p := likeliest(all)
	assert.Equal(t, 1898, year)
	assert.InDelta(t, want.Shift[1898-nile.FirstYear], p, 0.06)
	assert.InDelta(t, want.Twice, share(all, history.twice), 0.1)
	assert.Greater(t, share(all, history.twice), 0.04)

	var first, last, elbos []float64
	for _, h := range all {
		first, last = append(first, h.level(nile.FirstYear)), append(last, h.level(1970))
	}
	assert.InDelta(t, km3*want.First, stat.Mean(first, nil), 1)
	assert.InDelta(t, km3*want.Last, stat.Mean(last, nil), 1)

	// Windows ten years apart add up to a tenth of the posterior; each ELBO is a bound.
	for _, e := range fits {
		elbos = append(elbos, e.ELBO.Mean+math.Log(10))
	}
	assert.Less(t, floats.LogSumExp(elbos), want.LogEvidence)
	assert.Greater(t, floats.LogSumExp(elbos), want.LogEvidence-2)
}

// Reparameterization alone learns nothing about the shifts.
func TestReparamFails(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	m, _ := nile.Model(nile.Flow)
	density, err := m.Compile()
	require.NoError(t, err)
	start, err := start(density, 1920)
	require.NoError(t, err)
	for _, e := range []vi.Estimator{vi.Boundary{}, vi.Reparam{}} {
		fit, err := vi.Fit(context.Background(), density, vi.Settings{Estimator: e, Steps: 1500, Start: start, Seed: 1})
		require.NoError(t, err)
		year, p := likeliest(histories([]restarts.Explanation{{Posterior: fit, Weight: 1}}))
		assert.Equal(t, e == vi.Boundary{}, year == 1898 && p > 0.5, "%s: %d with probability %v", e.Name(), year, p)
	}
}
