package smc_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/smc"
)

// levels is a random walk of the data, with a scale s of its steps.
func levels(y []float64) func(m *graph.Model) {
	return func(m *graph.Model) {
		s := m.Sample("s", graph.HalfNormal(1))
		level := m.Sample("level[0]", graph.Normal(0, 1))
		for k, y := range y {
			if k > 0 {
				level = m.Sample(fmt.Sprintf("level[%d]", k), graph.Normal(level, s))
			}
			m.Observe("y", graph.Normal(level, 0.5), y)
		}
	}
}

// logLikelihood is that of s, by Kalman's filter.
func logLikelihood(y []float64, s float64) (log float64) {
	mean, variance := 0.0, 1.0
	for k, y := range y {
		if k > 0 {
			variance += s * s
		}
		total := variance + 0.25
		log -= 0.5 * (math.Log(2*math.Pi*total) + (y-mean)*(y-mean)/total)
		mean += variance / total * (y - mean)
		variance *= 0.25 / total
	}
	return log
}

// Of many latents the evidence and the moments of a scale are those of a sum over its values.
func TestManyLatents(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 15))
	y, at := make([]float64, 220), 0.0
	for k := range y {
		at += 0.3 * rng.NormFloat64()
		y[k] = at + 0.5*rng.NormFloat64()
	}
	const width = 0.002
	var logs, points []float64
	for u := -4.0; u < 1; u += width { // log s
		s := math.Exp(u)
		points = append(points, u)
		logs = append(logs, logLikelihood(y, s)+math.Log(2)-0.5*math.Log(2*math.Pi)-0.5*s*s+u+math.Log(width))
	}
	evidence, mean, square := floats.LogSumExp(logs), 0.0, 0.0
	for k, u := range points {
		p := math.Exp(logs[k] - evidence)
		mean += p * u
		square += p * u * u
	}
	r, err := smc.Run(context.Background(), density(t, levels(y)), smc.Settings{Seed: 1})
	require.NoError(t, err)
	require.Less(t, r.LogEvidence.SE, 0.15)
	require.InDelta(t, evidence, r.LogEvidence.Value, 5*r.LogEvidence.SE)
	values, squares := make([]float64, len(r.Z)), make([]float64, len(r.Z))
	for k, z := range r.Z {
		values[k], squares[k] = z[0], (z[0]-mean)*(z[0]-mean)
	}
	sd := math.Sqrt(square - mean*mean)
	got, spread := r.Mean(values), r.Mean(squares)
	require.Less(t, got.SE, sd/20)
	require.InDelta(t, mean, got.Value, 5*got.SE)
	require.Less(t, spread.SE, sd*sd/10)
	require.InDelta(t, sd*sd, spread.Value, 5*spread.SE)
}

// A state's own part in the covariance of its velocities does not carry an island away: with one metric for all islands the log evidence of this walk is
// −653.6 ± 15.
func TestOwnPartInMetrics(t *testing.T) {
	long.Skip(t)
	r, err := smc.Run(context.Background(), density(t, walk(500)), smc.Settings{Seed: 4, Effective: 1, MostMoves: 2})
	require.NoError(t, err)
	require.Less(t, r.LogEvidence.SE, 0.3)
	require.InDelta(t, -670.2, r.LogEvidence.Value, 1) // that of other seeds
}

// The normal that a path of many latents begins with, whose noise has a scale, is what its draws are from: log q0 is that of
// their noise, less the logarithm of what it is multiplied by. Its gradient is that of log q0, and momenta have the inverse of the covariance of
// velocities.
func TestStartOfManyLatents(t *testing.T) {
	s, err := smc.NewStart(density(t, levels(make([]float64, 220))))
	require.NoError(t, err)
	require.NotZero(t, s.Gamma)
	for range 5 {
		noise, log := s.Draw()
		require.InDelta(t, log, s.LogQ(), 1e-9*math.Abs(log))
		for range 3 {
			slope, difference := s.Slope()
			require.InDelta(t, difference, slope, 1e-5*(1+math.Abs(slope)))
		}
		energy, want := s.Energy(noise)
		require.InDelta(t, want, energy, 1e-9*want)
	}
}
