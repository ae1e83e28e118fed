package graph_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/regions"
)

// A machine is the state of a model after a step, given the one before and two
// guards of the step.
type machine func(on, g, h graph.Guard) graph.Guard

var machines = map[string]machine{
	"toggle": func(on, g, _ graph.Guard) graph.Guard {
		return graph.Or(graph.And(on, graph.Not(g)), graph.And(graph.Not(on), g))
	},
	"two": func(on, g, h graph.Guard) graph.Guard {
		return graph.Or(graph.And(on, g), graph.And(graph.Not(on), h))
	},
	"set and reset": func(on, g, h graph.Guard) graph.Guard { return graph.Or(g, graph.And(on, graph.Not(h))) },
}

// stateModel is a machine that is observed at each step, and where between adds
// to the terms of a step what depends on two states.
func stateModel(steps int, next machine, between bool) *graph.Model {
	m := graph.NewModel()
	level := m.Sample("level", graph.Normal(1, 1))
	var on graph.Guard
	for t := range steps {
		x, y := m.Sample(fmt.Sprint("x", t), graph.Normal(0, 1)), m.Sample(fmt.Sprint("y", t), graph.Normal(0, 1))
		before := on
		on = next(on, graph.Greater(x, 0.5), graph.Greater(y, -0.25))
		m.Observe("obs", graph.Normal(graph.If(on, level, 0), 1), float64(t%3)/2)
		if between {
			m.Factor(graph.If(graph.And(before, graph.Not(on)), graph.Square(level), graph.If(on, x, 0)))
		}
	}
	return m
}

// The jump of each hyperplane is the difference between its sides.
func TestJumpsOfStates(t *testing.T) {
	const steps, n = 6, 3
	models := map[string]*graph.Model{"loop": heater{latentRates: true, steps: steps}.model(), "loop of sums": heater{ofSums: true, steps: steps}.model()}
	for name, next := range machines {
		models[name], models[name+" between"] = stateModel(steps, next, false), stateModel(steps, next, true)
	}
	for name, m := range models {
		d := mustCompile(t, m)
		made, err := derive.Cached(d.Engine(), "jumps", func() (any, error) {
			b := d.Engine().Builder()
			outs := make([]ir.ID, d.Arrangement().Len())
			for l := range outs {
				outs[l] = b.Jump(l, ir.Substitution{})
			}
			return b.Compile(outs)
		})
		require.NoError(t, err)
		x, err := d.Engine().Executor(made.(*graph.Program), n, graph.Compute{Out: true})
		require.NoError(t, err)
		rng := rand.New(rand.NewPCG(1, 2))
		for range 20 {
			z, signs := make([][]float64, n), make([][]bool, n)
			for c := range n {
				z[c], signs[c] = make([]float64, d.Dim()), make([]bool, d.Arrangement().Len())
				for i := range z[c] {
					z[c][i] = rng.NormFloat64()
					x.Z[i*n+c] = z[c][i]
				}
				for l := range signs[c] {
					signs[c][l] = rng.IntN(2) == 1
					x.Signs[l*n+c] = map[bool]float64{true: 1}[signs[c][l]]
				}
			}
			require.NoError(t, x.Run())
			for c := range n {
				for l := range signs[c] {
					side := func(positive bool) float64 {
						s := append([]bool(nil), signs[c]...)
						s[l] = positive
						v, err := d.LogProbAt(z[c], regions.NewSigns(s))
						require.NoError(t, err)
						return v
					}
					closeTo(t, side(true)-side(false), x.Out[l*n+c], 1e-11, name, "plane", l)
				}
			}
		}
	}
}

// BenchmarkStates compiles a machine, jumps included.
func BenchmarkStates(b *testing.B) {
	for _, steps := range []int{100, 1000} {
		b.Run(fmt.Sprintf("steps=%d", steps), func(b *testing.B) {
			for b.Loop() {
				d, err := stateModel(steps, machines["toggle"], false).Compile()
				require.NoError(b, err)
				_, err = boundary.NewJumps(d, boundary.OnPlane)
				require.NoError(b, err)
			}
		})
	}
}

