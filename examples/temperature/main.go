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
	"fmt"
	"io"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// room builds the model and returns it with the guards "the controller is on".
func room(obs []float64) (*graph.Model, []graph.Guard) {
	m := graph.NewModel()
	theta := m.Sample("theta0", graph.Normal(20, 0.001))
	m.Observe("measured", graph.Normal(theta, 1), obs[0])

	var q graph.Expr // the controller's state, off at first
	var on []graph.Guard
	for i := 1; i < len(obs); i++ {
		next := graph.If(graph.Less(theta, 18), 0, graph.If(graph.Greater(theta, 22), 1, q))
		noise := m.Sample(fmt.Sprintf("noise%d", i), graph.Normal(next, 0.001))
		running := graph.Greater(noise, 0.5)
		on = append(on, running)
		q = graph.If(running, 1, 0)
		scale := graph.If(running, 0.22, 0.2)

		change := graph.Div(graph.Sub(32, graph.Add(theta, graph.Mul(21, q))), 15)
		theta = m.Sample(fmt.Sprintf("theta%d", i), graph.Normal(graph.Add(theta, change), graph.Mul(2, scale)))
		m.Observe("measured", graph.Normal(theta, 1), obs[i])
	}
	return m, on
}

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, out, _ io.Writer) error {
	flags := cli.New("temperature")
	steps, seed := flags.Steps(10000, "steps of the fit"), flags.Seed()
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	m, on := room(observed)
	density, err := m.Compile()
	if err != nil {
		return err
	}
	fit, err := vi.Fit(ctx, density, vi.Settings{Steps: *steps, Seed: *seed})
	if err != nil && !cli.Interrupted(err) {
		return err
	}
	return report(out, fit, on)
}

func report(out io.Writer, fit *vi.Posterior, on []graph.Guard) error {
	fmt.Fprintln(out, "step  measured  room (mean ± sd)  P(on)  state  truth")
	right := 0
	for i := range observed {
		name := fmt.Sprintf("theta%d", i)
		mean, err := fit.Mean(name)
		if err != nil {
			return err
		}
		sd, err := fit.SD(name)
		if err != nil {
			return err
		}
		p := 0.0 // off before the first step
		if i > 0 {
			if p, err = fit.Prob(on[i-1]); err != nil {
				return err
			}
		}
		state := 0.0
		if p > 0.5 {
			state = 1
		}
		mark := ""
		if state == truth[i] {
			right++
		} else {
			mark = "  ←"
		}
		fmt.Fprintf(out, "%4d  %8.2f  %10.2f ± %4.2f  %5.3f  %-5s  %-5s%s\n",
			i, observed[i], mean, sd, p, word(state), word(truth[i]), mark)
	}
	elbo, err := fit.ELBO(10000, 0)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d of %d states as they were, after %d steps; ELBO %v.\n", right, len(observed), fit.Steps, elbo)
	fmt.Fprintln(out, "The ELBO has rare heavy tails: a noise on the wrong side of its guard costs 125 000 nats.")
	return nil
}

func word(state float64) string {
	if state == 1 {
		return "on"
	}
	return "off"
}
