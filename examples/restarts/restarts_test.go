package restarts

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

// hills is a density with a hill at −3 with three quarters of the mass and one
// at 3 with the rest: a latent x, observed on either side of 0.
func hills(t *testing.T) (*graph.Model, graph.Expr) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 10))
	right := m.Name("right", graph.Greater(x, 0))
	m.Factor(graph.If(right, math.Log(0.25), math.Log(0.75)))
	m.Observe("y", graph.Normal(graph.If(right, graph.Sub(x, 3), graph.Add(x, 3)), 0.5), 0)
	require.NoError(t, m.Err())
	return m, x
}

func startAt(d *graph.Density, x float64) (family.Q, error) {
	return vi.StartAt(d, map[string]float64{"x": x})
}

// Ten starts find each hill; the mixture is the exact posterior, up to what the
// ELBO's estimates and Adam leave open.
func TestOfFindsBoth(t *testing.T) {
	m, _ := hills(t)
	d, err := m.Compile()
	require.NoError(t, err)
	fit, err := vi.Fit(context.Background(), d, vi.Settings{Restarts: 10, Steps: 1000, Seed: 1})
	require.NoError(t, err)
	all := Of(fit)
	require.Len(t, all, 2, "the same hill counts once")
	assert.InDelta(t, 0.75, all[0].Weight, 0.01)
	assert.InDelta(t, 0.25, all[1].Weight, 0.01)
	assert.Equal(t, fit.Q, all[0].Q)

	p, err := Prob(all, d.Named("right")[0])
	require.NoError(t, err)
	assert.InDelta(t, 0.25, p, 0.01)
	_, other := hills(t)
	_, err = Prob(all, graph.Greater(other, 0))
	require.Error(t, err)

	draws := Draws(all, 20000, 0)["x"]
	right := 0.0
	for _, x := range draws {
		if x > 0 {
			right += 1 / float64(len(draws))
		}
	}
	assert.InDelta(t, 0.25, right, 0.01)
	assert.InDelta(t, -1.5, stat.Mean(draws, nil), 0.1)
}

// One window over the whole, or many that share it out, give the same evidence.
func TestWindowsAddUp(t *testing.T) {
	m, x := hills(t)
	const width = 0.5
	m.Observe("window", graph.Normal(x, width), 0)
	d, err := m.Compile()
	require.NoError(t, err)
	var centres []float64
	for c := -6.0; c <= 6; c += 2 * width {
		centres = append(centres, c)
	}
	all, err := Windows(context.Background(), d, centres, startAt, vi.Settings{Steps: 1000, Seed: 1})
	require.NoError(t, err)
	require.Len(t, all, len(centres))
	assert.Equal(t, "13000 steps", Effort(all))
	all[3].Warnings = []string{"not settled"}
	assert.Equal(t, "13000 steps, but 1 of 13 fits have not settled: take more", Effort(all))
	evidence, total := 0.0, 0.0
	for _, e := range all {
		evidence += 2 * width * math.Exp(e.ELBO.Mean)
		total += e.Weight
	}
	assert.InDelta(t, 1, total, 1e-12)
	// The hills are Normal(∓3, 0.5) seen through the prior, all but on their own side.
	want := distuv.Normal{Sigma: math.Hypot(10, 0.5)}.Prob(3)
	assert.InEpsilon(t, want, evidence, 0.04)
	draws := Draws(all, 20000, 0)["x"]
	assert.InDelta(t, -1.5, stat.Mean(draws, nil), 0.15)
}

// Interrupted, a fit returns what there is.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m, x := hills(t)
	m.Observe("window", graph.Normal(x, 1), 0)
	d, err := m.Compile()
	require.NoError(t, err)
	fit, err := vi.Fit(ctx, d, vi.Settings{Restarts: 3})
	require.ErrorIs(t, err, context.Canceled)
	all := Of(fit)
	require.Len(t, all, 1)
	assert.Zero(t, all[0].Steps)
	assert.Equal(t, 1.0, all[0].Weight)
	all, err = Windows(ctx, d, []float64{0, 1}, startAt, vi.Settings{})
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, all, 1)
}

// Bad settings and a model without a window are errors.
func TestErrors(t *testing.T) {
	m, _ := hills(t)
	d, err := m.Compile()
	require.NoError(t, err)
	_, err = Windows(context.Background(), d, []float64{0}, startAt, vi.Settings{})
	require.ErrorContains(t, err, "window")
	m, x := hills(t)
	m.Observe("window", graph.Normal(x, 1), 0)
	d, err = m.Compile()
	require.NoError(t, err)
	_, err = Windows(context.Background(), d, []float64{0}, startAt, vi.Settings{Steps: -1})
	require.ErrorContains(t, err, "Steps")
	nowhere := func(d *graph.Density, _ float64) (family.Q, error) {
		return vi.StartAt(d, map[string]float64{"y": 0})
	}
	_, err = Windows(context.Background(), d, []float64{0}, nowhere, vi.Settings{})
	require.ErrorContains(t, err, "y")
}
