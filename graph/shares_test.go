package graph

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
)

// The shares of a residual are the integrals of its density, in both tails, and
// quantiles are their inverse.
func TestShares(t *testing.T) {
	for _, c := range []struct {
		law *law
		p   []float64
	}{{normal, []float64{0, 1}}, {logNormal, []float64{0, 1}}, {logistic, []float64{0, 1}}, {uniform, []float64{0, 1}}, {halfNormal, []float64{1}}, {exponential, []float64{1}}} {
		s, total := c.law.shares, 0.0
		edges := []float64{-12, -5, -2, -0.3, 0, 0.1, 0.7, 1.5, 2.2}
		for k, hi := range edges[1:] {
			lo := edges[k]
			want := quad.Fixed(func(e float64) float64 { return math.Exp(c.law.residual(e, c.p)) }, lo, hi, 200, nil, 0)
			got := math.Exp(s.logMass(lo, hi))
			total += got
			require.InEpsilon(t, want, got, 1e-9, "%s (%v, %v)", c.law.name, lo, hi)
			for _, u := range []float64{1e-9, 0.2, 0.7, 1 - 1e-9} {
				x := s.quantile(u, lo, hi)
				require.True(t, lo < x && x < hi, "%s: %v of (%v, %v)", c.law.name, x, lo, hi)
				if u > 0.1 && u < 0.9 {
					require.InDelta(t, u, math.Exp(s.logMass(lo, x)-s.logMass(lo, hi)), 1e-9, "%s (%v, %v)", c.law.name, lo, hi)
				}
			}
		}
		all := total + math.Exp(s.logMass(math.Inf(-1), edges[0])) + math.Exp(s.logMass(edges[len(edges)-1], math.Inf(1)))
		require.InDelta(t, 1, all, 1e-12, c.law.name)
		require.InDelta(t, 0, s.logMass(math.Inf(-1), math.Inf(1)), 1e-12, c.law.name)
	}
}

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
	require.Equal(t, []float64{0.5, 2.5}, list[1].Cuts)
	require.Equal(t, []float64{-0.5}, list[1].Slope)
	require.InDelta(t, -1, list[1].Shift([]float64{2, 0, 0, 0, 0, 0, 9}, 1, 0), 1e-15)
	require.Equal(t, "change", d.Latents()[list[0].Latent])
	require.Equal(t, []float64{0, 1, 2}, list[0].Cuts)
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
