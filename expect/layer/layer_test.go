package layer_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/expect/layer"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
)

// wall is a model with a threshold: y ~ Normal(x if x + w > threshold, else −1; 1), with x, w ~ Normal(0, 1).
func wall(t testing.TB) (*graph.Density, family.Q) {
	t.Helper()
	m := graph.NewModel()
	threshold := m.Param("threshold", 0)
	x, w := m.Sample("x", graph.Normal(0, 1)), m.Sample("w", graph.Normal(0, 1))
	m.Observe("y", graph.Normal(graph.If(graph.Greater(graph.Add(x, w), threshold), graph.Add(x, 2), -1), 1), 0)
	d, err := m.Compile()
	require.NoError(t, err)
	q, err := family.MeanField{}.New(d)
	require.NoError(t, err)
	return d, q
}

// exact is the ELBO of wall: the likelihood by quadrature over x, where w is above the threshold with a known probability.
func exact(threshold, y float64, theta []float64) float64 {
	mx, sx, mw, sw := theta[0], math.Exp(theta[1]), theta[2], math.Exp(theta[3])
	elbo := -0.5 * math.Log(2*math.Pi)
	for _, q := range [][2]float64{{mx, sx}, {mw, sw}} {
		elbo -= 0.5*(q[0]*q[0]+q[1]*q[1]-1) - math.Log(q[1])
	}
	const n, far = 2000, 9.0
	for k := range n {
		e := far * (2*(float64(k)+0.5)/n - 1)
		x := mx + sx*e
		p := 0.5 * math.Erfc(-(x+mw-threshold)/sw/math.Sqrt2)
		f := p*-0.5*(y-x-2)*(y-x-2) + (1-p)*-0.5*(y+1)*(y+1)
		elbo += f * math.Exp(-e*e/2) / math.Sqrt(2*math.Pi) * 2 * far / n
	}
	return elbo
}

func rowsOf(t testing.TB, samples int, seed uint64) *expect.Rows {
	t.Helper()
	d, q := wall(t)
	r, err := expect.NewRows(d, q, samples, seed)
	require.NoError(t, err)
	return r
}

func input(g *gorgonia.ExprGraph, name string, rows, columns int, x ...float64) *gorgonia.Node {
	return gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(rows, columns), gorgonia.WithName(name),
		gorgonia.WithValue(tensor.New(tensor.WithShape(rows, columns), tensor.WithBacking(slices.Clone(x)))))
}

func must(n *gorgonia.Node, err error) *gorgonia.Node { return gorgonia.Must(n, err) }

func random(seed uint64, n int) []float64 {
	rng, x := rand.New(rand.NewPCG(seed, 1)), make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// machines run a graph with gradients of the cost by nodes.
var machines = map[string]func(cost *gorgonia.Node, by ...*gorgonia.Node) error{
	"TapeMachine": func(cost *gorgonia.Node, by ...*gorgonia.Node) error {
		if _, err := gorgonia.Grad(cost, by...); err != nil {
			return err
		}
		m := gorgonia.NewTapeMachine(cost.Graph(), gorgonia.BindDualValues(by...))
		defer m.Close()
		return m.RunAll()
	},
	"LispMachine": func(cost *gorgonia.Node, _ ...*gorgonia.Node) error {
		m := gorgonia.NewLispMachine(cost.Graph())
		defer m.Close()
		return m.RunAll()
	},
}

// run runs the graph on a machine, and returns the gradient by each node.
func run(machine string, cost *gorgonia.Node, by ...*gorgonia.Node) ([]gorgonia.Value, error) {
	if err := machines[machine](cost, by...); err != nil {
		return nil, err
	}
	var list []gorgonia.Value
	for _, n := range by {
		g, err := n.Grad()
		if err != nil {
			return nil, err
		}
		list = append(list, g)
	}
	return list, nil
}

// A node has the values and gradients of its rows, on both machines, in any batch, of operands in any layout.
func TestNode(t *testing.T) {
	for machine := range machines {
		for _, batch := range []int{1, 5} {
			t.Run(fmt.Sprint(machine, " of ", batch), func(t *testing.T) {
				const samples, seed = 8, 3
				theta, params, data, weight := random(1, batch*4), random(2, batch), random(3, batch), random(4, batch)
				l := layer.Of(rowsOf(t, samples, seed))
				require.Equal(t, []string{"threshold μ"}, l.Params())
				require.Equal(t, []string{"x μ", "log x s", "w μ", "log w s"}, l.Theta())

				g := gorgonia.NewGraph()
				turned := make([]float64, len(theta)) // 4 × B
				for i, x := range theta {
					turned[i%4*batch+i/4] = x
				}
				th, p, y := input(g, "theta", 4, batch, turned...), input(g, "params", batch, 1, params...), input(g, "y", batch, 1, data...)
				out, err := l.Apply(must(gorgonia.Transpose(th)), p, y)
				require.NoError(t, err)
				require.Equal(t, tensor.Shape{batch}, out.Shape())
				w := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithShape(batch), gorgonia.WithName("w"),
					gorgonia.WithValue(tensor.New(tensor.WithShape(batch), tensor.WithBacking(weight))))
				cost := must(gorgonia.Sum(must(gorgonia.HadamardProd(out, w))))
				var got gorgonia.Value
				gorgonia.Read(out, &got)
				grads, err := run(machine, cost, th, p)
				require.NoError(t, err)

				value, grad, all := make([]float64, batch), make([]float64, batch*5), []float64{}
				for b := range batch {
					all = append(append(all, params[b]), theta[b*4:][:4]...)
				}
				require.NoError(t, rowsOf(t, samples, seed).Run(parallel.Mix(0, 0), all, data, value, grad))
				require.InDeltaSlice(t, value, numbers(got), 1e-12)
				for b := range batch {
					require.InDelta(t, weight[b]*grad[b*5], numbers(grads[1])[b], 1e-12)
					for i := range 4 {
						require.InDelta(t, weight[b]*grad[b*5+1+i], numbers(grads[0])[i*batch+b], 1e-12)
					}
				}
			})
		}
	}
}

