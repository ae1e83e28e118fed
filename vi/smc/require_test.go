package smc_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/smc"
)

// An order of ten that the prior hardly ever has: the evidence is 1/10!, each draw has the order, and the mean of the first is
// that of the smallest of ten standard normals.
func TestRequireOrder(t *testing.T) {
	d := density(t, func(m *graph.Model) {
		skill := m.SampleN("skill", 10, graph.Normal(0, 1))
		for k := range 9 {
			m.Require(graph.Less(skill[k], skill[k+1]))
		}
	})
	r, err := smc.Run(context.Background(), d, smc.Settings{Seed: 1})
	require.NoError(t, err)
	for _, z := range r.Z {
		for k := range 9 {
			require.Less(t, z[k], z[k+1])
		}
	}
	factorial, _ := math.Lgamma(11)
	require.InDelta(t, -factorial, r.LogEvidence.Value, 5*r.LogEvidence.SE)
	require.Less(t, r.LogEvidence.SE, 0.15)
	least := r.Mean(values(d, r, "skill[0]"))
	require.InDelta(t, -1.53875273, least.Value, 5*least.SE)
	require.Less(t, least.SE, 0.03)
}

// Requirements on a plane and on a curve, in a block as well, against a grid.
func TestRequireCurve(t *testing.T) {
	d := density(t, func(m *graph.Model) {
		a, b, c := m.Sample("a", graph.Normal(0, 1)), m.Sample("b", graph.Normal(0, 1)), m.Sample("c", graph.Bernoulli(0.5))
		m.Require(graph.Greater(graph.Add(a, b), 1))
		m.If(graph.Equal(c, 1), func() { m.Require(graph.Greater(a, graph.Square(b))) }, nil)
	})
	r, err := smc.Run(context.Background(), d, smc.Settings{Seed: 1})
	require.NoError(t, err)
	var mass, in, mean float64
	const h = 0.004
	for x := -6 + h/2; x < 6; x += h {
		for y := -6 + h/2; y < 6; y += h {
			if x+y > 1 {
				w := h * h * math.Exp(-x*x/2-y*y/2) / (2 * math.Pi)
				mass, mean = mass+w/2, mean+w/2*x
				if x > y*y {
					in, mean = in+w/2, mean+w/2*x
				}
			}
		}
	}
	z := r.LogEvidence
	require.InDelta(t, math.Log(mass+in), z.Value, 5*z.SE)
	one := r.Mean(values(d, r, "c"))
	require.InDelta(t, in/(mass+in), one.Value, 5*one.SE)
	a := r.Mean(values(d, r, "a"))
	require.InDelta(t, mean/(mass+in), a.Value, 5*a.SE)
	require.Less(t, max(z.SE, one.SE, a.SE), 0.05)
}

// Requirements that contradict each other are named.
func TestContradiction(t *testing.T) {
	d := density(t, func(m *graph.Model) {
		x := m.SampleN("x", 3, graph.Normal(0, 1))
		m.Require(graph.Less(x[0], x[1]))
		m.Require(graph.Less(x[1], x[2]))
		m.Require(graph.Less(x[2], x[0]))
	})
	_, err := smc.Run(context.Background(), d, smc.Settings{Seed: 1})
	require.ErrorContains(t, err, "smc: no point was found that meets all 3 requirements: where the most hold, those of require_test.go:")
}
