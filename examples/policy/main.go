// Policy trains a network of Gorgonia to run a kiosk. In the morning it reads a forecast, how many customers will come before and after noon, and
// answers with two numbers that are parameters of a program with ifs:
//
//	demand before noon ~ Normal(first, 3),   after ~ Normal(second, 3)
//	left = stock − demand before noon
//	if left < trigger { a courier comes, cost 2, and left = second + 4 }
//	if demand after noon > left { cost 20 } else { cost 2 a unit that is left over }
//
//	forecast ─▶ network ─▶ stock, trigger ─▶ program ─▶ E[cost]
//
// The network learns by the gradient of the expected cost through the ifs. Automatic differentiation sees only that what is left over costs,
// and never that a customer leaves or a courier comes: without the boundary part the network orders next to nothing, and the courier comes every
// day. What it could reach at best is known: for each forecast the expected cost is a quadrature over one demand, and the
// best numbers are searched for.
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat/distuv"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/expect/layer"
	"github.com/facetvi/facet/graph"
)

const (
	sd      = 3.0
	courier = 2.0
	spare   = 4.0
	gone    = 20.0
	over    = 2.0
	batch   = 64
	hidden  = 24
)

// program is the cost of a day.
func program() (*expect.Expectation, error) {
	m := graph.NewSimulation()
	stock, trigger := m.Param("stock", 20), m.Param("trigger", 8)
	first, second := m.Param("first", 10), m.Param("second", 10)
	morning, afternoon := m.Sample("before noon", graph.Normal(first, sd)), m.Sample("after noon", graph.Normal(second, sd))
	left := graph.Sub(stock, morning)
	comes := graph.Less(left, trigger)
	cost := graph.If(comes, courier, 0)
	left = graph.If(comes, graph.Add(second, spare), left)
	cost = graph.Add(cost, graph.If(graph.Greater(afternoon, left), gone, graph.Mul(over, graph.Sub(left, afternoon))))
	return expect.Of(m, cost)
}

// train lowers the mean expected cost over forecasts.
func (p policy) train(ctx context.Context, rows *expect.Rows, steps int, seed uint64) error {
	net := p.graph()
	costs, err := layer.Of(rows).Apply(nil, gorgonia.Must(gorgonia.Concat(1, net.says, net.forecast)), nil)
	if err != nil {
		return err
	}
	if _, err := gorgonia.Grad(gorgonia.Must(gorgonia.Mean(costs)), net.weights...); err != nil {
		return err
	}
	machine := gorgonia.NewTapeMachine(costs.Graph(), gorgonia.BindDualValues(net.weights...))
	defer machine.Close()
	rng := rand.New(rand.NewPCG(seed, 2))
	var solver *gorgonia.AdamSolver
	for step := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if phase := 1 + steps/6; step%phase == 0 {
			solver = gorgonia.NewAdamSolver(gorgonia.WithLearnRate(0.02 * math.Pow(0.5, float64(step/phase))))
		}
		if err := net.read(forecasts(rng)); err != nil {
			return err
		}
		if err := machine.RunAll(); err != nil {
			return err
		}
		if err := solver.Step(gorgonia.NodesToValueGrads(net.weights)); err != nil {
			return err
		}
		machine.Reset()
	}
	return nil
}

// A policy is a network with one hidden layer: weights and biases.
type policy struct{ in, bias, out, base *tensor.Dense }

func newPolicy(rng *rand.Rand) policy {
	random := func(rows, columns int, scale float64) *tensor.Dense {
		x := make([]float64, rows*columns)
		for i := range x {
			x[i] = scale * rng.NormFloat64()
		}
		return tensor.New(tensor.WithShape(rows, columns), tensor.WithBacking(x))
	}
	p := policy{random(2, hidden, 0.7), random(1, hidden, 0.5), random(hidden, 2, 0.05), random(1, 2, 0)}
	copy(p.base.Float64s(), []float64{20, 8})
	return p
}

// forecasts draws a batch of what a morning may bring.
func forecasts(rng *rand.Rand) *tensor.Dense {
	x := make([]float64, 2*batch)
	for i := range x {
		x[i] = 4 + 12*rng.Float64()
	}
	return tensor.New(tensor.WithShape(batch, 2), tensor.WithBacking(x))
}

// answer is stock and trigger for a forecast.
func (p policy) answer(first, second float64) (stock, trigger float64) {
	x := []float64{(first - 10) / 6, (second - 10) / 6}
	out := append([]float64(nil), p.base.Float64s()...)
	for k := range hidden {
		h := math.Tanh(x[0]*p.in.Float64s()[k] + x[1]*p.in.Float64s()[hidden+k] + p.bias.Float64s()[k])
		for i := range out {
			out[i] += 10 * h * p.out.Float64s()[2*k+i]
		}
	}
	return out[0], out[1]
}

// A graphed policy is a policy in Gorgonia, for a batch.
type graphed struct {
	forecast, scaled, says *gorgonia.Node
	weights                gorgonia.Nodes
}

