//go:build long

package main

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/vi/mc"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	page := filepath.Join(t.TempDir(), "policies.html")
	require.NoError(t, run(context.Background(), &out, 1, 2, page))
	require.Contains(t, out.String(), "after 2 steps")
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(html), ">after 2 steps</")
}

// Interrupted, it says what it has.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out bytes.Buffer
	require.NoError(t, run(ctx, &out, 1, 2000, ""))
	require.Contains(t, out.String(), "start")
}

// simulate is the cost of a policy, review by review.
func simulate(low, high float64, rng *rand.Rand) (cost float64) {
	stock, since := high, 0
	for t := range reviews {
		left := stock - (mean + sd*rng.NormFloat64())
		since++
		if left < 0 {
			cost, left = cost-lost*left, 0
		}
		cost += holding * left
		stock = left
		if t+1 < reviews && (left < low || since == latest) {
			cost += order
			stock, since = high, 0
		}
	}
	return cost
}

// Three ways to the cost of a policy, and two to its gradient: by the program, by dynamic programming, and by simulation.
func TestCost(t *testing.T) {
	e, err := program()
	require.NoError(t, err)
	for _, at := range [][2]float64{{29, 207}, {20, 120}, {60, 160}} {
		own, err := e.At(at[0], at[1])
		require.NoError(t, err)
		got, err := own.Estimate(context.Background(), 8000, 1)
		require.NoError(t, err)
		want := exact(at[0], at[1])
		rng, m := rand.New(rand.NewPCG(1, 1)), mc.Moments{}
		for range 100_000 {
			m.Add(simulate(at[0], at[1], rng))
		}
		require.InDelta(t, want, m.Mean, 4.5*m.SE())
		require.InDelta(t, want, got.Value.Value, 4.5*got.Value.SE)
		const h = 0.01
		slopes := []float64{(exact(at[0]+h, at[1]) - exact(at[0]-h, at[1])) / (2 * h), (exact(at[0], at[1]+h) - exact(at[0], at[1]-h)) / (2 * h)}
		for i, g := range got.Gradient {
			require.InDelta(t, slopes[i], g.Value, 4.5*g.SE, "%v, parameter %d", at, i)
		}
	}
}

// The optimum is as good as that of the grid.
func TestOptimum(t *testing.T) {
	e, err := program()
	require.NoError(t, err)
	at, err := e.At(20, starts[1])
	require.NoError(t, err)
	best, err := at.Minimize(context.Background(), expect.Settings{Seed: 3, Final: 1000, Tolerance: 0.1})
	require.NoError(t, err)
	require.True(t, best.Settled)
	low, high := search()
	require.Equal(t, [2]float64{29, 207}, [2]float64{low, high})
	t.Logf("%.2f by the program, at least %.2f", exact(best.At[0], best.At[1]), exact(low, high))
	require.Less(t, exact(best.At[0], best.At[1]), exact(low, high)+0.3)
}
