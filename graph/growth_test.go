package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/encoding"
	"gonum.org/v1/gonum/graph/encoding/dot"
	"gonum.org/v1/gonum/graph/simple"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
)

// Temperature's graph does not grow with the number of its steps. How long they
// take to compile is vi.BenchmarkCompile's.
func TestNodesDoNotGrowWithSteps(t *testing.T) {
	nodes := map[int]int{}
	for _, steps := range []int{20, 200, 2000} {
		obs := models.SimulateTemperature(steps, 1)
		d := mustCompile(t, models.Temperature(obs))
		require.Equal(t, 2*steps+1, d.Dim())
		require.Equal(t, 3*steps, d.Arrangement().Len())
		nodes[steps] = d.Program().Nodes()
		t.Logf("%d steps: %d nodes", steps, d.Program().Nodes())
	}
	require.Equal(t, nodes[20], nodes[200])
	require.Equal(t, nodes[20], nodes[2000])
}

// Nor do data make a graph grow, nor factors that are written in a loop.
func TestNodesDoNotGrowWithData(t *testing.T) {
	build := func(n int) int {
		m := graph.NewModel()
		a, b := m.Sample("a", graph.Normal(0, 1)), m.Sample("b", graph.Gamma(1, 1))
		for i := range n {
			x := float64(i)/8 + 0.3
			g := graph.Greater(a, x)
			m.Observe("y", graph.Poisson(graph.Exp(graph.If(g, graph.Mul(x, a), graph.Log(b)))), float64(i%4))
			m.If(g, func() { m.Factor(graph.Sin(graph.Mul(x, a))) }, nil)
		}
		return mustCompile(t, m).Program().Nodes()
	}
	require.Equal(t, build(10), build(100))
	require.Equal(t, build(10), build(1000))
}

// dataModel has observations of which some are 0, equal, or behind guards:
// nothing of their values may have been folded into the program.
func dataModel(y []float64, k []float64) *graph.Model {
	m := graph.NewModel()
	a, b := m.Sample("a", graph.Normal(0, 1)), m.Sample("b", graph.Normal(0, 1))
	for i := range y {
		m.Observe("y", graph.Normal(graph.If(graph.Greater(a, float64(i)), b, graph.Mul(2, a)), 1), y[i])
		m.Observe("k", graph.Poisson(graph.Exp(graph.Add(a, i))), k[i])
		m.If(graph.Greater(b, a), func() { m.Observe("in", graph.Beta(graph.Exp(a), 2), (y[i]+10)/20) }, nil)
		m.Observe("j", graph.Binomial(9, graph.Sigmoid(b)), k[i])
	}
	return m
}

func TestWithData(t *testing.T) {
	first := mustCompile(t, dataModel([]float64{0, 0, 0}, []float64{0, 1, 0}))
	y, k := []float64{3, -1.5, 0.25}, []float64{4, 0, 7}
	in := make([]float64, len(y))
	for i := range y {
		in[i] = (y[i] + 10) / 20
	}
	want := mustCompile(t, dataModel(y, k))
	got, err := first.WithData(map[string][]float64{"y": y, "k": k, "in": in, "j": k})
	require.NoError(t, err)
	require.Same(t, graph.ProgramOf(first), graph.ProgramOf(got))
	require.Equal(t, want.Data(), got.Data())
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		z := []float64{2 * rng.NormFloat64(), rng.NormFloat64()}
		require.Equal(t, logProb(t, want, z...), logProb(t, got, z...))
		require.Equal(t, gradient(t, want, z...), gradient(t, got, z...))
	}
	for machine, x := range both(t, got, []float64{0.5, 0.7}, got.Arrangement().Signs([]float64{0.5, 0.7})) {
		close12(t, logProb(t, want, 0.5, 0.7), x.Out[0], machine)
	}
	// the first density has kept its own, and names left out keep their values
	require.Equal(t, mustCompile(t, dataModel([]float64{0, 0, 0}, []float64{0, 1, 0})).Data(), first.Data())
	part, err := first.WithData(map[string][]float64{"y": y})
	require.NoError(t, err)
	require.Equal(t, first.Data()[1], part.Data()[1])
	require.Equal(t, y[0], part.Data()[0])
}

