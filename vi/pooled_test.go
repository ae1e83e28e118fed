package vi

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/smc"
)

// A sampler's draws that are pooled with others have weights, which all numbers are made with. What is saved gives the same numbers, and the
// same diagnostics, which are of the sampler's draws alone; a file with weights that cannot be is an error.
func TestPooledSaved(t *testing.T) {
	d := effects(t, 3)
	p, err := Fit(context.Background(), d, Settings{Seed: 1, Method: Sampler{Draws: 300}})
	require.NoError(t, err)
	r := *p.findings.run
	plain, err := p.Mean("tau")
	require.NoError(t, err)
	rng := parallel.NewRand(1)
	for k := range p.findings.sample.Len() {
		r.Z = append(r.Z, p.findings.sample.Point(k))
	}
	for range 2 * r.Chains { // half of the weight is elsewhere
		r.Z = append(r.Z, d.PriorDraw(nil, rng))
	}
	r.Proposed = 2 * r.Chains
	for k := range r.Z {
		r.Weights = append(r.Weights, rng.Float64()/float64(len(r.Z)-r.Proposed))
		if k >= len(r.Z)-r.Proposed {
			r.Weights[k] = rng.Float64() / float64(r.Proposed)
		}
	}
	p.take(&marginal{}, r)
	mean, err := p.Mean("tau")
	require.NoError(t, err)
	prior := 3 * math.Sqrt(2/math.Pi)
	require.InDelta(t, (plain.Value+prior)/2, mean.Value, 0.2)
	require.Greater(t, math.Abs(plain.Value-prior), 0.5)
	var b bytes.Buffer
	require.NoError(t, p.Save(&b))
	q, err := Load(&b, d)
	require.NoError(t, err)
	again, err := q.Mean("tau")
	require.NoError(t, err)
	require.Equal(t, mean, again)
	before, err := p.Diagnostics()
	require.NoError(t, err)
	after, err := q.Diagnostics()
	require.NoError(t, err)
	require.Equal(t, before.Bulk, after.Bulk)
	for what, change := range map[string]func(s *savedRun){
		"1000 of 3072 draws":          func(s *savedRun) { s.Proposed = 1000 },
		"1 weights of 3072 draws":     func(s *savedRun) { s.Weights = encoded([]float64{1}) },
		"3072 weights of 3072 draws":  func(s *savedRun) { s.Weights = encoded(append(make([]float64, 3071), -1)) },
		"weights: illegal base64":     func(s *savedRun) { s.Weights = "-" },
		"draws that are not finite":   func(s *savedRun) { s.Z = encoded(slices.Repeat([]float64{math.NaN()}, 4*3072)) },
		"numbers of draws of 4 laten": func(s *savedRun) { s.Z = encoded([]float64{1}) },
	} {
		saved := p.findings.savedRun()
		change(saved)
		require.ErrorContains(t, saved.restore(p, Estimate{}), what)
	}
}

// Switches that are summed out are drawn given the rest of a point that is pooled.
func TestPooledSwitches(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	up := m.Sample("up", graph.Bernoulli(0.3))
	m.Observe("y", graph.Normal(graph.If(graph.Greater(up, 0.5), graph.Add(x, 1), x), 1), 1.5)
	d := mustCompile(t, m)
	var run smc.Settings
	w, err := withoutSwitches(d, &run, nil)
	require.NoError(t, err)
	const n, at = 10_001, 0.4
	z := make([][]float64, n)
	for k := range z {
		z[k] = []float64{at, 0}
	}
	w.complete(1)(z)
	_, cuts := d.Values(1)
	share := 0.0
	for _, x := range z {
		require.Equal(t, at, x[0])
		if x[1] > cuts[0] {
			share += 1. / n
		}
	}
	one, zero := 0.3*math.Exp(-0.5*0.1*0.1), 0.7*math.Exp(-0.5*1.1*1.1)
	require.InDelta(t, one/(one+zero), share, 5*math.Sqrt(0.25/n))
}

// A sample goes on from one before only if it has its draws, and these are still there to be compared.
func TestBegins(t *testing.T) {
	draws := [][]float64{{1}, {2}, {3}}
	require.True(t, begins(draws, draws[:2]))
	require.True(t, begins(draws, draws))
	require.False(t, begins(draws[:2], draws))
	require.False(t, begins(draws, [][]float64{{1}, {2}}))
	require.False(t, begins(draws, nil))
}
