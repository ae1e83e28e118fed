package graph_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
)

// sumOf adds what is not NaN.
func sumOf(x []float64) (sum float64) {
	for _, v := range x {
		if !math.IsNaN(v) {
			sum += v
		}
	}
	return sum
}

// What is left of log r without the log likelihoods does not depend on the data, and each of them on its own element alone.
func TestLogLikelihoodsAreWhatDataAdd(t *testing.T) {
	compared := 0
	rapid.Check(t, func(t *rapid.T) {
		r := drawRandom(t, small())
		rng := parallel.NewRand(rapid.Uint64().Draw(t, "seed"))
		z := r.point(rng)
		data := r.d.Replicate(nil, z, rng)
		old := r.d.Data()
		for i, y := range data {
			if math.IsNaN(y) {
				data[i] = old[i]
			}
		}
		other, err := r.d.WithObservations(data)
		require.NoError(t, err)
		a, err := r.d.LogProb(z)
		require.NoError(t, err)
		b, err := other.LogProb(z)
		require.NoError(t, err)
		one, two := r.d.LogLikelihoods(nil, z), other.LogLikelihoods(nil, z)
		if s := a + b + sumOf(one) + sumOf(two); math.IsNaN(s) || math.IsInf(s, 0) {
			return
		}
		size := math.Abs(a) + math.Abs(b) + math.Abs(sumOf(one)) + math.Abs(sumOf(two)) + 1
		require.InDelta(t, a-sumOf(one), b-sumOf(two), 1e-9*size)
		compared += len(data)
	})
	require.Greater(t, compared, 20)
}

// A step of a chain adds what a chain that ends with it has more than one that ends before it.
func TestLogLikelihoodsOfSteps(t *testing.T) {
	ys := []float64{0.3, 2.5, 1.9, -0.4, 3.1, 2.2}
	model := func(n, lags int, at bool) *graph.Density {
		m := graph.NewModel()
		low, gap := m.Sample("low", graph.Normal(0, 1)), m.Sample("gap", graph.Exponential(1))
		stay := m.Sample("stay", graph.Beta(4, 2))
		moves := [][]graph.Expr{{stay, graph.Sub(1, stay)}, graph.Numbers(0.3, 0.7)}
		h := graph.HMM{Initial: graph.Numbers(0.6, 0.4), Transition: moves, Lags: lags, Emission: func(t int, s []int) graph.Dist {
			mean := graph.Add(low, graph.Mul(float64(s[0]), gap))
			if t > 0 && lags > 0 {
				mean = graph.Add(mean, 0.5*(ys[t-1]-float64(s[1])))
			}
			return graph.Normal(mean, 0.7)
		}}
		if at {
			h.TransitionAt = func(t int) [][]graph.Expr {
				if t%2 == 0 {
					return moves
				}
				return [][]graph.Expr{moves[1], moves[0]}
			}
		}
		m.Observe("x", graph.Normal(low, 1), 0.5)
		if n > 0 {
			m.ObserveHMM("y", h, ys[:n])
		}
		d, err := m.Compile()
		require.NoError(t, err)
		return d
	}
	z := []float64{0.2, 0.4, 0.9}
	for lags := range 2 {
		for _, at := range []bool{false, true} {
			t.Run(fmt.Sprint(lags, at), func(t *testing.T) {
				var want []float64
				before, err := model(0, lags, at).LogProb(z)
				require.NoError(t, err)
				for n := range ys {
					all, err := model(n+1, lags, at).LogProb(z)
					require.NoError(t, err)
					want = append(want, all-before)
					before = all
				}
				got := model(len(ys), lags, at).LogLikelihoods(nil, z)
				require.InDelta(t, -0.5*math.Log(2*math.Pi)-0.5*0.3*0.3, got[0], 1e-12)
				require.True(t, floats.EqualApprox(want, got[1:], 1e-12), "%v, not %v", got[1:], want)
			})
		}
	}
}

// Rows of plates have one each, and the side of an If block that a point does not enter has none.
func TestLogLikelihoodsOfRowsAndSides(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	rows := []float64{1, 2, 4}
	m.Plate(len(rows), func(p *graph.Plate) {
		p.Observe("row", graph.Normal(x, 2), rows)
	})
	m.If(graph.Greater(x, 0), func() { m.Observe("side", graph.Normal(0, 1), 1) }, func() { m.Observe("side", graph.Normal(x, 1), 1) })
	d, err := m.Compile()
	require.NoError(t, err)
	normal := func(y, mu, sd float64) float64 {
		return -0.5*math.Log(2*math.Pi) - math.Log(sd) - 0.5*(y-mu)*(y-mu)/(sd*sd)
	}
	got := d.LogLikelihoods(nil, []float64{-0.5})
	want := []float64{normal(1, -0.5, 2), normal(2, -0.5, 2), normal(4, -0.5, 2), math.NaN(), normal(1, -0.5, 1)}
	require.True(t, math.IsNaN(got[3]))
	want[3], got[3] = 0, 0
	require.True(t, floats.EqualApprox(want, got, 1e-12), "%v, not %v", got, want)
}