// Data that share a log density may be replaced, the first of them too.
func TestWithDataThatShare(t *testing.T) {
	build := func(x ...float64) *graph.Density {
		m := graph.NewModel()
		a, b := m.Sample("a", graph.Gamma(2, 1)), m.Sample("b", graph.Gamma(2, 1))
		for _, x := range x {
			m.Observe("x", graph.Gamma(a, b), x)
			m.If(graph.Greater(a, 1), func() { m.Observe("x", graph.Gamma(a, b), x) }, nil)
			m.Observe("y", graph.Beta(a, b), x/10)
			m.Observe("y", graph.ChiSquared(a), x/10)
		}
		return mustCompile(t, m)
	}
	want := build(1, 2, 7)
	data := want.Data()
	got, err := build(5, 2, 0.3).WithData(map[string][]float64{
		"x": {data[0], data[1], data[4], data[5], data[8], data[9]}, "y": {data[2], data[3], data[6], data[7], data[10], data[11]},
	})
	require.NoError(t, err)
	for _, z := range [][]float64{{1, 2}, {-1, 0.5}, {3, -2}} {
		require.Equal(t, logProb(t, want, z...), logProb(t, got, z...))
		require.Equal(t, gradient(t, want, z...), gradient(t, got, z...))
	}
}

// Data of latent shapes cost as little as their sums.
func BenchmarkLatentShapes(b *testing.B) {
	for name, dist := range map[string]func(a, b graph.Expr) graph.Dist{
		"Gamma":      func(a, b graph.Expr) graph.Dist { return graph.Gamma(a, b) },
		"ChiSquared": func(a, _ graph.Expr) graph.Dist { return graph.ChiSquared(a) },
		"Beta":       func(a, b graph.Expr) graph.Dist { return graph.Beta(a, b) },
	} {
		b.Run(name, func(b *testing.B) {
			m, rng := graph.NewModel(), rand.New(rand.NewPCG(1, 2))
			alpha, beta := m.Sample("alpha", graph.Gamma(2, 1)), m.Sample("beta", graph.Gamma(2, 1))
			for range 200 {
				m.Observe("x", dist(alpha, beta), rng.Float64())
			}
			d, err := m.Compile()
			require.NoError(b, err)
			x, err := d.Executor(64, graph.Compute{Out: true, Grad: true})
			require.NoError(b, err)
			for i := range x.Z {
				x.Z[i] = rng.NormFloat64()
			}
			for b.Loop() {
				if err := x.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// One density may be used from any number of goroutines: executors, graphs,
// regions and new data at once, each with the same results.
func TestConcurrentUse(t *testing.T) {
	d := mustCompile(t, models.Temperature(models.SimulateTemperature(5, 1)))
	z, _ := d.PriorStart()
	for i := range z {
		z[i] += 0.01 * float64(i)
	}
	s := d.Arrangement().Signs(z)
	want, slope := logProb(t, d, z...), gradient(t, d, z...)
	var wg sync.WaitGroup
	errs := make(chan error, 64)
	for w := range 8 {
		wg.Go(func() {
			for range 3 {
				x, err := d.Executor(1+w%3, graph.Compute{Out: true, Grad: true, Tape: w == 7})
				if err != nil {
					errs <- err
					return
				}
				n := x.N
				for i := range z {
					for c := range n {
						x.Z[i*n+c] = z[i]
					}
				}
				for l, v := range s.Floats(nil) {
					for c := range n {
						x.Signs[l*n+c] = v
					}
				}
				if err := x.Run(); err != nil {
					errs <- err
					return
				}
				if diff := x.Out[n-1] - want; diff > 1e-9 || diff < -1e-9 {
					errs <- fmt.Errorf("log r = %v, want %v", x.Out[n-1], want)
				}
				if diff := x.Grad[0] - slope[0]; diff > 1e-6 || diff < -1e-6 {
					errs <- fmt.Errorf("gradient %v, want %v", x.Grad[0], slope[0])
				}
				if _, err := d.Program().DOT(); err != nil {
					errs <- err
				}
				if _, err := d.WithData(map[string][]float64{"obs": d.Data()}); err != nil {
					errs <- err
				}
				d.NonFinite(z)
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
}

// A labelled node that gonum's parser fills in.
type dotNode struct {
	simple.Node
	label string
}

func (n *dotNode) SetAttribute(a encoding.Attribute) error {
	if a.Key == "label" {
		n.label = a.Value
	}
	return nil
}

type dotBuilder struct{ *simple.DirectedGraph }

func (g dotBuilder) NewNode() gonum.Node {
	return &dotNode{Node: simple.Node(g.DirectedGraph.NewNode().ID())}
}

// DOT text is the same for the same program, is a graph to another parser, and
// names what is computed.
func TestDOT(t *testing.T) {
	draw := func(steps int) []byte {
		text, err := mustCompile(t, models.Temperature(models.SimulateTemperature(steps, 1))).Program().DOT()
		require.NoError(t, err)
		return text
	}
	text := draw(20)
	require.Equal(t, string(text), string(draw(20)))
	g := simple.NewDirectedGraph()
	require.NoError(t, dot.Unmarshal(text, dotBuilder{g}))
	labels := ""
	for it := g.Nodes(); it.Next(); {
		labels += it.Node().(*dotNode).label + "\n"
	}
	for _, want := range []string{"z (41, 1)", "signs (60, 1)", "data (21, 1)", "gather", "square", "+ false", "table", "reduce"} {
		require.Contains(t, labels, want)
	}
	require.Greater(t, g.Edges().Len(), g.Nodes().Len()/2)
}

// The gradient is Gorgonia's own symbolic derivative: the graph that the user
// gets has the additions that Grad makes, and can be extended and run on a
// machine of Gorgonia's.
func TestGraphIsGorgonias(t *testing.T) {
	d := mustCompile(t, dataModel([]float64{1, 2}, []float64{3, 4}))
	const n = 3
	g, err := d.Graph(n)
	require.NoError(t, err)
	require.NotNil(t, g.Grad)
	require.Equal(t, tensor.Shape{2, n}, g.Grad.Shape())
	require.Equal(t, tensor.Shape{1, n}, g.Out.Shape())
	require.Same(t, g.G, g.Grad.Graph())
	sums := 0
	for _, x := range g.G.AllNodes() {
		if x.Op() != nil && x.Op().String() == "+ false" {
			sums++ // Gorgonia's own sum of the gradients of one node
		}
	}
	require.Positive(t, sums, "the gradient is not made by gorgonia.Grad")
	other, err := d.Graph(n)
	require.NoError(t, err)
	require.NotSame(t, g.G, other.G, "a graph for each call")

	// the user's extension: Σ exp(log r / 100), and the squared gradient
	scaled := gorgonia.Must(gorgonia.Exp(gorgonia.Must(gorgonia.Div(g.Out, gorgonia.NewConstant(100.0)))))
	sum := gorgonia.Must(gorgonia.Sum(scaled))
	norm := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(g.Grad))))
	z := []float64{0.3, -1, 2, 0.1, 0.9, -0.4}
	signs := make([]float64, d.Arrangement().Len()*n)
	d.Arrangement().SignBatch(signs, z, n)
	let := func(node *gorgonia.Node, v []float64, cols int) {
		require.NoError(t, gorgonia.Let(node, tensor.New(tensor.WithShape(len(v)/cols, cols), tensor.WithBacking(v))))
	}
	let(g.Z, append([]float64(nil), z...), n)
	let(g.Signs, signs, n)
	let(g.Data, d.Data(), 1)
	var got, gotNorm gorgonia.Value
	gorgonia.Read(sum, &got)
	gorgonia.Read(norm, &gotNorm)
	machine := gorgonia.NewTapeMachine(g.G)
	require.NoError(t, machine.RunAll())
	want, wantNorm := 0.0, 0.0
	for c := range n {
		at := []float64{z[c], z[n+c]}
		want += math.Exp(logProb(t, d, at...) / 100)
		for _, v := range gradient(t, d, at...) {
			wantNorm += v * v
		}
	}
	close12(t, want, firstNumber(got))
	close12(t, wantNorm, firstNumber(gotNorm))
}

// Programs with more forms than a byte can count, each of which is a term.
func TestManyForms(t *testing.T) {
	long.Skip(t)
	first := []func(graph.Expr) graph.Expr{graph.Exp[graph.Expr], graph.Tanh[graph.Expr], graph.Softplus[graph.Expr]}
	for shift := range len(first) + 1 { // so that every number falls on each of the kinds
		m := graph.NewModel()
		z := m.Sample("z", graph.Normal(0, 1))
		v := 1.3
		want := logNormalPDF(v, 0, 1)
		for k, f := range first[:shift] {
			m.Factor(f(z))
			want += []float64{math.Exp(v), math.Tanh(v), math.Log1p(math.Exp(v))}[k]
		}
		x, u, g := z, v, graph.Greater(z, 0)
		for range 300 {
			x, u = graph.Add(graph.Sin(x), 0.5), math.Sin(u)+0.5
			m.Factor(x)
			m.Factor(graph.If(g, graph.Cos(x), 0))
			want += u + math.Cos(u)
		}
		close12(t, want, logProb(t, mustCompile(t, m), v), "shift", shift)
	}
}

// Sums of more terms than are unrolled, with few latents and with many.
func TestLongSums(t *testing.T) {
	for _, latents := range []int{1, 2, 3, 5, 9, 40} {
		for _, terms := range []int{1, 11, 12, 13, 14, 60} {
			for _, forms := range []int{1, 2} {
				m := graph.NewModel()
				var z []graph.Expr
				sum := graph.Add(0, 0)
				for i := range latents {
					z = append(z, m.Sample(fmt.Sprint("z", i), graph.Normal(0, 1)))
					sum = graph.Add(sum, graph.Mul(0.5+float64(i), z[i]))
				}
				for k := range terms {
					x := graph.Add(z[k%latents], k)
					if k%forms == 0 {
						sum = graph.Add(sum, graph.Sin(x))
					} else {
						sum = graph.Add(sum, graph.Mul(2, graph.Tanh(x)))
					}
				}
				m.Observe("y", graph.Normal(sum, 3), 1)
				m.Factor(graph.Tanh(sum))
				d := mustCompile(t, m)
				want := func(z []float64) float64 {
					prior, sum := 0.0, 0.0
					for i, v := range z {
						prior += logNormalPDF(v, 0, 1)
						sum += (0.5 + float64(i)) * v
					}
					for k := range terms {
						if x := z[k%latents] + float64(k); k%forms == 0 {
							sum += math.Sin(x)
						} else {
							sum += 2 * math.Tanh(x)
						}
					}
					return prior + logNormalPDF(1, sum, 3) + math.Tanh(sum)
				}
				at := make([]float64, latents)
				for i := range at {
					at[i] = 0.03*float64(i) - 0.2
				}
				what := fmt.Sprint(latents, " latents, ", terms, " terms of ", forms, " forms")
				for machine, x := range both(t, d, at, d.Arrangement().Signs(at)) {
					close12(t, want(at), x.Out[0], what, machine)
					for i, g := range x.Grad {
						slope, _ := partial(want, at, i)
						closeTo(t, slope, g, 1e-6, what, machine, i)
					}
				}
			}
		}
	}
}
