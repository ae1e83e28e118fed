package main

import (
	"bytes"
	"context"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(&out, io.Discard, 1, 2, 3))
	require.Equal(t, 6, strings.Count(out.String(), "\n"))
	require.Regexp(t, `(?m)^ *\d+\.\d: \d+\.\d to \d+\.\d +\d+\.\d: \d+\.\d to \d+\.\d +\d+\.\d: \d+\.\d to \d+\.\d$`, out.String())
}

// The exact mean and standard deviation of the change are those of many draws of the rates.
func TestExact(t *testing.T) {
	counts := []float64{3, 6, 4, 5, 2, 4, 5, 9, 12, 7, 10, 8, 8, 11, 9, 10, 6, 9, 8, 12}
	rng := rand.New(rand.NewPCG(1, 1))
	var sum, first, second float64
	for range 400_000 {
		change, before, after := length*rng.Float64(), rng.ExpFloat64()/rate, rng.ExpFloat64()/rate
		logs := 0.0
		for t, c := range counts {
			mean := after
			if float64(t)+0.5 < change {
				mean = before
			}
			logs += distuv.Poisson{Lambda: mean}.LogProb(c)
		}
		w := math.Exp(logs + 45)
		sum += w
		first += w * change
		second += w * change * change
	}
	mean, sd := exact(counts)
	require.InDelta(t, mean, first/sum, 0.1)
	require.InDelta(t, sd, math.Sqrt(second/sum-first*first/(sum*sum)), 0.1)
}

func TestPeak(t *testing.T) {
	x := []float64{2, 1, 3, 5, 5, 4, 4.5, 0}
	for n, want := range [][3]int{{3, 1, 5}, {6, 5, 7}, {0, 0, 1}, {0, 0, 1}} {
		top, lo, hi := peak(x, n)
		require.Equal(t, want, [3]int{top, lo, hi}, n)
	}
}

// A short training is enough to see that the boundary part matters.
func TestTraining(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	d, err := program()
	require.NoError(t, err)
	q, err := family.MeanField{}.New(d)
	require.NoError(t, err)
	var networks []network
	for _, through := range []bool{true, false} {
		rows, err := expect.NewRows(d, q, 4, 1)
		require.NoError(t, err)
		if !through {
			rows.WithoutBoundary()
		}
		n := newNetwork(32, rand.New(rand.NewPCG(1, 1)))
		require.NoError(t, n.train(rows, long.Or(300, 500), 1, io.Discard))
		networks = append(networks, n)
	}
	networks = append(networks, newNetwork(32, rand.New(rand.NewPCG(1, 1))))
	series := drawn(long.Or(8, 40), rand.New(rand.NewPCG(1, 3)))
	answers, err := compare(context.Background(), d, q, series, []string{"through", "without", "start"}, networks)
	require.NoError(t, err)
	through, without, start := answers[1].gap(answers[0]), answers[2].gap(answers[0]), answers[3].gap(answers[0])
	t.Log(through, without, start, stat.Mean(answers[1].off(answers[0], 0), nil), stat.Mean(answers[2].off(answers[0], 0), nil))
	require.Less(t, through, 0.3)
	require.Less(t, through, 0.5*start)
	require.Greater(t, without, 10.0)
	require.Less(t, stat.Mean(answers[1].off(answers[0], 0), nil), 0.5)
	require.Greater(t, stat.Mean(answers[2].off(answers[0], 0), nil), 1.0)
}
