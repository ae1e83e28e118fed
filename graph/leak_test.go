package graph_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
)

// poisons are expressions that are NaN or infinite at z = −2, or have such a
// derivative, and are harmless as a branch at z > 0.
var poisons = map[string]func(z graph.Expr) graph.Expr{
	"log of a negative number":  func(z graph.Expr) graph.Expr { return graph.Log(z) },
	"log of a product":          func(z graph.Expr) graph.Expr { return graph.Log(graph.Mul(z, graph.Exp(z))) },
	"log1p below −1":            func(z graph.Expr) graph.Expr { return graph.Log1p(z) },
	"root of a negative number": func(z graph.Expr) graph.Expr { return graph.Sqrt(z) },
	"1/0":                       func(z graph.Expr) graph.Expr { return graph.Div(1, graph.Add(z, 2)) },
	"z/0":                       func(z graph.Expr) graph.Expr { return graph.Div(z, 0) },
	"z/(z+2)":                   func(z graph.Expr) graph.Expr { return graph.Div(z, graph.Add(z, 2)) },
	"sin(z)/0":                  func(z graph.Expr) graph.Expr { return graph.Div(graph.Sin(z), graph.Mul(0, z)) },
	"overflow of exp":           func(z graph.Expr) graph.Expr { return graph.Exp(graph.Mul(-500, z)) },
	"overflow of exp²":          func(z graph.Expr) graph.Expr { return graph.Square(graph.Exp(graph.Mul(-300, z))) },
	"∞ − ∞": func(z graph.Expr) graph.Expr {
		return graph.Sub(graph.Exp(graph.Mul(-500, z)), graph.Square(graph.Exp(graph.Mul(-500, z))))
	},
	"expm1":                   func(z graph.Expr) graph.Expr { return graph.Expm1(graph.Mul(-500, z)) },
	"power of a negative":     func(z graph.Expr) graph.Expr { return graph.Pow(z, 0.3) },
	"power with a latent":     func(z graph.Expr) graph.Expr { return graph.Pow(z, graph.Sin(z)) },
	"0 to a negative power":   func(z graph.Expr) graph.Expr { return graph.Pow(graph.Add(z, 2), -1.5) },
	"log(0)·z":                func(z graph.Expr) graph.Expr { return graph.Mul(z, graph.Log(graph.Add(z, 2))) },
	"log of a constant":       func(z graph.Expr) graph.Expr { return graph.Mul(z, graph.Log(graph.Sub(z, graph.Add(z, 1)))) },
	"through tanh":            func(z graph.Expr) graph.Expr { return graph.Tanh(graph.Sqrt(graph.Log(z))) },
	"divided by a number":     func(z graph.Expr) graph.Expr { return graph.Div(graph.Log(z), 3) },
	"in a long sum":           longSum,
	"scale of a distribution": func(z graph.Expr) graph.Expr { return graph.Div(graph.Square(graph.Sub(1, z)), graph.Sqrt(z)) },
}

func longSum(z graph.Expr) graph.Expr {
	s := graph.Log(z)
	for i := range 30 {
		s = graph.Add(s, graph.Sin(graph.Add(z, i)))
	}
	return s
}

