package smc_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/smc"
)

// wide is a normal proposal of the first latent; free forgets its density.
type wide struct{ free bool }

var wideLaw = distuv.Normal{Sigma: 4}

func (w wide) LogProbs(dst, z []float64) {
	clear(dst)
	for k := range dst {
		if !w.free {
			dst[k] = wideLaw.LogProb(z[k])
		}
	}
}

func (wide) Rand(z []float64, rng *rand.Rand) { z[0] = wideLaw.Sigma * rng.NormFloat64() }

// Points that are proposed from a distribution go from mode to mode of a posterior, which trajectories do not, so that the modes have their weights; what
// forgets the density of the proposal is found out.
func TestNear(t *testing.T) {
	d := density(t, func(m *graph.Model) {
		x, s := m.Sample("x", graph.Normal(0, 10)), m.Sample("s", graph.Normal(0, 1))
		bell := func(log, at float64) graph.Expr {
			u := graph.Mul(2, graph.Sub(x, at))
			return graph.Add(log, graph.Mul(-0.5, graph.Mul(u, u)))
		}
		m.Factor(graph.LogSumExp(bell(math.Log(0.3), -3), bell(math.Log(0.7), 5)))
		m.Factor(graph.If(graph.Greater(s, 0.5), -1, 0)) // a wall that has nothing to do with it
	})
	var draws [][]float64
	for k := range 200 { // most of which are of one mode
		draws = append(draws, []float64{-3 + 0.5*math.Sin(float64(k)), math.Cos(float64(k))})
	}
	draws = append(draws, []float64{5, 0})
	prior := distuv.Normal{Sigma: math.Sqrt(100 + 0.25)}
	high := 0.7 * prior.Prob(5) / (0.7*prior.Prob(5) + 0.3*prior.Prob(3))
	run := func(near smc.Proposal) (p, se float64) {
		s := smc.Settings{Seed: 1, Draws: draws, Effective: 1e9, MostMoves: 1000, Enough: func(smc.Result) float64 { return 6 }}
		if near != nil {
			s.Near = func([][]float64) (smc.Proposal, error) { return near, nil }
		}
		r, err := smc.Run(context.Background(), d, s)
		require.NoError(t, err)
		over := values(d, r, "x")
		for k, x := range over {
			over[k] = 0
			if x > 0 {
				over[k] = 1
			}
		}
		e := r.Mean(over)
		return e.Value, e.SE
	}
	p, se := run(wide{})
	t.Logf("%.4f ± %.4f, exactly %.4f", p, se, high)
	require.Less(t, se, 0.01)
	require.InDelta(t, high, p, 4*se)
	p, se = run(wide{free: true})
	require.Greater(t, math.Abs(p-high), 8*se)
	_, se = run(nil)
	require.Greater(t, se, 0.01) // particles stay in their modes
}
