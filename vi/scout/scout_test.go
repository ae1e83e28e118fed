package scout_test

import (
	"context"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/scout"
)

func compiled(t *testing.T, m *graph.Model) *graph.Density {
	d, err := m.Compile()
	require.NoError(t, err)
	return d
}

// The estimate's mean is within 5 standard errors of want, and these are at most
// most: found from runs with several seeds.
func requireEvidence(t *testing.T, want, most float64, d *graph.Density, s scout.Settings) {
	t.Helper()
	var means, variances mc.Moments
	const seeds = 10
	for s.Seed = range uint64(seeds) {
		r, err := scout.Run(context.Background(), d, s)
		require.NoError(t, err)
		means.Add(r.LogEvidence.Mean)
		variances.Add(r.LogEvidence.SE * r.LogEvidence.SE)
	}
	se := math.Sqrt(variances.Mean / seeds)
	t.Logf("%.4f ± %.4f, exact %.4f; spread %.4f, claimed %.4f", means.Mean, se, want, math.Sqrt(means.Variance()), math.Sqrt(variances.Mean))
	require.InDelta(t, want, means.Mean, 5*se)
	require.Less(t, math.Sqrt(variances.Mean), most)
	require.InDelta(t, 1, math.Sqrt(means.Variance()/variances.Mean), 0.7, "spread against claim")
}

// A normal mean with a normal prior, whose evidence is a normal density.
func TestConjugateNormal(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(1, 2))
	m.Observe("y", graph.Normal(x, 0.1), 3)
	v := 4 + 0.01
	requireEvidence(t, -0.5*(4/v+math.Log(2*math.Pi*v)), 0.1, compiled(t, m), scout.Settings{})
}

// A run depends on its seed alone.
func TestSameOnAnyProcessors(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Gamma(2, 2))
	y := m.Sample("y", graph.Normal(graph.If(graph.Greater(x, 1), x, -1), x))
	m.Observe("data", graph.Normal(y, 0.5), 0.3)
	d := compiled(t, m)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first scout.Result
	for p := 1; p <= 2; p++ {
		runtime.GOMAXPROCS(p)
		r, err := scout.Run(context.Background(), d, scout.Settings{Seed: 3, Particles: 64, Islands: 3})
		require.NoError(t, err)
		if p == 1 {
			first = r
		}
		require.Equal(t, first, r)
	}
	require.Len(t, first.LogProb, len(first.Z))
	for k, z := range first.Z {
		want, err := d.LogProb(z)
		require.NoError(t, err)
		require.InDelta(t, want, first.LogProb[k], 1e-9)
	}
	require.Greater(t, stat.StdDev(first.LogProb, nil), 0.0)
}

func TestStops(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Observe("y", graph.Normal(x, 0.001), 3)
	ctx, cancel := context.WithCancel(context.Background())
	var told []float64
	_, err := scout.Run(ctx, compiled(t, m), scout.Settings{Progress: func(beta float64) {
		told = append(told, beta)
		cancel()
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.NotEmpty(t, told)
}
