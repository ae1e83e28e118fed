// Amortized trains a network of Gorgonia that reads a series of 20 counts and answers with the posterior of a change of their rate:
//
//	change ~ Uniform(0, 20);   before, after ~ Exponential(0.1);   count_t ~ Poisson(before if t + ½ < change, else after)
//
// It mends guesses of changes in series that are drawn from the program, and climbs the mean ELBO through the ifs: as automatic differentiation has it, it
// spoils them. For a new series it mends all guesses, and what has the largest ELBO counts. The tests compare with fits, and with what is exact.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"

	"gonum.org/v1/gonum/floats"
	"gorgonia.org/gorgonia"

	"github.com/facetvi/facet/expect/layer"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/report"
)

const length, rate, batch, hidden, guesses, outputs, inputs = 20, 0.1, 128, 96, length - 1, 6, guesses + 2*outputs // outputs, θ: three μ and log s

func program() *graph.Density {
	m := graph.NewModel()
	change := m.Sample("change", graph.Uniform(0, length))
	before, after := m.Sample("before", graph.Exponential(rate)), m.Sample("after", graph.Exponential(rate))
	for t := range length {
		m.Observe("count", graph.Poisson(graph.If(graph.Less(float64(t)+0.5, change), before, after)), 0)
	}
	return must(m.Compile())
}

// read writes what the network is given: how likely changes are around the guess, n counts before it; θ there; and how far off each may be.
func read(in, counts []float64, n int) {
	sums := floats.CumSum(make([]float64, length), counts)
	sum, rest, left := sums[n-1]+1, sums[length-1]-sums[n-1]+1, float64(length-n)
	before, after, s := sum/(float64(n)+rate), rest/(left+rate), [3]float64{min(0.5, length/(float64(n)*left)), 1 / math.Sqrt(sum), 1 / math.Sqrt(rest)}
	clear(in)
	copy(in[guesses:], []float64{math.Log(float64(n) / left), math.Log(s[0]), math.Log(before), math.Log(s[1]), math.Log(after), math.Log(s[2])})
	copy(in[guesses+outputs:], []float64{s[0], 1, s[1], 1, s[2], 1})
	for k := max(0, n-1-guesses/2); k < min(guesses, n+guesses/2); k++ { // by its log likelihood at these rates, beside the guess's
		in[k-n+1+guesses/2] = math.Exp(0.3 * min(3, (sums[k]-sums[n-1])*math.Log(before/after)-float64(k+1-n)*(before-after)))
	}
}

// run has a network learn by rows of the program, and answer to new series: it returns them, and θ for each.
func run(out io.Writer, rows *layer.Layer, seed uint64, steps, count int, html string) (series, answers []float64) {
	d, g, rng := program(), gorgonia.NewGraph(), rand.New(rand.NewPCG(seed, 1))
	in := gorgonia.NewMatrix(g, gorgonia.Float64, gorgonia.WithShape(batch, inputs), gorgonia.WithName("in"), gorgonia.WithInit(gorgonia.Zeroes()))
	data := gorgonia.NewMatrix(g, gorgonia.Float64, gorgonia.WithShape(batch, length), gorgonia.WithName("data"), gorgonia.WithInit(gorgonia.Zeroes()))
	first := gorgonia.NewMatrix(g, gorgonia.Float64, gorgonia.WithShape(inputs, hidden), gorgonia.WithName("first"), gorgonia.WithInit(gorgonia.Zeroes()))
	second := gorgonia.NewMatrix(g, gorgonia.Float64, gorgonia.WithShape(hidden, outputs), gorgonia.WithName("second"), gorgonia.WithInit(gorgonia.Zeroes()))
	x, counts, random := in.Value().Data().([]float64), data.Value().Data().([]float64), first.Value().Data().([]float64)
	for k := range random {
		random[k] = 0.2 * rng.NormFloat64()
	}
	guess, off := must(gorgonia.Slice(in, nil, gorgonia.S(guesses, guesses+outputs))), must(gorgonia.Slice(in, nil, gorgonia.S(guesses+outputs, inputs)))
	mend := must(gorgonia.Mul(must(gorgonia.Tanh(must(gorgonia.Mul(in, first)))), second)) // nothing at the start
	theta := must(gorgonia.Add(guess, must(gorgonia.HadamardProd(off, mend))))
	cost := must(gorgonia.Neg(must(gorgonia.Mean(must(rows.Apply(theta, nil, data))))))
	must(gorgonia.Grad(cost, first, second)) // through the ifs
	machine := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(first, second))
	defer machine.Close()
	for step, solver := 0, gorgonia.Solver(nil); step < steps; step++ {
		if phase := 1 + steps/8; step%phase == 0 { // a smaller step size
			solver = gorgonia.NewAdamSolver(gorgonia.WithLearnRate(3e-3*math.Pow(0.55, float64(step/phase))), gorgonia.WithClip(5))
		}
		for b := range batch {
			z, y := d.PriorDraw(nil, rng), counts[b*length:][:length]
			read(x[b*inputs:][:inputs], d.Replicate(y, z, rng), min(max(1, int(d.Coordinate(0).Value(z[0])+0.5)), guesses)) // the truth is a guess, too
		}
		must(0, machine.RunAll())
		must(0, solver.Step(gorgonia.NodesToValueGrads(gorgonia.Nodes{first, second})))
		machine.Reset()
	}
	judge, elbo, table, rng := must(layer.New(d, nil, 2000, seed)).Rows(), make([]float64, guesses), make([][]string, count), rand.New(rand.NewPCG(seed, 3))
	about, head := "New series, a line each: true values, and the ranges in which the network puts them with probability 0.9.", []string{"change", "rate before", "rate after"}
	fmt.Fprintf(out, "%s\n\n%-18s    %-18s    %s\n", about, head[0], head[1], head[2])
	for n := range table {
		z := d.PriorDraw(nil, rng)
		y := d.Replicate(nil, z, rng)
		for k := range guesses {
			read(x[k*inputs:][:inputs], counts[k*length:][:copy(counts[k*length:], y)], k+1)
		}
		must(0, machine.RunAll())
		said := theta.Value().Data().([]float64)[:guesses*outputs]
		must(0, judge.Run(0, said, counts[:guesses*length], elbo, make([]float64, len(said))))
		best := said[floats.MaxIdx(elbo)*outputs:][:outputs]
		for k := range head {
			mu, s := best[2*k], 1.645*math.Exp(best[2*k+1])
			table[n] = append(table[n], fmt.Sprintf("%4.1f: %4.1f to %4.1f", d.Coordinate(k).Value(z[k]), d.Coordinate(k).Value(mu-s), d.Coordinate(k).Value(mu+s)))
		}
		fmt.Fprintf(out, "%s    %s    %s\n", table[n][0], table[n][1], table[n][2])
		series, answers = append(series, y...), append(answers, best...)
		machine.Reset()
	}
	if html != "" {
		must(0, report.SaveTable(html, head, table, 0, report.Options{Title: "When a rate changed, as a network says", About: about}))
	}
	return series, answers
}

func must[T any](x T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return x
}

func main() {
	seed, steps, count := flag.Uint64("seed", 1, "of random numbers"), flag.Int("steps", 6000, "of the training"), flag.Int("series", 10, "new ones")
	html := flag.String("html", "", "`file` for a page with the table")
	flag.Parse()
	run(os.Stdout, must(layer.New(program(), nil, 4, *seed)), *seed, *steps, *count, *html)
}
