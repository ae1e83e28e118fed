package main

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/cli/clitest"
	"github.com/facetvi/facet/vi"
)

func TestRun(t *testing.T) {
	clitest.Answers(t, run, nil, "Verdict: trust", "The rate changed most likely after day 45, with probability 0.", "it grew by 1")
}

// rateEvidence is the log evidence of counts with one rate, by a trapezoidal sum in its logarithm.
func rateEvidence(counts []float64, mean float64) float64 {
	prior := distuv.Normal{Mu: math.Log(mean) - math.Ln2/2, Sigma: math.Sqrt(math.Ln2)}
	const step = 0.005
	var logs []float64
	for u := prior.Mu - 8; u < prior.Mu+8; u += step {
		log := prior.LogProb(u) + math.Log(step)
		for _, n := range counts {
			log += distuv.Poisson{Lambda: math.Exp(u)}.LogProb(n)
		}
		logs = append(logs, log)
	}
	return floats.LogSumExp(logs)
}

// The fit against the exact posterior: all places of the change are as probable beforehand, and given one the rates are
// integrated out.
func TestExact(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	mean := stat.Mean(counts, nil)
	var logs []float64
	for k := range len(counts) + 1 {
		logs = append(logs, rateEvidence(counts[:k], mean)+rateEvidence(counts[k:], mean)-math.Log(float64(len(counts)+1)))
	}
	evidence := floats.LogSumExp(logs)

	density, err := switching(counts).Compile()
	require.NoError(t, err)
	fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: 1})
	require.NoError(t, err)
	pending := 1.0
	for k := range counts {
		pending -= math.Exp(logs[k] - evidence)
		got, err := fit.ProbNamed("pending", k)
		require.NoError(t, err)
		require.InDelta(t, pending, got.Value, 0.003, "day %d", k+1)
	}
	e, err := fit.LogEvidence()
	require.NoError(t, err)
	require.InDelta(t, evidence, e.Value, 0.02)
}

func TestInterrupt(t *testing.T) { clitest.Stopped(t, run) }

func TestBadFlags(t *testing.T) { clitest.WrongFlags(t, "textmsg", run) }
