package smc_test

import (
	"context"
	"fmt"
	"math"
	"strings"
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

// Where no draw from the prior meets a requirement, particles are led there: a normal beyond 10 and 40 standard deviations, at a
// curve, and where one of two things is so and a third is not.
func TestFarRequirements(t *testing.T) {
	for name, c := range map[string]struct {
		require func(x, y graph.Expr) graph.Guard
		mean    float64 // of x
	}{
		"10":  {func(x, _ graph.Expr) graph.Guard { return graph.Greater(x, 10) }, 10.0980931}, // φ(10)/Φ(−10)
		"-40": {func(x, _ graph.Expr) graph.Guard { return graph.Less(x, -40) }, -40.0249689},
		"formula": {func(x, y graph.Expr) graph.Guard {
			return graph.And(graph.Or(graph.Greater(x, 9), graph.Greater(y, 30)), graph.Not(graph.Less(x, 8)))
		}, 9.1085231}, // beyond 9 with all but nothing of it
		"curve": {func(x, _ graph.Expr) graph.Guard { return graph.Greater(graph.Exp(x), math.Exp(10)) }, 10.0980931},
	} {
		d := density(t, func(m *graph.Model) {
			x := m.SampleN("x", 2, graph.Normal(0, 1))
			m.Require(c.require(x[0], x[1]))
		})
		for seed := range uint64(3) {
			r, err := smc.Run(context.Background(), d, smc.Settings{Seed: seed, Effective: 4000})
			require.NoError(t, err, name)
			x := r.Mean(values(d, r, "x[0]"))
			require.InDelta(t, c.mean, x.Value, 5*x.SE, name)
			require.Less(t, x.SE, 0.005, name)
		}
	}
}

// Requirements that contradict each other are named.
func TestContradiction(t *testing.T) {
	d := density(t, func(m *graph.Model) {
		x := m.SampleN("x", 3, graph.Normal(0, 1))
		m.Require(graph.Less(x[0], x[1]))
		m.Require(graph.Less(x[1], x[2]))
		m.Require(m.Name("turns", graph.Less(x[2], x[0])))
	})
	_, err := smc.Run(context.Background(), d, smc.Settings{Seed: 1})
	at := func(line int, guard string) string { return fmt.Sprintf(`require_test\.go:%d \(on %s\)`, line, guard) }
	require.Regexp(t, "^smc: no point was found that meets all 3 requirements: all that were tried break at least 1 of these: "+
		strings.Join([]string{at(103, "x.*"), at(104, "x.*"), at(105, "turns x.*")}, ", ")+"$", err.Error())

	for name, impossible := range map[string]func(m *graph.Model, k graph.Expr){
		"values": func(m *graph.Model, k graph.Expr) { m.Require(graph.Equal(k, 1)); m.Require(graph.Equal(k, 3)) },
		"curves": func(m *graph.Model, k graph.Expr) {
			x := m.Sample("x", graph.Normal(0, 1))
			m.Require(graph.Less(graph.Add(k, graph.Square(x)), 1))
			m.Require(graph.Greater(graph.Abs(x), 2))
		},
	} {
		d := density(t, func(m *graph.Model) { impossible(m, m.Sample("k", graph.Categorical(1, 1, 1, 1, 1, 1))) })
		_, err := smc.Run(context.Background(), d, smc.Settings{Seed: 1})
		require.ErrorContains(t, err, "at least 1 of these: require_test.go:", name)
	}
}