func (p policy) graph() (n graphed) {
	g := gorgonia.NewGraph()
	node := func(name string, t *tensor.Dense) *gorgonia.Node {
		return gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithName(name), gorgonia.WithShape(t.Shape()...), gorgonia.WithValue(t))
	}
	all := func(name string, columns int, x float64) *gorgonia.Node {
		return node(name, tensor.New(tensor.WithShape(batch, columns), tensor.WithBacking(slices.Repeat([]float64{x}, batch*columns))))
	}
	mul := func(a, b *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.Mul(a, b)) }
	add := func(a, b *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.Add(a, b)) }
	n.forecast, n.scaled = all("forecast", 2, 0), all("scaled", 2, 0)
	ones := all("ones", 1, 1)
	in, bias, out, base := node("in", p.in), node("bias", p.bias), node("out", p.out), node("base", p.base)
	h := gorgonia.Must(gorgonia.Tanh(add(mul(n.scaled, in), mul(ones, bias))))
	n.says = add(gorgonia.Must(gorgonia.HadamardProd(mul(h, out), all("ten", 2, 10))), mul(ones, base))
	n.weights = gorgonia.Nodes{in, bias, out, base}
	return n
}

// read makes x the forecasts.
func (n graphed) read(x *tensor.Dense) error {
	z := x.Clone().(*tensor.Dense)
	for i := range z.Float64s() {
		z.Float64s()[i] = (z.Float64s()[i] - 10) / 6
	}
	if err := gorgonia.Let(n.forecast, x); err != nil {
		return err
	}
	return gorgonia.Let(n.scaled, z)
}

// exact is the expected cost, by a Gauss–Legendre rule over the demand before noon of which something is left.
func exact(stock, trigger, first, second float64) float64 {
	n := distuv.UnitNormal
	after := func(left float64) float64 { // the expected cost after noon
		z := (left - second) / sd
		return gone*(1-n.CDF(z)) + over*((left-second)*n.CDF(z)+sd*n.Prob(z))
	}
	lo, hi := first-9*sd, min(stock-trigger, first+9*sd)
	comes := 1 - n.CDF((stock-trigger-first)/sd)
	cost := comes * (courier + after(second+spare))
	if hi > lo {
		cost += quad.Fixed(func(d float64) float64 { return n.Prob((d-first)/sd) / sd * after(stock-d) }, lo, hi, 60, quad.Legendre{}, 0)
	}
	return cost
}

// best are the numbers with the least expected cost for a forecast.
func best(first, second float64) (stock, trigger, cost float64) {
	cost = math.Inf(1)
	for _, start := range [][]float64{{first + second + 5, second}, {first + 8, 7}, {first + second + 5, 0}} {
		r, err := optimize.Minimize(optimize.Problem{Func: func(x []float64) float64 { return exact(x[0], x[1], first, second) }}, start, nil, &optimize.NelderMead{})
		if err == nil && r.F < cost {
			stock, trigger, cost = r.X[0], r.X[1], r.F
		}
	}
	return stock, trigger, cost
}

// loss is the exact mean cost of a policy over a grid of forecasts.
func loss(says func(first, second float64) (stock, trigger float64)) (mean float64) {
	n := 0.0
	for first := 5.0; first < 16; first += 2 {
		for second := 5.0; second < 16; second += 2 {
			stock, trigger := says(first, second)
			mean += exact(stock, trigger, first, second)
			n++
		}
	}
	return mean / n
}

// report prints what the best numbers cost, and those of three policies: what was learned through the ifs, where that started, and what was learned without
// the boundary part.
func report(out io.Writer, learned, start, without policy) {
	fmt.Fprintf(out, "%-18s %-30s %-30s\n", "forecast", "best: stock, trigger, cost", "network, through the ifs")
	for _, at := range [][2]float64{{5, 5}, {5, 15}, {10, 10}, {15, 5}, {15, 15}} {
		stock, trigger, cost := best(at[0], at[1])
		s, t := learned.answer(at[0], at[1])
		fmt.Fprintf(out, "%4.0f and %-8.0f %8.2f %8.2f %8.3f      %8.2f %8.2f %8.3f\n", at[0], at[1], stock, trigger, cost, s, t, exact(s, t, at[0], at[1]))
	}
	fmt.Fprintf(out, "\nmean cost, exactly, over forecasts\n")
	line := func(what string, says func(first, second float64) (stock, trigger float64)) {
		fmt.Fprintf(out, "%-36s %7.3f\n", what, loss(says))
	}
	line("the best for each", func(a, b float64) (stock, trigger float64) { stock, trigger, _ = best(a, b); return })
	line("network, through the ifs", learned.answer)
	line("network at the start", start.answer)
	line("network, without the boundary part", without.answer)
}

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, out, _ io.Writer) error {
	flags := cli.New("policy")
	seed, steps := flags.Seed(), flags.Steps(3000, "steps of each training")
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	e, err := program()
	if err != nil {
		return err
	}
	var policies []policy
	for _, through := range []bool{true, false} {
		rows, err := expect.NewRows(e.Density(), nil, 16, *seed)
		if err != nil {
			return err
		}
		if !through {
			rows.WithoutBoundary()
		}
		p := newPolicy(rand.New(rand.NewPCG(*seed, 1)))
		if err := p.train(ctx, rows, *steps, *seed); err != nil {
			return err
		}
		policies = append(policies, p)
	}
	report(out, policies[0], newPolicy(rand.New(rand.NewPCG(*seed, 1))), policies[1])
	return nil
}
