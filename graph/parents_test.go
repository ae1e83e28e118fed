package graph_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// parentNames are the parents of each latent of d, by name.
func parentNames(d *graph.Density) map[string][]string {
	names, named := d.Latents(), map[string][]string{}
	for i, parents := range d.Parents() {
		named[names[i]] = nil
		for _, j := range parents {
			named[names[i]] = append(named[names[i]], names[j])
		}
	}
	return named
}

func TestParentsOfThePapersModels(t *testing.T) {
	want := map[string]map[string][]string{
		"proposition": {"z": nil},
		"textmsg":     {"x0": nil, "x1": nil, "z": nil},
		"influenza":   {"f0": nil},
		"temperature": {"theta0": nil},
	}
	for i := 1; i <= 12; i++ {
		want["influenza"][fmt.Sprintf("v%d", i)] = nil
		want["influenza"][fmt.Sprintf("w%d", i)] = nil
		want["influenza"][fmt.Sprintf("f%d", i)] = nil // but a guard's
	}
	for i := 1; i <= 20; i++ { // the state is a guard's
		want["temperature"][fmt.Sprintf("q%d-noise", i)] = nil
		want["temperature"][fmt.Sprintf("theta%d", i)] = []string{fmt.Sprintf("theta%d", i-1)}
	}
	for name, model := range compilePaper(t) {
		require.Equal(t, want[name], parentNames(model.d), name)
	}
}

func TestParents(t *testing.T) {
	cases := []struct {
		name  string
		build func(m *graph.Model, a, b, c graph.Expr) graph.Dist
		want  []string
	}{
		{"numbers", func(_ *graph.Model, _, _, _ graph.Expr) graph.Dist { return graph.Normal(0, 1) }, nil},
		{"a mean", func(_ *graph.Model, a, _, _ graph.Expr) graph.Dist { return graph.Normal(a, 1) }, []string{"a"}},
		{"a transformed scale", func(_ *graph.Model, _, _, c graph.Expr) graph.Dist { return graph.Normal(0, c) }, []string{"c"}},
		{"two parameters", func(_ *graph.Model, a, b, c graph.Expr) graph.Dist {
			return graph.Normal(graph.Mul(a, b), graph.Add(c, graph.Square(a)))
		}, []string{"a", "b", "c"}},
		{"a guard of numbers", func(_ *graph.Model, _, b, _ graph.Expr) graph.Dist {
			return graph.Normal(graph.If(graph.Greater(b, 1), 2, 3), 1)
		}, nil},
		{"a guard of two latents and a branch", func(_ *graph.Model, a, b, c graph.Expr) graph.Dist {
			return graph.Normal(graph.If(graph.Greater(a, b), c, 3), 1)
		}, []string{"c"}},
		{"a guard on a transformed latent", func(_ *graph.Model, _, _, c graph.Expr) graph.Dist {
			return graph.Normal(graph.If(graph.Greater(c, 2), 1, 0), 1)
		}, nil},
		{"a formula", func(_ *graph.Model, a, b, _ graph.Expr) graph.Dist {
			return graph.Normal(graph.If(graph.And(graph.Greater(a, 0), graph.Not(graph.Less(b, 1))), 1, 0), 1)
		}, nil},
		{"a deterministic expression", func(m *graph.Model, a, b, _ graph.Expr) graph.Dist {
			return graph.Normal(m.Deterministic("sum", graph.Add(a, b)), 1)
		}, []string{"a", "b"}},
		{"what cancels", func(_ *graph.Model, a, b, _ graph.Expr) graph.Dist {
			return graph.Normal(graph.Sub(graph.Add(a, b), a), 1)
		}, []string{"b"}},
		{"the same on both sides", func(_ *graph.Model, a, b, _ graph.Expr) graph.Dist {
			return graph.Normal(graph.If(graph.Greater(a, 0), b, b), 1)
		}, []string{"b"}},
		{"another latent between", func(m *graph.Model, a, _, _ graph.Expr) graph.Dist {
			return graph.Normal(m.Sample("between", graph.Normal(a, 1)), 1)
		}, []string{"between"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := graph.NewModel()
			m.Sample("unused", graph.Normal(0, 1))
			prior := c.build(m, m.Sample("a", graph.Normal(0, 1)), m.Sample("b", graph.Normal(0, 1)), m.Sample("c", graph.Gamma(2, 1)))
			x := m.Sample("x", prior)
			m.Observe("y", graph.Normal(x, 1), 2)
			require.Equal(t, c.want, parentNames(mustCompile(t, m))["x"])
		})
	}
}

// A branch around a Sample is not one of its prior, and observations are nobody's
// parents.
func TestParentsInsideIf(t *testing.T) {
	m := graph.NewModel()
	a := m.Sample("a", graph.Normal(0, 1))
	m.If(graph.Greater(a, 0), func() {
		m.Observe("y", graph.Normal(m.Sample("b", graph.Normal(0, 1)), 1), 1)
	}, nil)
	require.Equal(t, [][]int{nil, nil}, mustCompile(t, m).Parents())
}

// A recurrence over all earlier latents has all of them as parents, the long
// way.
func TestParentsOfARecurrence(t *testing.T) {
	const n = 100
	m := graph.NewModel()
	var state graph.Expr
	for i := range n {
		state = graph.Tanh(graph.Add(state, m.Sample(fmt.Sprint("x", i), graph.Normal(state, 1))))
	}
	for i, parents := range mustCompile(t, m).Parents() {
		require.Len(t, parents, i)
		for j, p := range parents {
			require.Equal(t, j, p)
		}
	}
}

// A chain through guards costs as much for each of its latents however long it is,
// and so does a long recurrence in few latents that each prior uses.
func BenchmarkParents(b *testing.B) {
	for _, n := range []int{100, 1600} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := graph.NewModel()
			a := m.Sample("a", graph.Normal(0, 1))
			state, x := a, a
			for i := range n {
				state = graph.Sin(graph.Add(a, state))
				x = m.Sample(fmt.Sprint("x", i), graph.Normal(graph.If(graph.Greater(x, 1), state, x), 1))
			}
			d := mustCompile(b, m)
			b.ReportAllocs()
			for b.Loop() {
				require.Equal(b, []int{0, n - 1}, d.Parents()[n])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/latent")
		})
	}
}
