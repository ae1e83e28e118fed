package boundary_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
)

// kinds are programs of all that lowers to a graph in its own way.
var kinds = map[string]func(m *graph.Model){
	"plain": func(m *graph.Model) {
		a, b := m.Sample("a", graph.Normal(0, 1)), m.Sample("b", graph.Gamma(2, 1))
		m.Observe("y", graph.Normal(graph.If(graph.Greater(graph.Add(a, b), 1), a, graph.Mul(2, b)), 1), 0.7)
	},
	"plate": func(m *graph.Model) {
		at, low, high := m.Sample("at", graph.Normal(5, 3)), m.Sample("low", graph.Normal(0, 1)), m.Sample("high", graph.Normal(2, 1))
		dose, y := []float64{1, 3, 4, 6, 8, 9}, []float64{0.1, -0.3, 0.2, 1.7, 2.2, 1.9}
		m.Plate(len(dose), func(p *graph.Plate) {
			p.Observe("y", graph.Normal(graph.If(graph.Greater(p.Data(dose), at), high, low), 0.5), y)
		})
	},
	"hidden Markov model": func(m *graph.Model) {
		stay, gap := m.Sample("stay", graph.Beta(8, 2)), m.Sample("gap", graph.Normal(2, 1))
		level := graph.If(graph.Greater(gap, 1), gap, graph.Mul(0.5, gap))
		m.ObserveHMM("y", graph.HMM{
			Initial:    graph.Numbers(0.5, 0.5),
			Transition: [][]graph.Expr{{stay, graph.Sub(1, stay)}, {graph.Sub(1, stay), stay}},
			Emission:   func(_ int, s []int) graph.Dist { return graph.Normal(graph.Mul(s[0], level), 1) },
		}, []float64{0.1, -0.4, 1.7, 2.2, 1.9, 0.3})
	},
	"curved": func(m *graph.Model) {
		a, b := m.Sample("a", graph.Normal(0.5, 1)), m.Sample("b", graph.Normal(0.5, 1))
		m.Observe("y", graph.Normal(graph.If(graph.Greater(graph.Mul(a, b), 0.4), 1, graph.Exp(a)), 1), 0.2)
	},
	"discrete": func(m *graph.Model) {
		k, x := m.Sample("k", graph.Poisson(2)), m.Sample("x", graph.Normal(0, 1))
		m.Observe("y", graph.Normal(graph.If(graph.Greater(x, 0.3), graph.Add(k, x), x), 1), 1.5)
	},
	"mixture": func(m *graph.Model) {
		w, a := m.Sample("w", graph.Beta(2, 2)), m.Sample("a", graph.Normal(0, 2))
		center := graph.If(graph.Less(a, 1), a, 3)
		for _, y := range []float64{-0.2, 2.4, 2.9} {
			m.Observe("y", graph.Mixture([]graph.Expr{w, graph.Sub(1, w)}, graph.Normal(center, 0.5), graph.Normal(2, 1)), y)
		}
	},
	"largest": func(m *graph.Model) {
		a, b := m.Sample("a", graph.Normal(0, 1)), m.Sample("b", graph.Normal(0, 1))
		top := graph.Max(a, graph.Abs(b))
		m.Observe("y", graph.Normal(graph.If(graph.Greater(a, -0.2), top, graph.Neg(b)), 1), 0.6)
	},
}

// The graphs of a density and of its jumps that a user builds on, run by Gorgonia's TapeMachine, have the numbers that the library's own
// plans of them compute: log r and its gradient at a point, and the jumps of a batch.
func TestGraphsAreTheTruth(t *testing.T) {
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			m := graph.NewModel()
			kind(m)
			d, err := m.Compile()
			require.NoError(t, err)
			rng := rand.New(rand.NewPCG(3, uint64(len(name))))
			j, err := boundary.NewJumps(d, boundary.OnPlane)
			require.NoError(t, err)
			require.NotEmpty(t, j.Pieces())
			drawing, err := j.Program().DOT()
			require.NoError(t, err)
			require.True(t, bytes.Contains(drawing, []byte("digraph facet")))
			const n = 7
			s := axisLines(j, d.Dim())
			s.arr, s.pieces, s.n = d.Arrangement(), j.Pieces(), n
			b, err := j.Bind(d, n, s, boundary.Settings{})
			require.NoError(t, err)
			b.Locate()
			x := b.Samples()
			for k := range x.Z {
				x.Z[k] = rng.NormFloat64()
			}
			b.Sign()
			require.NoError(t, b.Run(nil))

			jumps, err := j.Graph(n)
			require.NoError(t, err)
			out, grad := onTape(t, jumps, d, x)
			requireNear(t, x.Out, out)
			requireNear(t, x.Grad, grad)
			require.NotEqual(t, make([]float64, len(out)), out, "it jumps")

			density, err := d.Graph(n)
			require.NoError(t, err)
			out, grad = onTape(t, density, d, x)
			for k := range n {
				z := x.Point(k)
				signs := d.Arrangement().Signs(z)
				log, err := d.LogProb(z)
				require.NoError(t, err)
				slope, err := d.GradAt(z, signs)
				require.NoError(t, err)
				requireNear(t, []float64{log}, out[k:k+1])
				for i := range slope {
					requireNear(t, slope[i:i+1], grad[i*n+k:][:1])
				}
			}
		})
	}
}

// onTape runs a graph on the inputs of x.
func onTape(t *testing.T, g *graph.Graph, d *graph.Density, x *graph.Executor) (outs, grads []float64) {
	for _, in := range []struct {
		node   *gorgonia.Node
		values []float64
		cols   int
	}{{g.Z, x.Z, x.N}, {g.Signs, x.Signs, x.N}, {g.Points, x.Points, x.N}, {g.PointSigns, x.PointSigns, x.N}, {g.Data, d.Data(), 1}} {
		if in.node != nil {
			values := append([]float64(nil), in.values...)
			require.NoError(t, gorgonia.Let(in.node, tensor.New(tensor.WithShape(len(values)/in.cols, in.cols), tensor.WithBacking(values))))
		}
	}
	var out, grad gorgonia.Value
	gorgonia.Read(g.Out, &out)
	gorgonia.Read(g.Grad, &grad)
	machine := gorgonia.NewTapeMachine(g.G)
	defer machine.Close()
	require.NoError(t, machine.RunAll())
	return out.Data().([]float64), grad.Data().([]float64)
}

func requireNear(t *testing.T, want, got []float64) {
	t.Helper()
	require.Len(t, got, len(want))
	for k, v := range want {
		require.InDelta(t, v, got[k], 1e-12*math.Max(1, math.Abs(v)), "number %d", k)
	}
}