func numbers(v gorgonia.Value) []float64 {
	if d, ok := v.(*tensor.Dense); ok {
		return d.Float64s()
	}
	return []float64{v.Data().(float64)}
}

// A net is a network that reads y and answers with θ, and whose threshold all rows share.
type net struct {
	hidden, out, threshold []float64 // 2 × 2 and 3 × 4, with biases, and 1
}

func newNet() net {
	n := net{random(7, 4), random(8, 12), []float64{0.7}}
	for i := range n.out {
		n.out[i] *= 0.5
	}
	return n
}

func (n net) all() []*float64 {
	var list []*float64
	for _, x := range [][]float64{n.hidden, n.out, n.threshold} {
		for i := range x {
			list = append(list, &x[i])
		}
	}
	return list
}

// elbo is the exact mean over data.
func (n net) elbo(data []float64) (mean float64) {
	for _, y := range data {
		var h [3]float64
		h[2] = 1
		for k := range 2 {
			h[k] = math.Tanh(n.hidden[k]*y + n.hidden[2+k])
		}
		theta := make([]float64, 4)
		for i := range theta {
			for k := range h {
				theta[i] += h[k] * n.out[k*4+i]
			}
		}
		mean += exact(n.threshold[0], y, theta) / float64(len(data))
	}
	return mean
}

// A graphed net is a net in Gorgonia.
type graphed struct {
	cost    *gorgonia.Node
	weights []*gorgonia.Node
}

func (n net) graph(t *testing.T, l *layer.Layer, data []float64) graphed {
	t.Helper()
	g, batch := gorgonia.NewGraph(), len(data)
	with := make([]float64, 0, 2*batch)
	for _, y := range data {
		with = append(with, y, 1)
	}
	ones := input(g, "ones", batch, 1, slices.Repeat([]float64{1}, batch)...)
	in := input(g, "in", batch, 2, with...)
	hidden, out, bias := input(g, "hidden", 2, 2, n.hidden...), input(g, "out", 2, 4, n.out[:8]...), input(g, "bias", 1, 4, n.out[8:]...)
	threshold := input(g, "threshold", 1, 1, n.threshold...)
	h := must(gorgonia.Tanh(must(gorgonia.Mul(in, hidden))))
	theta := must(gorgonia.Add(must(gorgonia.Mul(h, out)), must(gorgonia.Mul(ones, bias))))
	elbo, err := l.Apply(theta, must(gorgonia.Mul(ones, threshold)), input(g, "y", batch, 1, data...))
	require.NoError(t, err)
	return graphed{must(gorgonia.Mean(elbo)), []*gorgonia.Node{hidden, out, bias, threshold}}
}

