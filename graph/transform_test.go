package graph_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// A guard x > c on a transformed latent is the guard u > c′ on its coordinate,
// in all its disguises; with c outside the support it is no guard.
func TestGuardOnTransformedLatent(t *testing.T) {
	logit := func(p float64) float64 { return math.Log(p / (1 - p)) }
	for _, c := range []struct {
		name  string
		prior graph.Dist
		c     float64
		u     float64 // the coordinate of c
	}{
		{"positive", graph.Gamma(2, 3), 1.7, math.Log(1.7)},
		{"positive", graph.HalfNormal(1), 0.01, math.Log(0.01)},
		{"unit", graph.Beta(2, 3), 0.9, logit(0.9)},
		{"unit", graph.Beta(2, 3), 0.5, 0},
		{"interval", graph.Uniform(-2, 6), 0, logit(0.25)},
		{"interval", graph.Uniform(0, 1), 0.25, logit(0.25)},
		{"interval", graph.Uniform(3, 5), 4.9, logit(0.95)},
	} {
		for name, build := range map[string]func(x graph.Expr) graph.Expr{
			"x > c":       func(x graph.Expr) graph.Expr { return graph.If(graph.Greater(x, c.c), 1, 2) },
			"c < x":       func(x graph.Expr) graph.Expr { return graph.If(graph.Less(c.c, x), 1, 2) },
			"not x < c":   func(x graph.Expr) graph.Expr { return graph.If(graph.Not(graph.Less(x, c.c)), 1, 2) },
			"3x > 3c":     func(x graph.Expr) graph.Expr { return graph.If(graph.Greater(graph.Mul(3, x), 3*c.c), 1, 2) },
			"-x < -c":     func(x graph.Expr) graph.Expr { return graph.If(graph.Less(graph.Neg(x), -c.c), 1, 2) },
			"1+x > 1+c":   func(x graph.Expr) graph.Expr { return graph.If(graph.Greater(graph.Add(1, x), 1+c.c), 1, 2) },
			"x+x > c+c":   func(x graph.Expr) graph.Expr { return graph.If(graph.Greater(graph.Add(x, x), 2*c.c), 1, 2) },
			"(c−x)/2 < 0": func(x graph.Expr) graph.Expr { return graph.If(graph.Less(graph.Div(graph.Sub(c.c, x), 2), 0), 1, 2) },
		} {
			what := fmt.Sprint(c.name, " ", name, " c = ", c.c)
			m := graph.NewModel()
			m.Sample("other", graph.Normal(0, 1))
			m.Factor(build(m.Sample("x", c.prior)))
			d := mustCompile(t, m)
			require.Equal(t, 1, d.Arrangement().Len(), what)
			h := d.Arrangement().Plane(0)
			require.Equal(t, []int{1}, h.Index, what)
			closeTo(t, c.u, -h.Const/h.Coef[0], 1e-12, what)
			plain := graph.NewModel()
			plain.Sample("other", graph.Normal(0, 1))
			plain.Sample("x", c.prior)
			e := mustCompile(t, plain)
			for _, u := range []float64{c.u - 0.1, c.u + 0.1} {
				x := d.Constrain([]float64{0, u})[1]
				want := logProb(t, e, 0, u) + 2
				if x > c.c {
					want--
				}
				close12(t, want, logProb(t, d, 0, u), what, u)
			}
		}
	}
}

func TestGuardOutsideSupport(t *testing.T) {
	for _, c := range []struct {
		prior graph.Dist
		c     float64
		above bool // whether x > c always
	}{
		{graph.Gamma(1, 1), -3, true},
		{graph.Gamma(1, 1), 0, true},
		{graph.Beta(1, 1), 0, true},
		{graph.Beta(1, 1), 1, false},
		{graph.Beta(1, 1), 7, false},
		{graph.Uniform(-2, 5), -2, true},
		{graph.Uniform(-2, 5), -2.5, true},
		{graph.Uniform(-2, 5), 5, false},
		{graph.Uniform(-2, 5), 6, false},
	} {
		for _, scale := range []float64{1, -2} {
			m := graph.NewModel()
			x := m.Sample("x", c.prior)
			g := graph.Greater(graph.Mul(scale, x), scale*c.c)
			if scale < 0 {
				g = graph.Not(g)
			}
			v, constant := graph.If(g, 1, 0).IsConst()
			require.True(t, constant, c)
			require.Equal(t, c.above, v == 1, c)
			require.Zero(t, mustCompile(t, m).Arrangement().Len())
		}
	}
}

// Functions of a transformed latent that are affine in its coordinate may be in
// any guard: log x of a log-normal x is a normal.
func TestGuardOnLogOfTransformedLatent(t *testing.T) {
	m := graph.NewModel()
	x, y := m.Sample("x", graph.LogNormal(0, 1)), m.Sample("y", graph.LogNormal(0, 1))
	m.Factor(graph.If(graph.Greater(graph.Log(x), graph.Mul(2, graph.Log(y))), 1, 2))
	d := mustCompile(t, m)
	h := d.Arrangement().Plane(0)
	require.Equal(t, []int{0, 1}, h.Index)
	require.InDelta(t, -2, h.Coef[1]/h.Coef[0], 1e-15)
	require.Zero(t, h.Const)
}
