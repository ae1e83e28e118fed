// Temperature asks in which state an air conditioner was: a room is measured
// with noise at every step, and the controller, which nobody sees, switches on
// above 22 degrees and off below 18. The program branches on the temperature
// and on the controller's own noise, so its density jumps.
//
//	on_t    = noise_t > 1/2,   noise_t ~ Normal(0 below 18°, 1 above 22°, else on_{t−1}; 0.001)
//	theta_t ~ Normal(theta_{t−1} + (32 − theta_{t−1} − 21·on_t)/15, 0.44 if on_t, else 0.4)
//	obs_t   ~ Normal(theta_t, 1)
//
// The model is from Lee, Yu and Yang (NeurIPS 2018), after Soudjani, Majumdar
// and Nagapetyan (QEST 2017).
//
// When the controller switched the data do not say to the step: a switch a step
// earlier or later is an explanation of its own, and there are about a hundred that
// matter. The exact posterior, by a recursion over the controller's histories, has
// a log evidence of −33.124 and says of step 4, where the likeliest history is
// wrong, that it was on with probability 0.42 (main_test.go compares all steps).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/facetvi/facet/examples/answer"
	"github.com/facetvi/facet/examples/cli"
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
	seed := flags.Seed()
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	density, err := room(observed).Compile()
	if err != nil {
		return err
	}
	fit, err := vi.Fit(ctx, density, vi.Settings{Seed: *seed})
	if err != nil {
		return err
	}
	return report(out, fit)
}

func report(out io.Writer, fit *vi.Posterior) error {
	on := fit.Density.Named("on")
	probs, err1 := fit.Probs(on)
	path, err2 := fit.MostProbablePath(on)
	if err := errors.Join(answer.Verdict(out, fit), err1, err2); err != nil {
		return err
	}
	answer.Cells(out, fit, 8)
	fmt.Fprintln(out, "\nstep  measured  room (mean ± sd)  P(on)  most probable  truth")
	probs, holds := slices.Insert(probs, 0, vi.Estimate{}), slices.Insert(path.Holds, 0, false) // off before the first step
	word := map[bool]string{true: "on", false: "off"}
	right, certain := 0, 0
	for i, p := range probs {
		mark := "  ←"
		if holds[i] == truth[i] {
			right++
			mark = ""
		}
		if max(p.Value, 1-p.Value) > 0.95 {
			certain++
		}
		room := fmt.Sprint("theta", i)
		mean, err1 := fit.Mean(room)
		sd, err2 := fit.SD(room)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		fmt.Fprintf(out, "%4d  %8.2f  %10.2f ± %4.2f  %5.3f  %-13s  %s%s\n",
			i, observed[i], mean.Value, sd.Value, p.Value, word[holds[i]], word[truth[i]], mark)
	}
	fmt.Fprintf(out, "\nOf %d histories, the most probable has probability %.2f, and %d of %d states as they were.\n",
		len(fit.Cells()), path.Prob.Value, right, len(observed))
	fmt.Fprintf(out, "Rely on the %d states that are sure to 0.95.\n", certain)
	return nil
}
