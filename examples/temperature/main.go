// Temperature asks in which state an air conditioner was: a room is measured
// with noise at every step, and the controller, which nobody sees, switches on
// above 22 degrees and off below 18. The program branches on the temperature
// and on the controller's own noise, so its density jumps; without the boundary
// term the fit would be wrong.
//
// The model is from Lee, Yu and Yang (NeurIPS 2018), after Soudjani, Majumdar
// and Nagapetyan (QEST 2017).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/examples/restarts"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// room builds the model. Its guards "on" say that the controller is on in step 1,
// 2, ….
func room(obs []float64) *graph.Model {
	m := graph.NewModel()
	theta := m.Sample("theta0", graph.Normal(20, 0.001))
	m.Observe("measured", graph.Normal(theta, 1), obs[0])

	var q graph.Expr // the controller's state, off at first
	for i := 1; i < len(obs); i++ {
		next := graph.If(graph.Less(theta, 18), 0, graph.If(graph.Greater(theta, 22), 1, q))
		noise := m.Sample(fmt.Sprintf("noise%d", i), graph.Normal(next, 0.001))
		on := m.Name("on", graph.Greater(noise, 0.5))
		q = graph.If(on, 1, 0)
		scale := graph.If(on, 0.22, 0.2)

		change := graph.Div(graph.Sub(32, graph.Add(theta, graph.Mul(21, q))), 15)
		theta = m.Sample(fmt.Sprintf("theta%d", i), graph.Normal(graph.Add(theta, change), graph.Mul(2, scale)))
		m.Observe("measured", graph.Normal(theta, 1), obs[i])
	}
	return m
}

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, out, _ io.Writer) error {
	flags := cli.New("temperature")
	steps, seed := flags.Steps(5000, "steps of each of ten fits"), flags.Seed()
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	density, err := room(observed).Compile()
	if err != nil {
		return err
	}
	// The controller can have switched a step earlier or later, and a fit keeps to
	// one history: ten fits find the others.
	fit, err := vi.Fit(ctx, density, vi.Settings{Restarts: 10, Steps: *steps, Seed: *seed})
	if err != nil && !cli.Interrupted(err) {
		return err
	}
	return report(out, fit)
}

func report(out io.Writer, fit *vi.Posterior) error {
	on := fit.Density.Named("on")
	histories := restarts.Of(fit)
	path, err1 := fit.MostProbablePath(on, 10000, 0)
	rare, err2 := fit.RareSides(10000, 0)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	room := restarts.Draws(histories, 10000, 0)
	fmt.Fprintln(out, "step  measured  room (mean ± sd)  P(on)  most probable  truth")
	right := 0
	for i := range observed {
		p, running := 0.0, false // off before the first step
		if i > 0 {
			var err error
			if p, err = restarts.Prob(histories, on[i-1]); err != nil {
				return err
			}
			running = path.Holds[i-1]
		}
		mark := "  ←"
		if running == truth[i] {
			right++
			mark = ""
		}
		mean, sd := stat.MeanStdDev(room[fmt.Sprintf("theta%d", i)], nil)
		fmt.Fprintf(out, "%4d  %8.2f  %10.2f ± %4.2f  %5.3f  %-13s  %s%s\n",
			i, observed[i], mean, sd, p, word(running), word(truth[i]), mark)
	}
	fmt.Fprintf(out, "\nOf %d histories, the most probable has weight %.2f, and %d of %d states as they were; after %d steps.\n",
		len(histories), histories[0].Weight, right, len(observed), fit.Steps)
	fmt.Fprintf(out, "Its ELBO is %v. With the rare sides of guards, where a noise costs 125 000 nats, it is %v.\n", rare.Plain, rare.Corrected)
	return nil
}

func word(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