// Gradients of a network's weights against central differences of an exact ELBO.
func TestWeights(t *testing.T) {
	data := []float64{-1.5, 0.2, 1.1, 3}
	want := []float64{}
	n := newNet()
	for _, w := range n.all() {
		const h = 1e-4
		own := *w
		*w = own + h
		up := n.elbo(data)
		*w = own - h
		want = append(want, (up-n.elbo(data))/(2*h))
		*w = own
	}
	off := func(rows *expect.Rows, machine string, runs int) (relative float64) {
		got := make([]float64, len(want))
		l := layer.Of(rows)
		for range runs {
			g := n.graph(t, l, data)
			l.SetStep(0) // each node has draws of its own
			grads, err := run(machine, g.cost, g.weights...)
			require.NoError(t, err)
			at := 0
			for _, v := range grads {
				for _, x := range numbers(v) {
					got[at] += x / float64(runs)
					at++
				}
			}
		}
		above, below := 0.0, 0.0
		for i := range want {
			above += (got[i] - want[i]) * (got[i] - want[i])
			below += want[i] * want[i]
		}
		return math.Sqrt(above / below)
	}
	for machine := range machines {
		require.Less(t, off(rowsOf(t, 100_000, 1), machine, 10), 1e-3, machine)
	}
	require.Greater(t, off(rowsOf(t, 10_000, 1).WithoutBoundary(), "TapeMachine", 1), 0.05, "the ifs do not matter")
}

// New is of the rows that NewRows makes, and they run without a graph.
func TestNew(t *testing.T) {
	d, q := wall(t)
	l, err := layer.New(d, q, 8, 3)
	require.NoError(t, err)
	run := func(r *expect.Rows) (all []float64) {
		all = make([]float64, 3*(1+5))
		require.NoError(t, r.Run(2, random(1, 3*5), random(3, 3), all[:3], all[3:]))
		return all
	}
	require.Equal(t, run(rowsOf(t, 8, 3)), run(l.Rows()))
	_, err = layer.New(d, q, 0, 3)
	require.ErrorContains(t, err, "expect: 0 draws a row")
}

// A machine that runs again takes other draws, the same ones after SetStep, and whatever GOMAXPROCS is.
func TestSteps(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	n, data := newNet(), []float64{-1, 0.5, 2}
	runs := func(procs int) (costs []float64) {
		runtime.GOMAXPROCS(procs)
		l := layer.Of(rowsOf(t, 4, 5))
		g := n.graph(t, l, data)
		_, err := gorgonia.Grad(g.cost, g.weights...)
		require.NoError(t, err)
		m := gorgonia.NewTapeMachine(g.cost.Graph())
		defer m.Close()
		for k := range 4 {
			if k == 3 {
				l.SetStep(1)
			}
			require.NoError(t, m.RunAll())
			costs = append(costs, numbers(g.cost.Value())[0])
			m.Reset()
		}
		return costs
	}
	got := runs(1)
	require.NotEqual(t, got[0], got[1])
	require.NotEqual(t, got[1], got[2])
	require.Equal(t, got[1], got[3])
	require.Equal(t, got, runs(4))
}

// What is wrong is an error that says so, and the machine goes on after it.
func TestNaN(t *testing.T) {
	l := layer.Of(rowsOf(t, 4, 5))
	g := gorgonia.NewGraph()
	theta, y := input(g, "theta", 3, 4, random(1, 12)...), input(g, "y", 3, 1, 1, 2, 3)
	params := input(g, "params", 3, 1, 0, 0, 0)
	out, err := l.Apply(theta, params, y)
	require.NoError(t, err)
	cost := must(gorgonia.Sum(out))
	_, err = gorgonia.Grad(cost, theta)
	require.NoError(t, err)
	m := gorgonia.NewTapeMachine(g)
	defer m.Close()
	require.NoError(t, m.RunAll())
	first := numbers(cost.Value())[0]
	m.Reset()
	l.SetStep(0)

	numbers(theta.Value())[1*4+1] = math.NaN()
	require.ErrorContains(t, m.RunAll(), "row 1")
	m.Reset()
	numbers(theta.Value())[1*4+1] = random(1, 12)[5]
	numbers(y.Value())[2] = math.NaN()
	require.ErrorContains(t, m.RunAll(), "row 2")
	m.Reset()
	numbers(y.Value())[2] = 3
	require.NoError(t, m.RunAll())
	require.Equal(t, first, numbers(cost.Value())[0]) // the runs that ended in errors took no step

	require.Error(t, gorgonia.Let(y, tensor.New(tensor.WithShape(2, 1), tensor.WithBacking([]float64{1, 2})))) // another batch
	lisp := func(logSD float64) (*gorgonia.Node, error) {                                                      // in a batch of its own
		g := gorgonia.NewGraph()
		theta := input(g, "theta", 1, 4, 0, logSD, 0, 0)
		out, err := l.Apply(theta, input(g, "params", 1, 1, 0), nil)
		require.NoError(t, err)
		cost := must(gorgonia.Sum(out))
		_, err = run("LispMachine", cost, theta)
		return cost, err
	}
	_, err = lisp(math.Inf(1))
	require.ErrorContains(t, err, "row 0")
	after, err := lisp(0)
	require.NoError(t, err)
	require.False(t, math.IsNaN(numbers(after.Value())[0]))
}

