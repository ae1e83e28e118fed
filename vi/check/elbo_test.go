package check

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/mc"
)

// barrier is a model whose density is 0 where x > at.
func barrier(t *testing.T, at float64) *graph.Density {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Observe("y", graph.Normal(x, 1), 0.5)
	m.Factor(graph.Log(graph.If(graph.Greater(x, at), 0, 1)))
	return vitest.Compile(t, m)
}

// All estimates of the ELBO from the same draws are one number: −Inf, without
// error, if the density is 0 at one of them.
func TestELBOIsOneNumber(t *testing.T) {
	const samples = 1000
	q := family.Independent([]float64{0.2}, []float64{0.8})
	for _, c := range []struct {
		at       float64
		infinite bool // at a draw
	}{{0, true}, {2, true}, {5, false}, {40, false}} {
		d := barrier(t, c.at)
		want, err := ELBO(d, q, samples, *seed)
		require.NoError(t, err)
		require.Equal(t, c.infinite, want == mc.Estimate{Value: math.Inf(-1)}, "%v", want)
		require.False(t, math.IsNaN(want.Value) || math.IsNaN(want.SE))

		m, err := NewMeter(d, q, samples, *seed)
		require.NoError(t, err)
		got, err := m.Measure(q)
		require.NoError(t, err)
		require.Equal(t, want, got, "Meter")
		m.Restart(*seed)
		logR, err := m.MeasureLogR(q)
		require.NoError(t, err)
		require.Equal(t, c.infinite, logR == mc.Estimate{Value: math.Inf(-1)}, "MeasureLogR")

		rare, err := RareSides(d, q, samples, *seed)
		require.NoError(t, err)
		require.Equal(t, want, rare.Plain, "Unseen.Plain")
	}
}

// Where the density is 0 on a side of a guard, seen by the draws or not, the
// corrected ELBO is −Inf, and a plain one that is not misleads.
func TestRareSidesOfDensityZero(t *testing.T) {
	q := family.Independent([]float64{0.2}, []float64{0.8})
	misled := 0
	for _, at := range []float64{0, 3.3, 5} {
		d := barrier(t, at)
		r := rareOf(t, d, q, 20000)
		require.Equal(t, mc.Estimate{Value: math.Inf(-1)}, r.Corrected, "%v: %v", at, r)
		require.Equal(t, !math.IsInf(r.Plain.Value, -1), r.Misleading(), "%v: %v", at, r)
		if r.Misleading() {
			misled++
		}
		for _, s := range r.Sides {
			require.Equal(t, mc.Estimate{Value: math.Inf(-1)}, s.Missed)
		}
	}
	require.Positive(t, misled)
	require.Less(t, misled, 3)
}
