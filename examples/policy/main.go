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
// The network learns by the gradient of the expected cost through the ifs. Automatic differentiation never sees that a customer leaves or a
// courier comes: without the boundary part the network orders next to nothing. The tests compare with the best that it could do.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"

	"gorgonia.org/gorgonia"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/expect/layer"
	"github.com/facetvi/facet/graph"
)

const (
	sd, courier, spare, gone, over = 3.0, 2.0, 4.0, 20.0, 2.0
	batch, hidden                  = 64, 24
)

// program is the cost of a day.
func program() (*expect.Expectation, error) {
	m := graph.NewSimulation()
	stock, trigger, first, second := m.Param("stock", 20), m.Param("trigger", 8), m.Param("first", 10), m.Param("second", 10)
	morning, afternoon := m.Sample("before noon", graph.Normal(first, sd)), m.Sample("after noon", graph.Normal(second, sd))
	left := graph.Sub(stock, morning)
	comes := graph.Less(left, trigger)
	cost := graph.If(comes, courier, 0)
	left = graph.If(comes, graph.Add(second, spare), left)
	cost = graph.Add(cost, graph.If(graph.Greater(afternoon, left), gone, graph.Mul(over, graph.Sub(left, afternoon))))
	return expect.Of(m, cost)
}

// train lowers the mean expected cost over forecasts.
func (p policy) train(rows *expect.Rows, steps int, seed uint64) error {
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

func run(out io.Writer, seed uint64, steps int) error {
	e, err := program()
	if err != nil {
		return err
	}
	rows, err := expect.NewRows(e.Density(), nil, 16, seed)
	if err != nil {
		return err
	}
	p := newPolicy(rand.New(rand.NewPCG(seed, 1)))
	if err := p.train(rows, steps, seed); err != nil {
		return err
	}
	fmt.Fprintf(out, "forecast    stock   courier if less   expected cost of a day\n")
	for _, at := range [][2]float64{{5, 5}, {5, 15}, {10, 10}, {15, 5}, {15, 15}} {
		stock, trigger := p.answer(at[0], at[1])
		day, err := e.At(stock, trigger, at[0], at[1])
		if err != nil {
			return err
		}
		cost, err := day.Estimate(context.Background(), 100_000, seed)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%2.0f and %2.0f %8.1f %14.1f      %.2f ± %.2f\n", at[0], at[1], stock, trigger, cost.Value.Value, cost.Value.SE)
	}
	return nil
}

func main() {
	seed, steps := flag.Uint64("seed", 1, "of random numbers"), flag.Int("steps", 3000, "of each training")
	flag.Parse()
	if err := run(os.Stdout, *seed, *steps); err != nil {
		log.Fatal(err)
	}
}
