// Policy trains a network of Gorgonia to run a kiosk. In the morning it reads a forecast, how many customers will come before and after
// noon, and answers with two numbers that are parameters of a program with ifs:
//
//	demand before noon ~ Normal(first, 3),   after ~ Normal(second, 3)
//	left = stock − demand before noon
//	if left < trigger { a courier comes, cost 2, and left = second + 4 }
//	if demand after noon > left { cost 20 } else { cost 2 a unit that is left over }
//
// The network learns by the gradient of the expected cost through the ifs. Automatic differentiation never sees that a customer leaves or a
// courier comes. The tests compare with the best numbers, and with what is learned without the boundary part.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/facetvi/facet/expect/layer"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/report"
)

const sd, courier, spare, gone, over = 3.0, 2.0, 4.0, 20.0, 2.0
const batch, hidden = 64, 24

// program is the cost of a day.
func program() *graph.Density {
	m := graph.NewSimulation()
	stock, trigger, first, second := m.Param("stock", 20), m.Param("trigger", 8), m.Param("first", 10), m.Param("second", 10)
	morning, afternoon := m.Sample("before noon", graph.Normal(first, sd)), m.Sample("after noon", graph.Normal(second, sd))
	left := graph.Sub(stock, morning)
	comes := graph.Less(left, trigger)
	cost := graph.If(comes, courier, 0)
	left = graph.If(comes, graph.Add(second, spare), left)
	return must(m.CompileObjective(graph.Add(cost, graph.If(graph.Greater(afternoon, left), gone, graph.Mul(over, graph.Sub(left, afternoon))))))
}

// train has a network with one hidden layer lower the mean expected cost over forecasts, and then says what it answers to those asked.
func train(days *layer.Layer, steps int, seed uint64, asked []float64) (answers []float64) {
	g, rng := gorgonia.NewGraph(), rand.New(rand.NewPCG(seed, 1))
	matrix := func(name string, rows, columns int, x []float64) *gorgonia.Node {
		return gorgonia.NodeFromAny(g, tensor.New(tensor.WithShape(rows, columns), tensor.WithBacking(x)), gorgonia.WithName(name))
	}
	mul := func(a, b *gorgonia.Node) *gorgonia.Node { return must(gorgonia.Mul(a, b)) }
	forecasts, random := make([]float64, 2*batch), make([]float64, 2*hidden)
	for k := range random {
		random[k] = 0.2 * rng.NormFloat64()
	}
	forecast := matrix("forecast", batch, 2, forecasts)
	in, out := matrix("in", 2, hidden, random), matrix("out", hidden, 2, make([]float64, 2*hidden))
	straight := matrix("straight", 2, 2, []float64{1, 0.4, 1, 0.4}) // past the hidden layer: at the start it orders the forecast
	says := must(gorgonia.Add(mul(must(gorgonia.Tanh(mul(forecast, in))), out), mul(forecast, straight)))
	costs := must(days.Apply(nil, must(gorgonia.Concat(1, says, forecast)), nil))
	weights := gorgonia.Nodes{in, out, straight}
	must(gorgonia.Grad(must(gorgonia.Mean(costs)), weights...)) // through the ifs
	machine := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(weights...))
	defer machine.Close()
	solver := gorgonia.NewAdamSolver(gorgonia.WithLearnRate(0.01))
	for range steps {
		for k := range forecasts {
			forecasts[k] = 4 + 12*rng.Float64()
		}
		must(0, machine.RunAll())
		must(0, solver.Step(gorgonia.NodesToValueGrads(weights)))
		machine.Reset()
	}
	copy(forecasts, asked)
	must(0, machine.RunAll())
	return says.Value().Data().([]float64)[:len(asked)]
}

func run(out io.Writer, seed uint64, steps int, html string) {
	days := must(layer.New(program(), nil, 16, seed)) // 16 draws a forecast
	asked := []float64{5, 5, 5, 15, 10, 10, 15, 5, 15, 15}
	answers := train(days, steps, seed, asked)
	head, table := []string{"customers forecast", "stock", "courier if less", "expected cost of a day"}, [][]string{}
	fmt.Fprintf(out, "%-18s   %5s   %-15s   %s\n", head[0], head[1], head[2], head[3])
	for k := 0; k < len(asked); k += 2 {
		day := must(days.Rows().Expectation([]float64{answers[k], answers[k+1], asked[k], asked[k+1]}))
		cost := must(day.Estimate(context.Background(), 100_000, seed)).Value
		row := []string{fmt.Sprintf("%.0f and %2.0f", asked[k], asked[k+1]), fmt.Sprintf("%.1f", answers[k]), fmt.Sprintf("%.1f", answers[k+1]),
			fmt.Sprintf("%.2f ± %.2f", cost.Value, cost.SE)}
		fmt.Fprintf(out, "%15s %9s %14s      %s\n", row[0], row[1], row[2], row[3])
		table = append(table, row)
	}
	if html != "" {
		about := fmt.Sprintf("What a network orders in the morning, and how few units at noon let a courier come, after %d steps of training.", steps)
		must(0, report.SaveTable(html, head, table, 1, report.Options{Title: "A kiosk that is run by a network", About: about}))
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return x
}

func main() {
	seed, steps := flag.Uint64("seed", 1, "of random numbers"), flag.Int("steps", 3000, "of the training")
	html := flag.String("html", "", "`file` for a page with the table")
	flag.Parse()
	run(os.Stdout, *seed, *steps, *html)
}
