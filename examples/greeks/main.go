// Greeks prices three options whose payoffs jump, and differentiates the prices through the jumps:
//
//	log S_k   = log S_{k−1} − σ²/2n + σ/√n·ε_k,   k = 1..n dates in a year, σ = 0.2, no interest
//	digital     1 if log S_n > 0
//	barrier     1 if log S_n > 0, knocked out if log S_k < −0.15 on one of the n − 1 dates before
//	autocall    1 + 0.01·k on the first date k with S_k > 1.02, and the end; at last 1 if S_n > 0.75, else S_n
//
// A delta, ∂price/∂log S_0, is the gradient of an expectation through the ifs of the payoff. Automatic differentiation says 0 of
// the first two. The tests compare with exact prices and deltas, and with other ways to them.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"os/signal"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/report"
)

const (
	sigma  = 0.2
	knock  = -0.15
	floor  = 0.75
	coupon = 0.01

	digital, barrier, autocall = "digital", "barrier", "autocall"
)

var call = math.Log(1.02)

// An option pays on the dates 1 to n.
type option struct {
	name  string
	dates int
	pays  func(x []graph.Expr) graph.Expr // given the log prices on all dates
}

func options(dates ...int) (list []option) {
	list = append(list, option{digital, 1, func(x []graph.Expr) graph.Expr { return graph.If(graph.Greater(x[0], 0), 1, 0) }})
	for _, n := range dates {
		list = append(list, option{barrier, n, func(x []graph.Expr) graph.Expr {
			wins := graph.Greater(x[n-1], 0)
			for _, at := range x[:n-1] {
				wins = graph.And(wins, graph.Greater(at, knock))
			}
			return graph.If(wins, 1, 0)
		}})
	}
	n := dates[0]
	return append(list, option{autocall, n, func(x []graph.Expr) graph.Expr {
		f := graph.If(graph.Greater(x[n-1], math.Log(floor)), 1, graph.Exp(x[n-1]))
		for k := n; k > 0; k-- {
			f = graph.If(graph.Greater(x[k-1], call), 1+coupon*float64(k), f)
		}
		return f
	}})
}

// expectation is the option's price, a function of log S_0.
func (o option) expectation() (*expect.Expectation, error) {
	m := graph.NewSimulation()
	at := m.Param("log S_0", 0)
	dt := 1 / float64(o.dates)
	var x []graph.Expr
	for k := range o.dates {
		noise := m.Sample(fmt.Sprint("noise", k), graph.Normal(0, 1))
		at = graph.Add(at, graph.Add(-0.5*sigma*sigma*dt, graph.Mul(sigma*math.Sqrt(dt), noise)))
		x = append(x, at)
	}
	return expect.Of(m, o.pays(x))
}

func run(ctx context.Context, out io.Writer, seed uint64, draws int, html string) error {
	about := fmt.Sprintf("One year without interest, volatility %.0f %%, %d draws. Delta is ∂price/∂log S_0, through the ifs of the payoff.", 100*sigma, draws)
	head, rows := []string{"option", "dates", "price ± its error", "delta ± its error"}, [][]string{}
	fmt.Fprintf(out, "%s\n\n%-8s %6s  %-19s %s\n", about, head[0], head[1], head[2], head[3])
	for _, o := range options(12, 50) {
		e, err := o.expectation()
		if err != nil {
			return err
		}
		got, err := e.Estimate(ctx, draws, seed)
		if err != nil {
			return err
		}
		price, delta := got.Value, got.Gradient[0]
		row := []string{o.name, fmt.Sprint(o.dates), fmt.Sprintf("%.4f ± %.4f", price.Value, price.SE), fmt.Sprintf("%.4f ± %.4f", delta.Value, delta.SE)}
		fmt.Fprintf(out, "%-8s %6s  %s     %s\n", row[0], row[1], row[2], row[3])
		rows = append(rows, row)
	}
	if html != "" {
		return report.SaveTable(html, head, rows, 1, report.Options{Title: "Options whose payoffs jump", About: about})
	}
	return nil
}

func main() {
	seed, draws := flag.Uint64("seed", 1, "of random numbers"), flag.Int("draws", 200_000, "of each estimate")
	html := flag.String("html", "", "`file` for a page with the table")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *seed, *draws, *html); err != nil {
		log.Fatal(err)
	}
}
