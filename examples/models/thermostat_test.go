package models_test

import (
	"context"
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/examples/models/thermostat"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/scout"
)

// simulations is how many data sets are simulated: go test ./examples/models -simulations 20.
var simulations = flag.Int("simulations", 0, "simulated data sets; 0 for 1, or 2 with -tags long")

const lower, upper, steps = 24.0, 26.0, 30

// The likelihood does not depend on the grid, and is the evidence that a scout finds, which knows nothing of it.
func TestThermostatLikelihood(t *testing.T) {
	y := thermostat.Simulate(steps, lower, upper, rand.New(rand.NewPCG(1, 1)))
	want := thermostat.LogLikelihood(y, 24.1, 25.9, 0.01)
	assert.InDelta(t, want, thermostat.LogLikelihood(y, 24.1, 25.9, 0.05), 0.02)
	d, err := thermostat.Model(y, 24.1, 25.9).Compile()
	require.NoError(t, err)
	r, err := scout.Run(context.Background(), d, scout.Settings{Seed: 1})
	require.NoError(t, err)
	t.Logf("log likelihood %.4f, by a scout %v", want, r.LogEvidence)
	assert.InDelta(t, want, r.LogEvidence.Value, 4*r.LogEvidence.SE)
	assert.Less(t, r.LogEvidence.SE, 0.2)
}

// A posterior is what the likelihood says of the thresholds as a distribution, on a grid, and its largest logarithm.
type posterior struct{ lower, upper, top float64 } // standard deviations

func onGrid(y []float64) (p posterior) {
	step := long.Or(0.25, 0.15)
	p.top = math.Inf(-1)
	var low, high, logs []float64
	for l := lower - 1.5; l < lower+1.5; l += step {
		for u := upper - 1.4; u < upper+1.4; u += step {
			low, high, logs = append(low, l), append(high, u), append(logs, thermostat.LogLikelihood(y, l, u, 0.05))
			p.top = max(p.top, logs[len(logs)-1])
		}
	}
	for k := range logs {
		logs[k] = math.Exp(logs[k] - p.top)
	}
	_, variance := stat.PopMeanVariance(low, logs)
	p.lower = math.Sqrt(variance)
	_, variance = stat.PopMeanVariance(high, logs)
	p.upper = math.Sqrt(variance)
	return p
}

// From simulated data thresholds are found within the standard errors of their likelihood, near its maximum; and reparameterization
// leaves them where they start.
func TestThermostatLearned(t *testing.T) {
	long.Skip(t)
	sets := uint64(*simulations)
	if sets == 0 {
		sets = 2
	}
	n := float64(sets)
	var squareLower, squareUpper, lost float64
	for seed := range sets {
		y := thermostat.Simulate(steps, lower, upper, rand.New(rand.NewPCG(1+seed, 77)))
		want := onGrid(y)
		d, err := thermostat.Model(y, lower-0.5, upper+0.5).Compile()
		require.NoError(t, err)
		learn := func(s vi.Settings) (l, u float64) {
			s.Seed = 1 + seed
			p, err := vi.Fit(context.Background(), d, s)
			require.NoError(t, err)
			l, err = p.Param("lower")
			require.NoError(t, err)
			u, err = p.Param("upper")
			require.NoError(t, err)
			return l, u
		}
		l, u := learn(vi.Settings{Method: vi.Climb{Steps: 3000}})
		gap := want.top - thermostat.LogLikelihood(y, l, u, 0.05)
		t.Logf("%.3f ± %.2f, %.3f ± %.2f, log likelihood %.2f below the highest", l, want.lower, u, want.upper, gap)
		lost += gap / n
		squareLower += (l - lower) * (l - lower) / (want.lower * want.lower * n)
		squareUpper += (u - upper) * (u - upper) / (want.upper * want.upper * n)
		if seed > 0 {
			continue
		}
		start := vi.PriorStart(d)
		l, u = learn(vi.Settings{Method: vi.Climb{Steps: 300, Family: family.FullRank{}, Start: start, Estimator: vi.Reparam{}}})
		require.Equal(t, []float64{lower - 0.5, upper + 0.5}, []float64{l, u})
	}
	t.Logf("mean squared errors, in squared standard errors: %.2f, %.2f; %.3f nats lost", squareLower, squareUpper, lost)
	most := 1 + 3*math.Sqrt(2/n)
	require.Less(t, squareLower, most)
	require.Less(t, squareUpper, most)
	require.Less(t, lost, 0.5)
}