// A graph is differentiated once.
func TestSecondGrad(t *testing.T) {
	l := layer.Of(rowsOf(t, 4, 5))
	g := gorgonia.NewGraph()
	theta := input(g, "theta", 2, 4, random(1, 8)...)
	out, err := l.Apply(theta, input(g, "params", 2, 1, 0, 0), nil)
	require.NoError(t, err)
	a, b := must(gorgonia.Sum(out)), must(gorgonia.Sum(must(gorgonia.Square(out))))
	grads, err := gorgonia.Grad(a, theta)
	require.NoError(t, err)
	_, err = gorgonia.Grad(b, theta)
	require.ErrorContains(t, err, "Non Differentiable")
	_, err = gorgonia.Grad(must(gorgonia.Sum(grads[0])), theta)
	require.ErrorContains(t, err, "Non Differentiable")
}

// Passes of LispMachines add gradients up until a solver takes them, as with all of Gorgonia's nodes, and a pass that ends in an error adds nothing.
func TestSecondPass(t *testing.T) {
	l := layer.Of(rowsOf(t, 4, 5))
	g := gorgonia.NewGraph()
	theta, params := input(g, "theta", 3, 4, random(1, 12)...), input(g, "params", 3, 1, 0, 0, 0)
	out, err := l.Apply(theta, params, nil)
	require.NoError(t, err)
	cost := must(gorgonia.Sum(out))
	pass := func() []float64 {
		l.SetStep(0)
		grads, err := run("LispMachine", cost, theta)
		require.NoError(t, err)
		return slices.Clone(numbers(grads[0]))
	}
	once := pass()
	own := numbers(theta.Value())[5]
	numbers(theta.Value())[5] = math.NaN()
	_, err = run("LispMachine", cost, theta)
	require.ErrorContains(t, err, "row 1")
	numbers(theta.Value())[5] = own
	for i, x := range pass() {
		require.InDelta(t, 2*once[i], x, 1e-12)
	}
	require.NoError(t, gorgonia.NewVanillaSolver(gorgonia.WithLearnRate(0)).Step(gorgonia.NodesToValueGrads(gorgonia.Nodes{theta})))
	require.Equal(t, once, pass())
	require.Error(t, gorgonia.Let(theta, tensor.New(tensor.WithShape(2, 4), tensor.WithBacking(random(1, 8))))) // another batch
}

func TestApply(t *testing.T) {
	l := layer.Of(rowsOf(t, 4, 5))
	g := gorgonia.NewGraph()
	theta, params, y := input(g, "theta", 2, 4, random(1, 8)...), input(g, "params", 2, 1, 0, 0), input(g, "y", 2, 1, 1, 2)
	for says, in := range map[string][3]*gorgonia.Node{
		"no theta":                   {nil, params, y},
		"no params":                  {theta, nil, y},
		"theta are float64 of shape": {params, params, y},
		"log x s":                    {params, params, y},
		"data are float64 of shape":  {theta, params, theta},
		"2 rows of params beside 3":  {input(g, "three", 3, 4, random(1, 12)...), params, y},
		"(0, 4) have no rows":        {gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(0, 4), gorgonia.WithName("none")), params, y},
		"no gradient by data":        {theta, params, must(gorgonia.Neg(y))},
		"another graph":              {theta, params, input(gorgonia.NewGraph(), "y", 2, 1, 1, 2)},
		"params are float32":         {theta, gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(2, 1), gorgonia.WithName("f")), y},
	} {
		_, err := l.Apply(in[0], in[1], in[2])
		require.ErrorContains(t, err, says)
	}
	m := graph.NewSimulation()
	x := m.Param("x", 0)
	e, err := expect.Of(m, graph.If(graph.Greater(graph.Add(x, m.Sample("e", graph.Normal(0, 1))), 0), 1, 0))
	require.NoError(t, err)
	rows, err := expect.NewRows(e.Density(), nil, 4, 1)
	require.NoError(t, err)
	_, err = layer.Of(rows).Apply(theta, params, nil)
	require.ErrorContains(t, err, "has none: give nil")
	own := input(gorgonia.NewGraph(), "params", 2, 1, 0, 0)
	out, err := layer.Of(rows).Apply(nil, own, nil)
	require.NoError(t, err)
	grads, err := run("TapeMachine", must(gorgonia.Sum(out)), own)
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{1 / math.Sqrt(2*math.Pi), 1 / math.Sqrt(2*math.Pi)}, numbers(grads[0]), 1e-12)
}
