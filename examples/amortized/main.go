// Amortized trains a network of Gorgonia that reads a series of 20 counts and answers with the posterior of a change of their rate:
//
//	change        ~ Uniform(0, 20)
//	before, after ~ Exponential(0.1)
//	count_t       ~ Poisson(before if t + ½ < change, else after)
//
//	counts ─▶ network ─▶ (μ, log s) of change, before and after ─▶ ELBO of the series, by the program
//
// In each step it reads series that are drawn from the program itself, no two alike, and climbs the mean ELBO. The gradient goes through
// the program's ifs: without that, as automatic differentiation would have it, the network unlearns what it can guess of the change.
package main

import (
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
	"github.com/facetvi/facet/vi/family"
)

const length, batch, rate = 20, 128, 0.1 // rate is that of the exponential priors

// train has the network climb the mean ELBO of series that are drawn.
func (n network) train(rows *expect.Rows, steps int, seed uint64, progress io.Writer) error {
	g := gorgonia.NewGraph()
	x, series := make([]float64, batch*inputs), make([]float64, batch*length) // of each step
	in, data := node(g, "in", matrix(batch, inputs, x)), node(g, "data", matrix(batch, length, series))
	theta, weights := n.graph(in)
	elbo, err := layer.Of(rows).Apply(theta, nil, data)
	if err != nil {
		return err
	}
	cost := gorgonia.Must(gorgonia.Neg(gorgonia.Must(gorgonia.Mean(elbo))))
	if _, err := gorgonia.Grad(cost, weights...); err != nil {
		return err
	}
	machine := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(weights...))
	defer machine.Close()
	rng := rand.New(rand.NewPCG(seed, 2))
	var solver *gorgonia.AdamSolver
	for step := range steps {
		if phase := 1 + steps/8; step%phase == 0 { // a smaller step size
			solver = gorgonia.NewAdamSolver(gorgonia.WithLearnRate(3e-3*math.Pow(0.55, float64(step/phase))), gorgonia.WithClip(5))
		}
		for b := range batch {
			_, _, _, counts := draw(rng)
			copy(series[b*length:], counts)
			read(x[b*inputs:][:inputs], counts, 0)
		}
		if err := machine.RunAll(); err != nil {
			return err
		}
		if step%500 == 499 {
			fmt.Fprintf(progress, "step %d: mean ELBO %.3f\n", step+1, -cost.Value().Data().(float64))
		}
		if err := solver.Step(gorgonia.NodesToValueGrads(weights)); err != nil {
			return err
		}
		machine.Reset()
	}
	return nil
}

func run(out, progress io.Writer, seed uint64, steps, count int) error {
	d, err := program()
	if err != nil {
		return err
	}
	q, err := family.MeanField{}.New(d) // the normals that the network answers with
	if err != nil {
		return err
	}
	rows, err := expect.NewRows(d, q, 4, seed)
	if err != nil {
		return err
	}
	n := newNetwork(64, rand.New(rand.NewPCG(seed, 1)))
	if err := n.train(rows, steps, seed, progress); err != nil {
		return err
	}
	judge, err := expect.NewRows(d, q, 2000, seed) // of what the network answers to its guesses
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Each line is a new series: the true value, and the range in which the network puts it with probability 0.9.\n\n%-22s %-22s %s\n", "change", "rate before", "rate after")
	for rng := rand.New(rand.NewPCG(seed, 3)); count > 0; count-- {
		change, before, after, counts := draw(rng)
		theta, err := n.answer(judge, counts)
		if err != nil {
			return err
		}
		is := func(k int, of func(z float64) float64) string { // between two quantiles of normal k
			mu, s := theta[2*k], math.Exp(theta[2*k+1])
			return fmt.Sprintf("%.1f to %.1f", of(mu-1.645*s), of(mu+1.645*s))
		}
		logistic := func(z float64) float64 { return length / (1 + math.Exp(-z)) }
		fmt.Fprintf(out, "%4.1f: %-16s %4.1f: %-16s %4.1f: %s\n", change, is(0, logistic), before, is(1, math.Exp), after, is(2, math.Exp))
	}
	return nil
}

func main() {
	seed, steps, count := flag.Uint64("seed", 1, "of random numbers"), flag.Int("steps", 6000, "of the training"), flag.Int("series", 10, "new ones")
	flag.Parse()
	if err := run(os.Stdout, os.Stderr, *seed, *steps, *count); err != nil {
		log.Fatal(err)
	}
}
