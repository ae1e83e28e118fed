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
// When the controller switched the data do not say to the step: there are about a hundred histories that
// matter. By an exact recursion over them the log evidence is −33.124, and step 4, where the likeliest history is
// wrong, was on with probability 0.42 (main_test.go compares all steps).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/report"
)

// observed is the temperature measured at each step, in degrees, with a standard error of 1; simulated by the authors of the paper.
var observed = []float64{
	19.79331573, 20.57447278, 23.31816694, 21.73207498, 23.41996894, 23.4515013, 20.84956871, 20.54713719,
	18.21153934, 18.50530516, 16.33716313, 16.38185473, 19.40493106, 19.04258462, 20.64644047, 22.02147489,
	21.76727522, 22.59452467, 20.43773811, 21.47855764, 18.51373311,
}

// truth is whether the controller was on at each step of the simulation.
var truth = []bool{4: true, true, true, true, true, true, true, 17: true, true, true, true}

// program has guards "on" that say that the controller is on in step 1, 2, ….
func program() *graph.Model {
	m := graph.NewModel()
	theta := m.Sample("theta0", graph.Normal(20, 0.001))
	m.Observe("measured", graph.Normal(theta, 1), observed[0])

	var q graph.Expr // the controller's state, off at first
	for i := 1; i < len(observed); i++ {
		next := graph.If(graph.Less(theta, 18), 0, graph.If(graph.Greater(theta, 22), 1, q))
		noise := m.Sample(fmt.Sprintf("noise%d", i), graph.Normal(next, 0.001))
		on := m.Name("on", graph.Greater(noise, 0.5))
		q = graph.If(on, 1, 0)
		scale := graph.If(on, 0.22, 0.2)

		change := graph.Div(graph.Sub(32, graph.Add(theta, graph.Mul(21, q))), 15)
		theta = m.Sample(fmt.Sprintf("theta%d", i), graph.Normal(graph.Add(theta, change), graph.Mul(2, scale)))
		m.Observe("measured", graph.Normal(theta, 1), observed[i])
	}
	return m
}

func run(out io.Writer, seed uint64, page string) error {
	density, err := program().Compile()
	if err != nil {
		return err
	}
	fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: seed})
	if err != nil {
		return err
	}
	on := density.Named("on")
	probs, err1 := fit.Probs(on)
	path, err2 := fit.MostProbablePath(on)
	verdict, err3 := fit.Verdict()
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	fmt.Fprintf(out, "verdict: %v\n\nstep  measured  room (mean ± sd)  P(on)  most probable  truth\n", verdict)
	word := map[bool]string{true: "on", false: "off"}
	right := 0
	for i, p := range probs {
		step, mark := i+1, "  ←"
		if path.Holds[i] == truth[step] {
			right++
			mark = ""
		}
		mean, err1 := fit.Mean(fmt.Sprint("theta", step))
		sd, err2 := fit.SD(fmt.Sprint("theta", step))
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		fmt.Fprintf(out, "%4d  %8.2f  %10.2f ± %4.2f  %5.3f  %-13s  %s%s\n", step, observed[step], mean.Value, sd.Value, p.Value, word[path.Holds[i]], word[truth[step]], mark)
	}
	fmt.Fprintf(out, "\nThe most probable of %d histories has probability %.2f, and %d of %d states as they were (← has the others).\n", len(fit.Cells()), path.Prob.Value, right, len(probs))
	if page == "" {
		return nil
	}
	return report.Save(page, fit, report.Options{Title: "A room and its controller"})
}

func main() {
	seed := flag.Uint64("seed", 1, "of random numbers")
	page := flag.String("html", "", "`file` for a report")
	flag.Parse()
	if err := run(os.Stdout, *seed, *page); err != nil {
		log.Fatal(err)
	}
}