// What is NaN or infinite in the branch that is not taken reaches neither value
// nor gradient, on the plan and on the TapeMachine, whichever side it is on;
// taken, it reaches both.
func TestUntakenBranchNeverLeaks(t *testing.T) {
	for name, poison := range poisons {
		for way, build := range map[string]func(m *graph.Model, z graph.Expr, g graph.Guard){
			"then": func(m *graph.Model, z graph.Expr, g graph.Guard) {
				m.Factor(graph.If(g, poison(z), graph.Mul(3, z)))
			},
			"otherwise": func(m *graph.Model, z graph.Expr, g graph.Guard) {
				m.Factor(graph.If(graph.Not(g), graph.Mul(3, z), poison(z)))
			},
			"block": func(m *graph.Model, z graph.Expr, g graph.Guard) {
				m.If(g, func() { m.Factor(poison(z)) }, func() { m.Factor(graph.Mul(3, z)) })
			},
			"mean": func(m *graph.Model, z graph.Expr, g graph.Guard) {
				m.Observe("y", graph.Normal(graph.If(g, poison(z), graph.Mul(2, z)), 1), 0)
			},
			"observation": func(m *graph.Model, z graph.Expr, g graph.Guard) {
				m.If(g, func() { m.Observe("y", graph.Normal(poison(z), 1), 0) }, nil)
			},
			"scaled and nested": func(m *graph.Model, z graph.Expr, g graph.Guard) {
				in := graph.If(graph.And(g, graph.Greater(z, -100)), graph.Mul(-2, poison(z)), graph.Sin(z))
				m.Factor(graph.Mul(5, graph.Exp(graph.Tanh(in))))
			},
		} {
			m := graph.NewModel()
			z := m.Sample("z", graph.Normal(0, 1))
			g := graph.Greater(z, 0)
			build(m, z, g)
			d := mustCompile(t, m)
			clean := graph.NewModel()
			zc := clean.Sample("z", graph.Normal(0, 1))
			switch way {
			case "then", "otherwise", "block":
				clean.Factor(graph.Mul(3, zc))
			case "mean":
				clean.Observe("y", graph.Normal(graph.Mul(2, zc), 1), 0)
			case "scaled and nested":
				clean.Factor(graph.Mul(5, graph.Exp(graph.Tanh(graph.Sin(zc)))))
			}
			c := mustCompile(t, clean)

			at := []float64{-2}
			off, on := make([]bool, d.Arrangement().Len()), make([]bool, d.Arrangement().Len())
			for l := range on {
				on[l] = true
			}
			for machine, x := range both(t, d, at, regions.NewSigns(off)) {
				close12(t, logProb(t, c, at...), x.Out[0], name, way, machine)
				close12(t, gradient(t, c, at...)[0], x.Grad[0], name, way, machine, "gradient")
			}
			if way == "scaled and nested" {
				continue // tanh of ±∞ is ±1
			}
			for machine, x := range both(t, d, at, regions.NewSigns(on)) { // the test bites
				bad := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
				require.True(t, bad(x.Out[0]) || bad(x.Grad[0]), "%s, %s, %s: %v %v", name, way, machine, x.Out, x.Grad)
			}
		}
	}
}

// A table of numbers behind guards may have NaN in entries that are not taken.
func TestUntakenTableEntry(t *testing.T) {
	m := graph.NewModel()
	z, w := m.Sample("z", graph.Normal(0, 1)), m.Sample("w", graph.Normal(0, 1))
	v := graph.If(graph.Greater(z, w), -1, graph.If(graph.Greater(z, graph.Sub(w, 1)), 0, 2))
	m.Factor(graph.Log(v))
	m.Factor(graph.Mul(z, graph.Sqrt(v)))
	m.Observe("y", graph.Normal(z, v), 1)
	d := mustCompile(t, m)
	at := []float64{-1.5, 0}
	want := logNormalPDF(at[0], 0, 1) + logNormalPDF(at[1], 0, 1) + math.Ln2 + at[0]*math.Sqrt2 + logNormalPDF(1, at[0], 2)
	for machine, x := range both(t, d, at, d.Arrangement().Signs(at)) {
		close12(t, want, x.Out[0], machine)
		close12(t, -at[0]+math.Sqrt2+(1-at[0])/4, x.Grad[0], machine)
	}
	require.True(t, math.IsNaN(logProb(t, d, 1, 0)))
}

// A sample in a batch knows nothing of its neighbours: NaN in one stays there.
func TestSamplesDoNotMix(t *testing.T) {
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	m.Factor(graph.Sqrt(z))
	m.Observe("y", graph.Normal(graph.Log(z), 1), 0)
	d := mustCompile(t, m)
	for _, tape := range []bool{false, true} {
		x, err := d.Executor(3, graph.Compute{Out: true, Grad: true, Tape: tape})
		require.NoError(t, err)
		copy(x.Z, []float64{0.5, -1, 2})
		require.NoError(t, x.Run())
		for i, z := range []float64{0.5, -1, 2} {
			close12(t, logProb(t, d, z), x.Out[i])
			close12(t, gradient(t, d, z)[0], x.Grad[i])
		}
		require.True(t, math.IsNaN(x.Out[1]))
	}
}

// NonFinite names the term that is at fault, and its line.
func TestNonFinite(t *testing.T) {
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	m.Observe("y", graph.Normal(graph.If(graph.Greater(z, 0), 1, graph.Log(z)), 1), 0)
	at := lineAbove()
	d := mustCompile(t, m)
	_, _, _, found := d.NonFinite([]float64{1})
	require.False(t, found)
	term, v, of, found := d.NonFinite([]float64{-1})
	require.True(t, found)
	require.True(t, math.IsNaN(v))
	require.Contains(t, term, "observation y")
	require.Contains(t, term, at)
	require.Equal(t, []int{0}, of)
}