// The graph of a machine over 1000 steps is that of 100 steps, jumps included.
func TestStatesDoNotGrow(t *testing.T) {
	long.Skip(t)
	if testing.Short() {
		t.Skip("takes a minute under the race detector, for which short mode is")
	}
	compile := func(m *graph.Model) [2]int {
		d := mustCompile(t, m)
		jumps, err := boundary.NewJumps(d, boundary.OnPlane)
		require.NoError(t, err)
		return [2]int{d.Program().Nodes(), jumps.Program().Nodes()}
	}
	few := 100
	for name, between := range map[string]bool{"toggle": false, "two": true} {
		require.Equal(t, compile(stateModel(few, machines[name], between)), compile(stateModel(3*few, machines[name], between)), name)
	}
	one := func(steps int) *graph.Model { // all guards are on one latent
		m := graph.NewModel()
		x := m.Sample("x", graph.Normal(0, 1))
		var on graph.Guard
		for t := range steps {
			on = machines["toggle"](on, graph.Greater(x, float64(t)/100), graph.Guard{})
			m.Observe("obs", graph.Normal(graph.If(on, x, 0), 1), float64(t%3)/2)
		}
		return m
	}
	require.Equal(t, compile(one(few)), compile(one(3*few)))
}

// If blocks nested in one another take time that is linear in their number.
func TestNestedBlocks(t *testing.T) {
	build := func(depth int) *graph.Model {
		m := graph.NewModel()
		x := m.Sample("x", graph.Normal(0, 1))
		var block func(k int)
		block = func(k int) {
			if k == depth {
				return
			}
			m.If(graph.Greater(x, float64(k)), func() {
				m.Observe("y", graph.Normal(graph.Mul(float64(k), x), 1), 1)
				block(k + 1)
			}, nil)
		}
		block(0)
		return m
	}
	d := mustCompile(t, build(1000))
	require.Equal(t, mustCompile(t, build(100)).Program().Nodes(), d.Program().Nodes())
	close12(t, logNormalPDF(1.5, 0, 1)+logNormalPDF(1, 0, 1)+logNormalPDF(1, 1.5, 1), logProb(t, d, 1.5))
}

// A state that depends on too many steps is a clear error, soon.
func TestTooManyPairs(t *testing.T) {
	long.Skip(t)
	if testing.Short() {
		t.Skip("takes long under the race detector, for which short mode is")
	}
	m := stateModel(4500, machines["two"], false)
	_, err := boundary.NewJumps(mustCompile(t, m), boundary.OnPlane)
	require.ErrorContains(t, err, "9000 guards and 13501 terms")
}

// A jump may be scaled and added, but is no operand of anything else.
func TestJumpsAreSummands(t *testing.T) {
	d := mustCompile(t, stateModel(3, machines["two"], false))
	compile := func(out func(b *derive.Builder, jump ir.ID) ir.ID) error {
		_, err := derive.Cached(d.Engine(), new(int), func() (any, error) {
			b := d.Engine().Builder()
			return b.Compile([]ir.ID{out(b, b.Jump(1, ir.Substitution{}))})
		})
		return err
	}
	require.NoError(t, compile(func(b *derive.Builder, jump ir.ID) ir.ID { return b.Store.Sum(3, jump, 2, b.Number(1)) }))
	require.ErrorContains(t, compile(func(b *derive.Builder, jump ir.ID) ir.ID { return b.Store.Unary(kernel.Exp, jump) }), "not be transformed")
	require.ErrorContains(t, compile(func(b *derive.Builder, jump ir.ID) ir.ID {
		return b.Store.Sum(1, b.Store.Unary(kernel.Square, jump), 1, b.Number(1))
	}), "not be transformed")
}

// Holding is Holds of each guard, also of a thousand states, of which each
// depends on all signs before it.
func TestHolding(t *testing.T) {
	m := graph.NewModel()
	state, plain := []graph.Guard{graph.And()}, []bool{true}
	for t := range 1000 {
		x := m.Sample(fmt.Sprint("x", t), graph.Normal(0, 1))
		state = append(state, machines["two"](state[t], graph.Greater(x, 0), graph.Greater(x, 1)))
	}
	d := mustCompile(t, m)
	z := make([]float64, d.Dim())
	rng := rand.New(rand.NewPCG(3, 4))
	for t := range z {
		z[t] = 0.5 + rng.NormFloat64()
		plain = append(plain, plain[t] && z[t] > 0 || !plain[t] && z[t] > 1)
	}
	s := d.Arrangement().Signs(z)
	require.Equal(t, plain, graph.Holding(nil, state, s))
	for _, t1 := range []int{0, 1, 500, 1000} {
		require.Equal(t, plain[t1], state[t1].Holds(s))
	}
	require.PanicsWithValue(t, "graph: a slice of 2 for 1 guards", func() { graph.Holding(make([]bool, 2), state[:1], s) })
}

// Where all latents move with each, jumps are as many as guards times terms. They
// are given up soon.
func TestTooManyExpressions(t *testing.T) {
	long.Skip(t)
	everything := boundary.Reach{Name: "everything", Moves: func(regions.Hyperplane, int) bool { return true }}
	_, err := boundary.NewJumps(mustCompile(t, stateModel(1000, machines["two"], true)), everything)
	require.ErrorContains(t, err, "expressions for the jumps")
}
