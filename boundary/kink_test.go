package boundary_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
)

// What is continuous by algebra has no boundary term, however it is written; what jumps has.
func TestKinks(t *testing.T) {
	for _, c := range []struct {
		name  string
		jumps int
		mean  func(x, y, a, b graph.Expr) graph.Expr
	}{
		{"max", 0, func(x, y, a, b graph.Expr) graph.Expr { return graph.Max(x, graph.Mul(2, y)) }},
		{"max of positives", 0, func(x, y, a, b graph.Expr) graph.Expr { return graph.Max(a, b) }},
		{"min of what stays curved", 0, func(x, y, a, b graph.Expr) graph.Expr { return graph.Min(graph.Mul(x, y), graph.Add(a, 1)) }},
		{"abs", 0, func(x, y, a, b graph.Expr) graph.Expr { return graph.Abs(graph.Sub(x, y)) }},
		{"clip", 0, func(x, y, a, b graph.Expr) graph.Expr { return graph.Clip(graph.Add(x, y), -1, 1) }},
		{"kinks of kinks", 0, func(x, y, a, b graph.Expr) graph.Expr { return graph.Max(graph.Min(x, y), graph.Abs(graph.Sub(x, 3))) }},
		{"functions of a kink", 0, func(x, y, a, b graph.Expr) graph.Expr { return graph.Mul(graph.Exp(graph.Max(x, y)), a) }},
		{"a ramp by hand", 0, func(x, y, a, b graph.Expr) graph.Expr {
			return graph.If(graph.Greater(x, 1), graph.Sub(x, 1), 0)
		}},
		{"two slopes that meet", 0, func(x, y, a, b graph.Expr) graph.Expr {
			bend := graph.Sub(x, graph.Mul(3, y))
			return graph.If(graph.Greater(bend, 0.3), graph.Add(graph.Mul(2, bend), 0.4), graph.Add(bend, 0.7))
		}},
		{"a ramp through functions", 0, func(x, y, a, b graph.Expr) graph.Expr {
			return graph.If(graph.Greater(x, y), graph.Exp(graph.Square(x)), graph.Exp(graph.Square(y)))
		}},
		{"abs by hand", 0, func(x, y, a, b graph.Expr) graph.Expr { return graph.If(graph.Greater(x, 0), x, graph.Neg(x)) }},
		{"the larger by hand", 0, func(x, y, a, b graph.Expr) graph.Expr { return graph.If(graph.Greater(x, y), x, y) }},
		{"a rectifier by hand", 0, func(x, y, a, b graph.Expr) graph.Expr { return graph.If(graph.Greater(x, 0), x, 0) }},
		{"the larger of positives by hand", 0, func(x, y, a, b graph.Expr) graph.Expr { return graph.If(graph.Less(a, b), b, a) }},
		{"lines that meet where 0.3·0.1 is not 0.03", 0, func(x, y, a, b graph.Expr) graph.Expr {
			return graph.If(graph.Greater(x, 0.1), graph.Mul(0.3, x), graph.Sub(0.06, graph.Mul(0.3, x)))
		}},
		{"three lines", 0, func(x, y, a, b graph.Expr) graph.Expr {
			above := graph.If(graph.Greater(x, 0.7), graph.Add(graph.Mul(0.1, x), 0.14), graph.Mul(0.3, x))
			return graph.If(graph.Greater(x, 0.1), above, graph.Sub(graph.Mul(0.7, x), 0.04))
		}},
		{"the larger of a square and a number", 0, func(x, y, a, b graph.Expr) graph.Expr { return graph.Max(graph.Square(x), 0.5) }},
		{"the larger of a product and 0", 0, func(x, y, a, b graph.Expr) graph.Expr { return graph.Max(graph.Mul(x, y), 0) }},
		{"an exponential that stops", 0, func(x, y, a, b graph.Expr) graph.Expr {
			return graph.If(graph.Greater(graph.Exp(x), 2), 2, graph.Exp(x))
		}},
		{"a function of one latent without a closed form", 0, func(x, y, a, b graph.Expr) graph.Expr {
			return graph.Min(graph.Add(x, graph.Exp(x)), 2)
		}},
		{"a square on one side of its roots", 2, func(x, y, a, b graph.Expr) graph.Expr {
			return graph.If(graph.Greater(graph.Square(x), 0.5), graph.Square(x), x)
		}},
		{"a root that ends at its edge", 1, func(x, y, a, b graph.Expr) graph.Expr { return graph.Max(graph.Sqrt(x), -1) }},
		{"a ramp that misses", 1, func(x, y, a, b graph.Expr) graph.Expr {
			return graph.If(graph.Greater(graph.Add(x, y), 1), graph.Sub(graph.Add(x, y), 1.001), 0)
		}},
		{"a kink and a jump on one plane", 1, func(x, y, a, b graph.Expr) graph.Expr {
			return graph.Add(graph.Max(x, y), graph.If(graph.Greater(x, y), 1, 0))
		}},
		{"a kink within a jump", 1, func(x, y, a, b graph.Expr) graph.Expr {
			return graph.If(graph.Greater(x, 0), graph.Max(a, b), 0)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := graph.NewModel()
			x, y := m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1))
			a, b := m.Sample("a", graph.Gamma(2, 1)), m.Sample("b", graph.LogNormal(0, 1))
			m.Observe("data", graph.Normal(c.mean(x, y, a, b), 0.5), 0.3)
			d, err := m.Compile()
			require.NoError(t, err)
			j, err := boundary.NewJumps(d, boundary.OnPlane)
			require.NoError(t, err)
			require.Len(t, j.Pieces(), c.jumps)
		})
	}
}
