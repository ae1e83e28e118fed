package graph_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/internal/programs"
)

// The gradient alone is what it is beside log r, at points where the executor has not been.
func TestRunGrad(t *testing.T) {
	programs.Check(t, 60, func(t *rapid.T) {
		_, d, rng := programs.Compiled(t, programs.Limits{Depth: 2})
		const n = 5
		alone, err := d.Executor(n, graph.Compute{Out: true, Grad: true})
		require.NoError(t, err)
		both, err := d.Executor(n, graph.Compute{Out: true, Grad: true})
		require.NoError(t, err)
		require.NoError(t, alone.Run())
		for range 3 {
			for i := range both.Z {
				both.Z[i] = rng.NormFloat64()
			}
			copy(alone.Z, both.Z)
			d.Arrangement().SignBatch(both.Signs, both.Z, n)
			copy(alone.Signs, both.Signs)
			require.NoError(t, both.Run())
			require.NoError(t, alone.RunGrad())
			alike(t, both.Grad, alone.Grad)
		}
	})
}

// An executor that knows of one region for all samples computes what one does that has the region's signs for each, in one region after the other.
func TestRegionExecutor(t *testing.T) {
	guards, tried := 0, 0
	programs.Check(t, 60, func(t *rapid.T) {
		_, d, rng := programs.Compiled(t, programs.Limits{Depth: 2})
		const n = 5
		one, err := d.Executor(n, graph.Compute{Out: true, Grad: true, Region: true})
		require.NoError(t, err)
		each, err := d.Executor(n, graph.Compute{Out: true, Grad: true})
		require.NoError(t, err)
		var points [][]float64
		for range 6 {
			points = append(points, d.PriorDraw(nil, rng))
		}
		for _, k := range []int{0, 1, 1, 2, 0, 3, 4, 5, 4} {
			for i := range one.Z {
				one.Z[i] = rng.NormFloat64()
			}
			copy(each.Z, one.Z)
			s := d.Arrangement().Signs(points[k])
			one.Force(s)
			each.Force(s)
			require.NoError(t, one.Run())
			require.NoError(t, each.Run())
			alike(t, each.Out, one.Out)
			alike(t, each.Grad, one.Grad)
		}
		guards += min(2, d.Arrangement().Len())
		tried++
	})
	require.Greater(t, guards, tried)

	m := graph.NewModel()
	m.Sample("x", graph.Normal(0, 1))
	d := mustCompile(t, m)
	_, err := d.Executor(2, graph.Compute{Out: true, Region: true, Tape: true})
	require.ErrorContains(t, err, "Region of a Tape")
	_, err = d.Executor(2, graph.Compute{Out: true, Region: true, NewData: true})
	require.ErrorContains(t, err, "NewData of a Region")
	x, err := d.Executor(2, graph.Compute{Out: true, Region: true}) // of a density without guards
	require.NoError(t, err)
	x.Force(d.Arrangement().Signs(d.PriorDraw(nil, parallel.NewRand(1))))
	require.NoError(t, x.Run())
	require.InDelta(t, -0.5*math.Log(2*math.Pi), x.Out[0], 1e-12)
}

// alike asks for numbers that are equal but for the order of sums, or both NaN.
func alike(t require.TestingT, want, got []float64) {
	require.True(t, slices.EqualFunc(want, got, func(a, b float64) bool {
		return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-12*max(1, math.Abs(a), math.Abs(b))
	}), "%v\n%v", want, got)
}
