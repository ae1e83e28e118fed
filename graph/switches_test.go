package graph

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// A latent that something else uses is no switch, nor is one whose guards share a
// term with those of a switch that has as many.
func TestSwitches(t *testing.T) {
	m := NewModel()
	level := m.Sample("level", Normal(0, 1))
	change := m.Sample("change", Normal(level, 2)) // its prior may depend on others
	other := m.Sample("other", Uniform(0, 3))
	used := m.Sample("used", Normal(0, 1))
	slanted := m.Sample("slanted", Normal(0, 1))
	heavy := m.Sample("heavy", StudentsT(0, 1, 3)) // its distribution function is not known
	for k := range 3 {
		m.Observe("y", Normal(If(Greater(change, k), level, 1), 1), 0.5)
	}
	m.Observe("w", Normal(If(Greater(other, 1), 1, 2), 1), 0.5)
	m.Observe("both", Normal(If(And(Greater(change, 1), Greater(other, 2)), 1, 2), 1), 0.5)
	m.Observe("v", Normal(If(Greater(used, 1), used, 2), 1), 0.5)
	m.Observe("u", Normal(If(Greater(Add(slanted, level), 1), 1, 2), 1), 0.5)
	m.Observe("u", Normal(If(Greater(Sub(slanted, level), 1), 1, 2), 1), 0.5)
	tilted := m.Sample("tilted", Normal(0, 1))
	m.Observe("x", Normal(If(Less(Add(level, Mul(2, tilted)), 1), 1, 2), 1), 0.5)
	m.Observe("x", Normal(If(Less(Add(level, Mul(2, tilted)), 5), 1, 2), 1), 0.5)
	m.Observe("t", Normal(If(Greater(heavy, 1), 1, 2), 1), 0.5)
	d, err := m.Compile()
	require.NoError(t, err)
	list := d.Switches()
	require.Len(t, list, 2)
	require.Equal(t, "tilted", d.Latents()[list[1].Latent])
	cuts := func(s SwitchLatent, z ...float64) []float64 {
		out := make([]float64, len(s.Planes))
		s.Thresholds(1).Fill(out, z)
		return out
	}
	require.Equal(t, []int{0}, list[1].Index)
	require.InDeltaSlice(t, []float64{-0.5, 1.5}, cuts(list[1], 2, 0, 0, 0, 0, 0, 9), 1e-15)
	require.Equal(t, "change", d.Latents()[list[0].Latent])
	require.Equal(t, []float64{0, 1, 2}, cuts(list[0], 5, 5, 5, 5, 5, 5, 5))
}

// The thresholds of a switch may be any functions of other latents: of μ + τ·η > x, η = (x − μ)/τ.
// A guard whose sign in the latent is not known makes none.
func TestCurvedSwitches(t *testing.T) {
	m := NewModel()
	mu, tau := m.Sample("mu", Normal(0, 1)), m.Sample("tau", Gamma(2, 1))
	eta := m.Sample("eta", Normal(0, 1))
	weight := m.Sample("weight", Normal(0, 1))
	for k := range 3 {
		m.Observe("y", Normal(If(Greater(Add(mu, Mul(tau, eta)), 3-k), 1, 2), 1), 0.5)
	}
	m.Observe("w", Normal(If(Greater(Add(mu, Mul(mu, weight)), 0.3), 1, 2), 1), 0.5)
	d, err := m.Compile()
	require.NoError(t, err)
	list := d.Switches()
	require.Len(t, list, 1)
	require.Equal(t, 2, list[0].Latent)
	require.Equal(t, []int{0, 1}, list[0].Index)
	require.False(t, list[0].Down)
	out := make([]float64, 3*2)
	list[0].Thresholds(2).Fill(out, []float64{0.5, -1, math.Log(2), 0, 9, 9, 0, 0})
	require.InDeltaSlice(t, []float64{0.25, 2, 0.75, 3, 1.25, 4}, out, 1e-12)
}

// What Across moves is what the program moves: a latent whose prior has jumped, and the
// signs on it; others stay.
func TestAcross(t *testing.T) {
	m := NewModel()
	x := m.Sample("x", Normal(0, 1))
	noise := m.Sample("noise", Normal(If(Greater(x, 1), 1, 0), 0.01))
	near := m.Sample("near", Normal(If(Greater(x, 1), 1, 0), 2))
	m.Observe("y", Normal(If(Greater(noise, 0.5), near, 0), 1), 1)
	d, err := m.Compile()
	require.NoError(t, err)
	z := []float64{0.5, 0.003, 0.2}
	from := d.Arrangement().Signs(z)
	require.Equal(t, "--", from.String())
	require.Equal(t, "++", d.Across(z, from, []int{0}, 6).String())
	require.InDeltaSlice(t, []float64{0.5, 1.003, 0.2}, z, 1e-12)
	z = []float64{0.5, 0.003, 0.2}
	require.Equal(t, "+-", d.Across(z, from, []int{0}, math.Inf(1)).String())
	require.Equal(t, []float64{0.5, 0.003, 0.2}, z)
}
