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
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"time"

	"gorgonia.org/gorgonia"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/expect/layer"
	"github.com/facetvi/facet/graph"
)

const length, batch, rate = 20, 128, 0.1 // rate is that of the exponential priors

// program is the model, without data.
func program() (*graph.Density, error) {
	m := graph.NewModel()
	change := m.Sample("change", graph.Uniform(0, length))
	before, after := m.Sample("before", graph.Exponential(rate)), m.Sample("after", graph.Exponential(rate))
	for t := range length {
		m.Observe("count", graph.Poisson(graph.If(graph.Less(float64(t)+0.5, change), before, after)), 0)
	}
	return m.Compile()
}

// train has the network climb the mean ELBO of series that are drawn.
func (n network) train(ctx context.Context, rows *expect.Rows, steps int, seed uint64, progress io.Writer) error {
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
		if err := ctx.Err(); err != nil {
			return err
		}
		if phase := 1 + steps/8; step%phase == 0 { // a smaller step size
			solver = gorgonia.NewAdamSolver(gorgonia.WithLearnRate(3e-3*math.Pow(0.55, float64(step/phase))), gorgonia.WithClip(5))
		}
		for b := range batch {
			counts := draw(rng)
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

func run(ctx context.Context, out, progress io.Writer, seed uint64, steps, count int) error {
	d, err := program()
	if err != nil {
		return err
	}
	q, err := normals(d)
	if err != nil {
		return err
	}
	rows, err := expect.NewRows(d, q, 4, seed)
	if err != nil {
		return err
	}
	n := newNetwork(64, rand.New(rand.NewPCG(seed, 1)))
	start := time.Now()
	if err := n.train(ctx, rows, steps, seed, progress); err != nil {
		return err
	}
	fmt.Fprintf(out, "%-26s trained by %d steps of %d series in %.1f s\n", "network, through the ifs:", steps, batch, time.Since(start).Seconds())
	return besides(ctx, out, progress, d, q, n, seed, steps, count)
}

func main() {
	seed, steps, count := flag.Uint64("seed", 1, "of random numbers"), flag.Int("steps", 6000, "of the training"), flag.Int("series", 50, "new ones")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Stderr, *seed, *steps, *count); err != nil {
		log.Fatal(err)
	}
}
