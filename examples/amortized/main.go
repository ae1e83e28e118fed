// Amortized trains a network of Gorgonia that reads a series of 20 counts and answers with the posterior of a change of their rate:
//
//	change        ~ Uniform(0, 20)
//	before, after ~ Exponential(0.1)
//	count_t       ~ Poisson(before if t + ½ < change, else after)
//
//	counts ─▶ network ─▶ (μ, log s) of change, before and after ─▶ ELBO of the series, by the program
//
// In each step it reads series that are drawn from the program itself, no two alike, and climbs the mean ELBO. The gradient goes
// through the program's ifs, with the surface integral: of the change's posterior all is in the ifs. Without it, as
// automatic differentiation would have it, the same network learns little of the change.
//
// Afterwards new series are given to the network, and each to a fit of its own, of the same family. The exact mean of the change is known as well, for
// the rates can be integrated out. Where two changes are about as likely the one normal is at one of them, and network and fit
// may choose differently.
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/expect/layer"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
)

const (
	length = 20
	batch  = 128
	rate   = 0.1 // of the exponential prior
)

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

// draw draws a series.
func draw(rng *rand.Rand) (counts []float64) {
	change, before, after := length*rng.Float64(), rng.ExpFloat64()/rate, rng.ExpFloat64()/rate
	for t := range length {
		mean := after
		if float64(t)+0.5 < change {
			mean = before
		}
		counts = append(counts, distuv.Poisson{Lambda: mean, Src: rng}.Rand())
	}
	return counts
}

// train has the network climb the mean ELBO of series that are drawn.
func (n network) train(ctx context.Context, rows *expect.Rows, steps int, seed uint64, progress io.Writer) error {
	g := gorgonia.NewGraph()
	in := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithName("in"), gorgonia.WithShape(batch, features))
	data := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithName("data"), gorgonia.WithShape(batch, length))
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
	inputs, series := make([]float64, batch*features), make([]float64, batch*length)
	mean := 0.0
	var solver *gorgonia.AdamSolver
	for step := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if step%(1+steps/8) == 0 { // a smaller step size
			size := 3e-3 * math.Pow(0.55, float64(step/(1+steps/8)))
			solver = gorgonia.NewAdamSolver(gorgonia.WithLearnRate(size), gorgonia.WithClip(5))
		}
		fill(inputs, series, rng)
		if err := gorgonia.Let(in, tensor.New(tensor.WithShape(batch, features), tensor.WithBacking(inputs))); err != nil {
			return err
		}
		if err := gorgonia.Let(data, tensor.New(tensor.WithShape(batch, length), tensor.WithBacking(series))); err != nil {
			return err
		}
		if err := machine.RunAll(); err != nil {
			return err
		}
		mean += 0.01 * (-cost.Value().Data().(float64) - mean)
		if step%500 == 499 {
			fmt.Fprintf(progress, "step %d: mean ELBO %.3f\n", step+1, mean)
		}
		if err := solver.Step(gorgonia.NodesToValueGrads(weights)); err != nil {
			return err
		}
		machine.Reset()
	}
	return nil
}

// fill draws a batch of series.
func fill(inputs, series []float64, rng *rand.Rand) {
	for b := range batch {
		counts := draw(rng)
		copy(series[b*length:], counts)
		read(inputs[b*features:][:features], counts)
	}
}

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := cli.New("amortized")
	seed, steps := flags.Seed(), flags.Steps(6000, "steps of the training")
	series := flags.Count("series", 50, 1, "new series")
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	d, err := program()
	if err != nil {
		return err
	}
	q, err := family.MeanField{}.New(d)
	if err != nil {
		return err
	}
	judge, err := expect.NewRows(d, q, 2000, *seed)
	if err != nil {
		return err
	}
	x := &examiner{d, judge, make([]float64, len(judge.Labels()))}

	var networks []network
	for _, through := range []bool{true, false} {
		rows, err := expect.NewRows(d, q, 4, *seed)
		if err != nil {
			return err
		}
		steps := *steps
		if !through {
			rows.WithoutBoundary()
			steps = (steps + 8) / 9 // it gets no better
		}
		n := newNetwork(64, len(rows.Labels()), rand.New(rand.NewPCG(*seed, 1)))
		start := time.Now()
		if err := n.train(ctx, rows, steps, *seed, progress); err != nil {
			return err
		}
		fmt.Fprintf(out, "trained %-25s %d steps of %d series in %.1f s\n", what(through)+":", steps, batch, time.Since(start).Seconds())
		networks = append(networks, n)
	}
	fmt.Fprintf(out, "\nmean of the change  exact  fit of its own  %s  %s\n", what(true), what(false))
	of, fits, err := x.compare(ctx, networks, *series, *seed, out)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nmean of %3d series          ELBO   below the fits'   means off, in sd, median: change  before  after\n", *series)
	fmt.Fprintf(out, "%-24s %8.3f\n", "fit of its own", fits)
	for k, c := range of {
		fmt.Fprintf(out, "%-24s %8.3f   %8.3f %39.2f %7.2f %6.2f\n", what(k == 0), c.elbo, c.gap, median(c.off[0]), median(c.off[1]), median(c.off[2]))
	}
	return nil
}
