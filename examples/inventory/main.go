// Inventory finds the best (s, S) policy of a shop over 60 days. Every five days it looks at its stock, and if that is below s it orders up to
// S, for the next morning; at the latest after 30 days.
//
//	demand of five days ~ Normal(50, 15)
//	cost = 60 an order + 0.2 a unit that is left after five days + 2 a unit of demand that is lost
//
// The stock is S less the demand since the last order, and so each if is on a sum of noise: is it above S − s, is it above S? Automatic
// differentiation sees none of them: with it the price of too low an s is 0. The expected cost is minimised here through the ifs. The tests
// compare with a search on a grid, where the expected cost is exact by dynamic programming and quadrature over the stock.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/report"
)

const (
	reviews  = 12
	latest   = 6 // reviews after an order
	mean, sd = 50.0, 15.0
	order    = 60.0
	holding  = 0.2
	lost     = 2.0
)

// starts are values of S, for the cost has several minima: one for each number of reviews that S lasts for.
var starts = []float64{120, 240}

// program is the expected cost, which depends on s and S. They have no bounds: of a parameter on the real line the guards are planes.
func program() (*expect.Expectation, error) {
	m := graph.NewSimulation()
	low, high := m.Param("s", 20, graph.Scale(20)), m.Param("S", 120, graph.Scale(50))
	demand := []graph.Expr{graph.Add(0, 0)} // so far
	for t := range reviews {
		demand = append(demand, graph.Add(demand[t], m.Sample(fmt.Sprint("demand", t), graph.Normal(mean, sd))))
	}
	// from[t][k] is the cost from review t on, if the last order came at k.
	var from [reviews + 1][reviews + 1]graph.Expr
	for k := range from[reviews] {
		from[reviews][k] = graph.Add(0, 0)
	}
	for t := reviews - 1; t >= 0; t-- {
		for k := max(0, t-latest+1); k <= t; k++ {
			left := graph.Sub(high, graph.Sub(demand[t+1], demand[k]))
			next := from[t+1][k]
			if t+1 < reviews { // there is a day after it
				next = graph.Add(order, from[t+1][t+1])
				if t+1-k < latest {
					next = graph.If(graph.Less(left, low), next, from[t+1][k])
				}
			}
			cost := graph.If(graph.Less(left, 0), graph.Mul(-lost, left), graph.Mul(holding, left))
			from[t][k] = graph.Add(cost, next)
		}
	}
	return expect.Of(m, from[0][0])
}

func run(ctx context.Context, out io.Writer, seed uint64, steps int, html string) error {
	e, err := program()
	if err != nil {
		return err
	}
	head, rows := []string{"below s, up to S:", "s", "S", "expected cost of 60 days"}, [][]string{}
	line := func(row ...string) { fmt.Fprintf(out, "%-18s %4s %4s  %s\n", row[0], row[1], row[2], row[3]) }
	add := func(what string, e expect.Estimate) {
		row := []string{what, fmt.Sprintf("%.0f", e.At[0]), fmt.Sprintf("%.0f", e.At[1]), fmt.Sprintf("%.1f ± %.1f", e.Value.Value, e.Value.SE)}
		line(row...)
		rows = append(rows, row)
	}
	line(head...)
	for _, high := range starts {
		at, err := e.At(20, high)
		if err != nil {
			return err
		}
		before, err := at.Estimate(context.WithoutCancel(ctx), 10_000, seed) // takes a moment
		if err != nil {
			return err
		}
		add("start", *before)
		best, err := at.Minimize(ctx, expect.Settings{Seed: seed, Steps: steps, Final: 10_000, Tolerance: 0.1})
		if err != nil && !(errors.Is(err, context.Canceled) && best != nil) {
			return err
		}
		add(fmt.Sprintf("after %d steps", best.Steps), best.Estimate)
		if err != nil {
			break
		}
	}
	if html != "" {
		return report.SaveTable(html, head, rows, 1, report.Options{Title: "When a shop should order, and how much"})
	}
	return nil
}

func main() {
	seed, steps := flag.Uint64("seed", 1, "of random numbers"), flag.Int("steps", 2000, "at most")
	html := flag.String("html", "", "`file` for a page with the table")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *seed, *steps, *html); err != nil {
		log.Fatal(err)
	}
}
