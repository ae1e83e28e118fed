package graph_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
)

// Recording every expression of a random program, as it is made, changes no bit of the
// density: not its graph, its values, its gradients or its fingerprint.
func TestDeterministicChangesNothing(t *testing.T) {
	drawn, recorded := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		r := drawRandom(t, anyProgram())
		drawn++
		plain := mustCompile(t, r.Loops(nil))
		d := mustCompile(t, r.Loops(func(m *graph.Model, x graph.Expr) { m.Deterministic("made", x); recorded++ }))
		u := make([]float64, d.Dim())
		for i := range u {
			u[i] = rapid.Float64Range(-2, 2).Draw(t, "u")
		}
		require.Equal(t, plain.Program().Nodes(), d.Program().Nodes())
		require.Equal(t, plain.Fingerprint(), d.Fingerprint())
		same(t, []float64{logProb(t, plain, u...)}, []float64{logProb(t, d, u...)})
		same(t, gradient(t, plain, u...), gradient(t, d, u...))
	})
	require.Greater(t, recorded, 10*drawn)
}

// recordedTemperature is models.Temperature with everything recorded and named.
func recordedTemperature(obs []float64) *graph.Model {
	m := graph.NewModel()
	theta := m.Sample("theta0", graph.Normal(20, 0.001))
	m.Observe("obs", graph.Normal(theta, 1), obs[0])
	q := m.Deterministic("first", graph.Add(0, 0))
	for i := 1; i < len(obs); i++ {
		cold, hot := m.Name("cold", graph.Less(theta, 18)), m.Name("hot", graph.Greater(theta, 22))
		mean := m.Deterministic("mean", graph.If(cold, 0, graph.If(hot, 1, q)))
		noise := m.Sample(fmt.Sprintf("q%d-noise", i), graph.Normal(mean, 0.001))
		q = m.Deterministic("q", graph.If(graph.Greater(noise, 0.5), 1, 0))
		scale := m.Deterministic("scale", graph.If(graph.Greater(noise, 0.5), 0.22, 0.2))

		drift := graph.Div(graph.Sub(32, graph.Add(theta, graph.Mul(21, q))), 15)
		expected := m.Deterministic("expected", graph.Add(theta, drift))
		theta = m.Sample(fmt.Sprintf("theta%d", i), graph.Normal(expected, graph.Mul(2, scale)))
		m.Observe("obs", graph.Normal(theta, 1), obs[i])
		m.Deterministic("fahrenheit", graph.Add(32, graph.Mul(1.8, theta)))
	}
	return m
}

// Temperature has the same graph and the same bits with all of its states
// recorded, and they are those of the program in Go.
func TestDeterministicOfTemperature(t *testing.T) {
	obs := models.SimulateTemperature(20, 1)
	plain, d := mustCompile(t, models.Temperature(obs)), mustCompile(t, recordedTemperature(obs))
	require.Equal(t, plain.Program().Nodes(), d.Program().Nodes())
	require.Equal(t, plain.Fingerprint(), d.Fingerprint())
	require.Equal(t, "first", d.Deterministics()[0])
	rng := pcg(4)
	for range 50 {
		z := d.PriorDraw(nil, rng)
		require.Equal(t, logProb(t, plain, z...), logProb(t, d, z...))
		require.Equal(t, gradient(t, plain, z...), gradient(t, d, z...))
		x := d.DeterministicAt(nil, z)
		require.Len(t, x, 1+20*5)
		for i := range 20 { // mean, q, scale, expected, fahrenheit
			before, noise, theta := z[2*i], z[2*i+1], z[2*i+2]
			require.InDelta(t, noise, x[5*i+1], 0.006, "six standard deviations from its mean")
			require.InDelta(t, noise, x[5*i+2], 0.006)
			require.Equal(t, 0.2+0.02*x[5*i+2], x[5*i+3])
			require.InDelta(t, before+(32-before-21*x[5*i+2])/15, x[5*i+4], 1e-12)
			require.InDelta(t, 32+1.8*theta, x[5*i+5], 1e-12)
		}
	}
}

// Expressions of one name are a vector; one in an If block is NaN where its side
// is not taken; latents come as the program sees them.
func TestDeterministicAt(t *testing.T) {
	m := graph.NewModel()
	a := m.Sample("a", graph.Normal(0, 1))
	b := m.Sample("b", graph.Gamma(2, 1))
	for k := range 2 {
		m.Deterministic("scaled", graph.Mul(k+2, b))
	}
	m.If(graph.Greater(a, 1), func() {
		m.Deterministic("side", graph.Log(a))
	}, func() {
		m.Deterministic("side", graph.Neg(a))
	})
	m.Deterministic("on", graph.If(graph.Greater(b, 3), 1, 0))
	d := mustCompile(t, m)
	require.Equal(t, []string{"scaled", "scaled", "side", "side", "on"}, d.Deterministics())
	got := d.DeterministicAt(nil, []float64{2, math.Log(5)})
	for i, want := range []float64{10, 15, math.Ln2, math.NaN(), 1} {
		close12(t, want, got[i], i)
	}
	dst := make([]float64, 5)
	require.Equal(t, &dst[0], &d.DeterministicAt(dst, []float64{0.5, 0})[0])
	for i, want := range []float64{2, 3, math.NaN(), -0.5, 0} {
		close12(t, want, dst[i], i)
	}
}
