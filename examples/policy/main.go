// Policy trains a network of Gorgonia to run a kiosk. In the morning it reads a forecast, how many customers will come before and after noon, and
// answers with two numbers that are parameters of a program with ifs:
//
//	demand before noon ~ Normal(first, 2),   after ~ Normal(second, 2)
//	left = stock − demand before noon
//	if left < trigger { a courier comes, cost 5, and left = refill }         refill = 14
//	if demand after noon > left { cost 20 } else { cost 2 a unit that is left over }
//
//	forecast ─▶ network ─▶ stock, trigger ─▶ program ─▶ E[cost]
//
// The network learns by the gradient of the expected cost through the ifs. Automatic differentiation sees only that what is left over costs,
// and never that a customer leaves or a courier comes: without the boundary part the network orders less and less. What
// it could reach at best is known: for each forecast the expected cost is a quadrature over one demand, and the
// best numbers are searched for.
package main

import (
	"context"
	"io"
	"math"
	"math/rand/v2"

	"gorgonia.org/gorgonia"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/expect/layer"
	"github.com/facetvi/facet/graph"
)

const (
	sd      = 2.0
	courier = 5.0
	refill  = 14.0
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
	left = graph.If(comes, refill, left)
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
