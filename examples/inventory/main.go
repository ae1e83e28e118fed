// Inventory finds the best (s, S) policy of a shop over 60 days. Every five days it looks at its stock, and if that is below s it orders up to
// S, for the next morning; at the latest after 30 days.
//
//	demand of five days ~ Normal(50, 15)
//	cost = 60 an order + 0.2 a unit that is left after five days + 2 a unit of demand that is lost
//
// The stock is S less the demand since the last order, and so each if is on a sum of noise: is it above S − s, is it above S? Automatic
// differentiation sees none of them: with it the price of too low an s is 0. The expected cost is minimised here through the ifs. Beside it there
// is a search on a grid, where the expected cost is exact by dynamic programming and quadrature over the stock.
package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/graph"
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

// exact is the expected cost of a policy: from[k](x) is the cost from review t on with stock x, ordered k reviews ago, for all x
// between s and the most there can be, by a Gauss–Legendre rule.
func exact(low, high float64) float64 {
	const points, far = 48, 6
	top := high + far*sd // demand can be negative, with probability 0.0004
	x, w := make([]float64, points), make([]float64, points)
	quad.Legendre{}.FixedLocations(x, w, low, top)
	x = append(x, high)
	n := distuv.UnitNormal
	// cost of one period, and the probability to be below s after it, by stock
	cost, below := make([]float64, len(x)), make([]float64, len(x))
	moves := make([][]float64, len(x))
	for i, stock := range x {
		z := (stock - mean) / sd
		stays := (stock-mean)*n.CDF(z) + sd*n.Prob(z) // E[left⁺]
		cost[i] = holding*stays + lost*(stays-(stock-mean))
		below[i] = n.CDF((low - stock + mean) / sd)
		for k := range points {
			moves[i] = append(moves[i], w[k]*n.Prob((stock-mean-x[k])/sd)/sd)
		}
	}
	var from [latest][]float64 // of the review after, by how long ago the order was
	for k := range from {
		from[k] = make([]float64, len(x))
	}
	for t := reviews - 1; t >= 0; t-- {
		var now [latest][]float64
		for k := range now {
			now[k] = append(now[k], cost...)
			if t == reviews-1 {
				continue
			}
			again := order + from[0][points]
			for i := range x {
				if k == latest-1 {
					now[k][i] += again
					continue
				}
				now[k][i] += below[i] * again
				for j, p := range moves[i] {
					now[k][i] += p * from[k+1][j]
				}
			}
		}
		from = now
	}
	return from[0][points]
}

// search finds the best policy of a grid of whole numbers.
func search() (s, S float64) {
	cost := math.Inf(1)
	for step := 8.0; step >= 1; step /= 2 { // around the best of a coarser one
		s0, S0 := s, S
		for low := max(2, s0-4*step); low <= 98; low += step {
			for high := max(102, S0-4*step); high < 398; high += step {
				if s0 > 0 && (low > s0+4*step || high > S0+4*step) {
					break
				}
				if c := exact(low, high); c < cost {
					s, S, cost = low, high, c
				}
			}
		}
	}
	return s, S
}

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := cli.New("inventory")
	seed, steps := flags.Seed(), flags.Steps(2000, "steps at most")
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	e, err := program()
	if err != nil {
		return err
	}
	line := func(what string, s, S float64, cost any) {
		fmt.Fprintf(out, "%-18s %8.2f %8.2f   %-16v %.3f\n", what, s, S, cost, exact(s, S))
	}
	fmt.Fprintf(out, "%-18s %8s %8s   %-16s %s\n", "", "s", "S", "expected cost", "exactly")
	for _, high := range starts {
		at, err := e.At(20, high)
		if err != nil {
			return err
		}
		best, err := at.Minimize(ctx, expect.Settings{Seed: *seed, Steps: *steps, Final: 10_000, Tolerance: 0.1})
		if err != nil && !(cli.Interrupted(err) && best != nil) {
			return err
		}
		line("start", 20, high, "")
		line(fmt.Sprintf("after %d steps", best.Steps), best.At[0], best.At[1], best.Value)
		if err != nil {
			return nil
		}
	}
	s, S := search()
	line("grid", s, S, "")
	return nil
}
