// Coalmining asks when disasters in British coal mines became rarer, and goes all the way from the data to a decision.
// Each year has an if of its own, "is the change still to come?", so the density jumps at 111 places along one latent:
//
//	change        ~ Uniform(1851, 1962)
//	before, after ~ Exponential(1/2)           disasters a year
//	count_y       ~ Poisson(before) if y < change, else Poisson(after)
//
// The rates can be integrated out by hand, so that the exact answer is known: a change at 1890.44 ± 2.45, a log evidence
// of −176.888 (main_test.go compares).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/report"
)

const first = 1851 // the year of disasters[0]

// Explosions that killed ten or more people, in each year from 1851 to 1962. Source: R. G. Jarrett, A note on the intervals
// between coal-mining disasters, Biometrika 66 (1979), 191–193.
var disasters = []float64{
	4, 5, 4, 1, 0, 4, 3, 4, 0, 6, 3, 3, 4, 0, 2, 6, 3, 3, 5, 4, 5, 3, 1, 4, 4, 1, 5, 5, 3, 4, 2, 5, 2, 2, 3, 4, 2, 1,
	3, 2, 2, 1, 1, 1, 1, 3, 0, 0, 1, 0, 1, 1, 0, 0, 3, 1, 0, 3, 2, 2, 0, 1, 1, 1, 0, 1, 0, 1, 0, 0, 0, 2, 1, 0, 0, 0,
	1, 1, 0, 2, 3, 3, 1, 1, 2, 1, 1, 1, 1, 2, 3, 3, 0, 0, 0, 1, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1,
}

func program() *graph.Model {
	m := graph.NewModel()
	change := m.Sample("change", graph.Uniform(first, first+len(disasters)-1))
	before := m.Sample("before", graph.Exponential(0.5))
	after := m.Sample("after", graph.Exponential(0.5))
	for i, n := range disasters {
		old := m.Name("old", graph.Less(first+i, change)) // the density jumps here
		rate := m.Deterministic("rate", graph.If(old, before, after))
		m.Observe("disasters", graph.Poisson(rate), n)
	}
	m.Deterministic("left", graph.Div(after, before))
	return m
}

// run fits and prints; simulated is how many fits of simulated data are to show whether fits are right.
func run(out io.Writer, seed uint64, simulated int, page string) error {
	density, err := program().Compile()
	if err != nil {
		return err
	}
	settings := vi.Settings{Seed: seed}
	fit, err := vi.Fit(context.Background(), density, settings)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, fit.Summary())
	if err := decide(out, fit); err != nil {
		return err
	}
	if simulated > 0 {
		right, err := vi.Calibrate(context.Background(), density, vi.Calibrating{Fits: simulated, Fit: settings})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%v\n", right)
	}
	if page == "" {
		return nil
	}
	return report.Save(page, fit, report.Options{Title: "Disasters in British coal mines", From: first})
}

// decide prints what follows for somebody who plans for the years to come.
func decide(out io.Writer, fit *vi.Posterior) error {
	predicted, err := fit.Predict(10000, fit.Settings.Seed)
	if err != nil {
		return err
	}
	low, err1 := predicted.Quantile("left", 0.05)
	half, err2 := predicted.Quantile("left", 0.5)
	high, err3 := predicted.Quantile("left", 0.95)
	ready, err4 := predicted.Quantile("disasters", 0.98) // of each year; the last one is like those to come
	old, err5 := fit.Probs(fit.Density.Named("old"))
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return err
	}
	over := slices.IndexFunc(old, func(p vi.Estimate) bool { return p.Value < 0.01 })
	fmt.Fprintf(out, "Disasters fell to %.0f %% of what they were (90 %% between %.0f and %.0f %%).\n", 100*half[0], 100*low[0], 100*high[0])
	fmt.Fprintf(out, "Judge the risk by the years from %d on: by then the old rate was over with probability %.2f.\n", first+over, 1-old[over].Value)
	fmt.Fprintf(out, "Be ready for %.0f disasters a year: there are more in fewer than 2 years of 100.\n", ready[len(ready)-1])
	return nil
}

func main() {
	seed := flag.Uint64("seed", 1, "of random numbers")
	simulated := flag.Int("calibrate", 0, "`fits` of data that are drawn from the program, to see whether fits are right")
	page := flag.String("html", "", "`file` for a report")
	flag.Parse()
	if err := run(os.Stdout, *seed, *simulated, *page); err != nil {
		log.Fatal(err)
	}
}
