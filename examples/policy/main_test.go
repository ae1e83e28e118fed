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
	"github.com/facetvi/facet/expect/layer"
	"github.com/facetvi/facet/vi/mc"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	page := filepath.Join(t.TempDir(), "kiosk.html")
	run(&out, 1, 5, page)
	require.Regexp(t, `10 and 10 +\d+\.\d +\d+\.\d +1\d\.\d\d ± 0\.\d\d\n`, out.String())
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(html), "after 5 steps of training")
	require.Regexp(t, `>10 and 10</td><td>\d+\.\d</td><td>\d+\.\d</td><td>1\d\.\d\d ± 0\.\d\d</td>`, string(html))
}

// The quadrature is a simulation by hand, and the program, and no numbers beside the best are better.
func TestExact(t *testing.T) {
	rows, err := expect.NewRows(program(), nil, 16, 1)
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 1))
	for _, at := range [][]float64{{20, 8, 10, 10}, {14, 9, 5, 12}, {30, 2, 15, 5}} {
		want := exact(at[0], at[1], at[2], at[3])
		var m mc.Moments
		for range 100_000 {
			left, cost := at[0]-at[2]-sd*rng.NormFloat64(), 0.0
			if left < at[1] {
				left, cost = at[3]+spare, courier
			}
			if demand := at[3] + sd*rng.NormFloat64(); demand > left {
				cost += gone
			} else {
				cost += over * (left - demand)
			}
			m.Add(cost)
		}
		require.InDelta(t, want, m.Mean, 4.5*m.SE())
		own, err := rows.Expectation(at)
		require.NoError(t, err)
		got, err := own.Estimate(context.Background(), 20_000, 1)
		require.NoError(t, err)
		require.InDelta(t, want, got.Value.Value, 4.5*got.Value.SE)
		const h = 1e-3
		slope := (exact(at[0]+h, at[1], at[2], at[3]) - exact(at[0]-h, at[1], at[2], at[3])) / (2 * h)
		require.InDelta(t, slope, got.By("stock").Value, 4.5*got.By("stock").SE+1e-6)
		slope = (exact(at[0], at[1]+h, at[2], at[3]) - exact(at[0], at[1]-h, at[2], at[3])) / (2 * h)
		require.InDelta(t, slope, got.By("trigger").Value, 4.5*got.By("trigger").SE+1e-6)
	}
	for range 50 {
		first, second := 4+12*rng.Float64(), 4+12*rng.Float64()
		stock, trigger, cost := best(first, second)
		require.LessOrEqual(t, cost, exact(stock+rng.NormFloat64(), trigger+rng.NormFloat64(), first, second)+1e-6)
	}
}

// The network comes near the best through the ifs, and not without them.
func TestTraining(t *testing.T) {
	var grid, bests []float64
	for first := 5.0; first < 16; first += 2 {
		for second := 5.0; second < 16; second += 2 {
			stock, trigger, _ := best(first, second)
			grid, bests = append(grid, first, second), append(bests, stock, trigger)
		}
	}
	trained := func(through bool, steps int) float64 {
		rows, err := expect.NewRows(program(), nil, 16, 1)
		require.NoError(t, err)
		if !through {
			rows.WithoutBoundary()
		}
		return loss(grid, train(layer.Of(rows), steps, 1, grid))
	}
	const steps = 3000
	through, without, atStart, least := trained(true, steps), trained(false, steps), trained(true, 0), loss(grid, bests)
	t.Logf("mean cost through the ifs %.3f, without the boundary part %.3f, at the start %.3f, of the best numbers %.3f", through, without, atStart, least)
	require.InDelta(t, 11.299, least, 1e-3)
	require.InDelta(t, 12.129, atStart, 1e-3)
	require.Less(t, through, 11.4)
	require.Greater(t, without, 12.0)
}
