package graph_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// A comparison of a quotient changes also where its denominator changes sign, which no
// zero of what is compared shows: it becomes comparisons without a pole, or an error.
func TestPoles(t *testing.T) {
	for _, c := range []struct {
		name   string
		guard  func(a, b, c graph.Expr) graph.Guard
		holds  func(a, b, c float64) bool
		planes int
	}{
		{"a quotient", func(a, b, c graph.Expr) graph.Guard { return graph.Greater(graph.Add(graph.Div(a, b), c), 0.5) },
			func(a, b, c float64) bool { return a/b+c > 0.5 }, 2},
		{"two of one denominator", func(a, b, c graph.Expr) graph.Guard {
			return graph.Less(graph.Add(graph.Div(a, b), graph.Div(2, b)), c)
		}, func(a, b, c float64) bool { return a/b+2/b < c }, 2},
		{"two denominators", func(a, b, c graph.Expr) graph.Guard {
			return graph.Greater(graph.Add(graph.Div(a, b), graph.Div(1, c)), -1)
		},
			func(a, b, c float64) bool { return a/b+1/c > -1 }, 3},
		{"a quotient in a square", func(a, b, c graph.Expr) graph.Guard {
			return graph.Greater(graph.Square(graph.Add(a, graph.Div(c, b))), 0.5)
		}, func(a, b, c float64) bool { return (a+c/b)*(a+c/b) > 0.5 }, 3},
		{"a positive denominator", func(a, b, c graph.Expr) graph.Guard {
			return graph.Greater(graph.Add(graph.Div(a, graph.Add(1, graph.Square(b))), c), 0.5)
		}, func(a, b, c float64) bool { return a/(1+b*b)+c > 0.5 }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := graph.NewModel()
			x, y, z := m.Sample("a", graph.Normal(0, 1)), m.Sample("b", graph.Normal(0, 1)), m.Sample("c", graph.Normal(0, 1))
			m.Factor(graph.If(c.guard(x, y, z), 2, 0))
			plain := graph.NewModel()
			for _, name := range []string{"a", "b", "c"} {
				plain.Sample(name, graph.Normal(0, 1))
			}
			d, prior := mustCompile(t, m), mustCompile(t, plain)
			require.Equal(t, c.planes, d.Arrangement().Len())
			rng := rand.New(rand.NewPCG(1, 2))
			sides := map[bool]int{}
			for range 1000 {
				at := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
				got, err := d.LogProb(at)
				require.NoError(t, err)
				without, err := prior.LogProb(at)
				require.NoError(t, err)
				holds := c.holds(at[0], at[1], at[2])
				sides[holds]++
				require.Equal(t, holds, got-without > 1, "%v", at)
			}
			require.Greater(t, min(sides[true], sides[false]), 50)
		})
	}
	for name, e := range map[string]func(a, b graph.Expr) graph.Expr{
		"a quotient in a function": func(a, b graph.Expr) graph.Expr { return graph.Add(graph.Exp(graph.Div(a, b)), a) },
		"a tangent":                func(a, b graph.Expr) graph.Expr { return graph.Add(graph.Tan(a), b) },
	} {
		m := graph.NewModel()
		m.Factor(graph.If(graph.Greater(e(m.Sample("a", graph.Normal(0, 1)), m.Sample("b", graph.Normal(0, 1))), 1), 1, 0))
		_, err := m.Compile()
		require.ErrorContains(t, err, "pole", name)
	}
}

// A part that occurs twice in each next one is looked at once: an expression of 60 steps has 2⁶⁰ ways down.
func TestDeepGuard(t *testing.T) {
	m := graph.NewModel()
	z, w := m.Sample("z", graph.Normal(0, 1)), m.Sample("w", graph.Normal(0, 1))
	e := z
	for range 60 {
		e = graph.Add(graph.Mul(0.5, graph.Tanh(e)), graph.Exp(graph.Neg(graph.Square(e))))
	}
	m.Observe("y", graph.Normal(graph.If(graph.Greater(w, e), 1, 0), 1), 0.3)
	d := mustCompile(t, m)
	require.Equal(t, 1, d.Arrangement().Len())
}
