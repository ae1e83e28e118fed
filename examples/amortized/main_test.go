package main

import (
	"context"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/cli/clitest"
	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/vi/family"
)

func TestFlags(t *testing.T) { clitest.WrongFlags(t, "amortized", run, []string{"-series", "0"}) }

func TestStopped(t *testing.T) { clitest.Stopped(t, run) }

// The exact mean of the change is that of many draws of the rates.
func TestExact(t *testing.T) {
	counts := []float64{3, 6, 4, 5, 2, 4, 5, 9, 12, 7, 10, 8, 8, 11, 9, 10, 6, 9, 8, 12}
	rng := rand.New(rand.NewPCG(1, 1))
	sum, weighted := 0.0, 0.0
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
		weighted += w * change
	}
	require.InDelta(t, exact(counts), weighted/sum, 0.1)
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
	judge, err := expect.NewRows(d, q, 1000, 1)
	require.NoError(t, err)
	x := &examiner{d, judge, make([]float64, 6)}
	var networks []network
	for _, through := range []bool{true, false} {
		rows, err := expect.NewRows(d, q, 4, 1)
		require.NoError(t, err)
		if !through {
			rows.WithoutBoundary()
		}
		n := newNetwork(32, 6, rand.New(rand.NewPCG(1, 1)))
		require.NoError(t, n.train(context.Background(), rows, 1000, 1, io.Discard))
		networks = append(networks, n)
	}
	of, _, err := x.compare(context.Background(), networks, 20, 1, io.Discard)
	require.NoError(t, err)
	t.Log(of[0].gap, of[1].gap)
	require.Less(t, of[0].gap, 1.0)
	require.Greater(t, of[1].gap, 10.0)
}
