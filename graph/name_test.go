package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// Names are kept in order, shared names are vectors, and any condition may have
// one: compound, negated, and simply true or false.
func TestNames(t *testing.T) {
	m := graph.NewModel()
	var on []graph.Guard
	var z []graph.Expr
	for i := range 3 {
		z = append(z, m.Sample(fmt.Sprint("z", i), graph.Normal(0, 1)))
		on = append(on, m.Name("on", graph.Greater(z[i], i)))
	}
	both := m.Name("both", graph.And(on[0], on[1]))
	m.Name("off", graph.Not(on[2]))
	m.Name("always", graph.Greater(2, 1))
	m.Name("never", graph.Greater(graph.Sub(z[0], z[0]), 1))
	m.Name("both", graph.Or(on...))
	m.Factor(graph.If(both, 1, 0))
	d := mustCompile(t, m)

	require.Equal(t, []string{"on", "both", "off", "always", "never"}, d.GuardNames())
	require.Equal(t, on, d.Named("on"))
	require.Len(t, d.Named("both"), 2)
	require.Equal(t, both, d.Named("both")[0])
	require.Empty(t, d.Named("nothing"))
	for _, z := range [][]float64{{1, 2, 3}, {1, 0, 0}, {-1, -1, -1}, {-1, 2, 0}} {
		s := d.Arrangement().Signs(z)
		holds := func(name string, k int) bool { return d.Named(name)[k].Holds(s) }
		for i := range 3 {
			require.Equal(t, z[i] > float64(i), holds("on", i))
		}
		require.Equal(t, z[0] > 0 && z[1] > 1, holds("both", 0))
		require.Equal(t, z[0] > 0 || z[1] > 1 || z[2] > 2, holds("both", 1))
		require.Equal(t, z[2] <= 2, holds("off", 0))
		require.True(t, holds("always", 0))
		require.False(t, holds("never", 0))
	}
	for _, name := range d.GuardNames() {
		for _, g := range d.Named(name) {
			require.True(t, g.Of(d))
		}
	}
}

// A model without names has none, and naming changes no bit.
func TestNamingChangesNothing(t *testing.T) {
	build := func(name func(m *graph.Model, g graph.Guard) graph.Guard) *graph.Density {
		m := graph.NewModel()
		a, b := m.Sample("a", graph.Normal(0, 1)), m.Sample("b", graph.Normal(0, 1))
		g := name(m, graph.Greater(graph.Add(a, b), 1))
		m.Factor(graph.If(g, a, graph.If(name(m, graph.Not(graph.Less(a, 0))), b, 2)))
		return mustCompile(t, m)
	}
	plain := build(func(_ *graph.Model, g graph.Guard) graph.Guard { return g })
	named := build(func(m *graph.Model, g graph.Guard) graph.Guard { return m.Name("g", g) })
	require.Empty(t, plain.GuardNames())
	require.Empty(t, plain.Guards()[0].Name())
	require.Equal(t, plain.Program().Nodes(), named.Program().Nodes())
	require.Equal(t, plain.Fingerprint(), named.Fingerprint())
	for _, z := range [][]float64{{0, 0}, {1, 1}, {-3, 1}} {
		require.Equal(t, logProb(t, plain, z...), logProb(t, named, z...))
	}
}

// A comparison has the name that was given to itself, whichever way its
// hyperplane is oriented; its negation, or a condition of several, names none.
func TestGuardInfoName(t *testing.T) {
	m := graph.NewModel()
	a, b := m.Sample("a", graph.Normal(0, 1)), m.Sample("b", graph.Normal(0, 1))
	m.Name("hot", graph.Greater(a, 1))
	m.Name("cold", graph.Less(a, 0))
	m.Name("warm", graph.Not(graph.Less(a, 0.5)))
	m.Name("pair", graph.And(graph.Greater(b, 0), graph.Less(b, 1)))
	for i := range 2 {
		m.Name("up", graph.Greater(graph.Mul(1-2*i, b), 2))
	}
	m.Name("other", m.Name("first", graph.Greater(a, b)))
	m.Name("same", graph.Greater(graph.Mul(2, a), 2)) // another comparison of the first hyperplane
	d := mustCompile(t, m)
	var names []string
	for _, g := range d.Guards() {
		names = append(names, g.Name())
	}
	require.Equal(t, []string{"hot", "cold", "", "", "", "up[0]", "up[1]", "first", "same"}, names)
	require.Equal(t, len(names)-1, d.Arrangement().Len(), "hot and same are one hyperplane")
}

// A comparison is written with the latents' names, as it was meant.
func TestGuardInfoString(t *testing.T) {
	m := graph.NewModel()
	var x []graph.Expr
	for i := range 9 {
		x = append(x, m.Sample(fmt.Sprintf("x[%d]", i), graph.Normal(0, 1)))
	}
	rate := m.Sample("rate", graph.Exponential(1))
	p := m.Sample("p", graph.Beta(1, 1))
	u := m.Sample("u", graph.Uniform(-2, 3))
	v := m.Sample("v", graph.Uniform(0, 4))
	w := m.Sample("w", graph.Uniform(1, 2))
	unit := m.Sample("unit", graph.Uniform(0, 1))
	for _, c := range []struct {
		g    graph.Guard
		want string
	}{
		{graph.Greater(graph.Sub(x[3], graph.Mul(0.5, x[2])), 0.2), "x[3] - 0.5·x[2] > 0.2"},
		{graph.Greater(x[0], 1.5), "x[0] > 1.5"},
		{graph.Less(x[0], 1.5), "x[0] < 1.5"},
		{graph.Greater(1, graph.Add(x[0], x[1])), "x[0] + x[1] < 1"},
		{graph.Greater(graph.Mul(3, x[0]), graph.Mul(-2, x[1])), "3·x[0] + 2·x[1] > 0"},
		{graph.Less(x[0], x[1]), "x[1] - x[0] > 0"},
		{graph.Greater(graph.Sum(x...), -3), "x[0] + x[1] + x[2] + x[3] + x[4] + x[5] … > -3"},
		{graph.Greater(x[8], graph.Sum(x[:8]...)), "x[0] + x[1] + x[2] + x[3] + x[4] + x[5] … < 0"},
		{graph.Greater(1, graph.Mul(2, x[7])), "x[7] < 0.5"},
		{graph.Greater(x[6], 0), "x[6] > 0"},
		{graph.Greater(graph.Log(rate), graph.Mul(2, x[5])), "log(rate) - 2·x[5] > 0"},
		{graph.Greater(rate, 2), "rate > 2"},
		{graph.Less(rate, 1), "rate < 1"},
		{graph.Greater(p, 0.5), "p > 0.5"},
		{graph.Greater(u, 0.5), "u > 0.5"},
		{graph.Less(v, 2), "v < 2"},
		{graph.Greater(w, 1.5), "w > 1.5"},
		{graph.Greater(unit, 0.5), "unit > 0.5"},
	} {
		m.Name(c.want, c.g)
	}
	d := mustCompile(t, m)
	for _, g := range d.Guards() {
		require.Equal(t, g.Name(), g.String())
		require.Equal(t, g.String(), g.Condition(g.Side.Positive))
		opposite := strings.NewReplacer(" > ", " < ", " < ", " > ").Replace(g.String())
		require.Equal(t, opposite, g.Condition(!g.Side.Positive))
		require.Equal(t, strings.NewReplacer(" > ", " = ", " < ", " = ").Replace(g.String()), g.Equation())
		require.Contains(t, g.Place(), "name_test.go:")
	}
	require.Len(t, d.Guards(), 18)
}
