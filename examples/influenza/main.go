// Influenza asks which months of a year had an epidemic: monthly mortality
// follows a low, autoregressive level (type 1), and in other months an excess
// above it (type 2). Which type a month has is a latent that the program
// branches on twice, for the mean of its mortality and for the next month's
// type.
//
// The model is from Shumway and Stoffer, Time Series Analysis and Its
// Applications, as Lee, Yu and Yang (NeurIPS 2018) use it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// year builds the model and returns it with the guards "month k+1 is of type 1".
func year(mortality []float64) (*graph.Model, []graph.Guard) {
	m := graph.NewModel()
	f := m.Sample("f0", graph.Normal(0, 1))
	var level, last, excess graph.Expr // 0 at first
	var type1 []graph.Guard
	for k, x := range mortality {
		v := m.Sample(fmt.Sprintf("v%d", k+1), graph.Normal(0, 0.023))
		w := m.Sample(fmt.Sprintf("w%d", k+1), graph.Normal(0, 0.112))
		level, last = graph.Sum(graph.Mul(1.406, level), graph.Mul(-0.622, last), v), level
		excess = graph.Add(graph.Sub(0.21, graph.Mul(0.312, excess)), w)

		f = m.Sample(fmt.Sprintf("f%d", k+1), graph.Normal(graph.If(graph.Greater(f, 0), 0.67, -0.67), 1))
		low := graph.Greater(f, 0)
		type1 = append(type1, low)
		mean := graph.If(low, level, graph.Add(level, excess))
		m.Observe("mortality", graph.Normal(mean, 0.002), x)
	}
	return m, type1
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	flags := flag.NewFlagSet("influenza", flag.ContinueOnError)
	flags.SetOutput(errOut)
	steps := flags.Int("steps", 20000, "steps of the fit")
	seed := flags.Uint64("seed", 1, "seed of the fit")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *steps < 1 {
		fmt.Fprintf(errOut, "influenza: -steps %d: must be at least 1\n", *steps)
		return 2
	}

	m, type1 := year(mortality)
	density, err := m.Compile()
	if err != nil {
		fmt.Fprintln(errOut, err)
		return 1
	}
	fit, err := vi.Fit(ctx, density, vi.Settings{Steps: *steps, Seed: *seed})
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(errOut, err)
		return 1
	}
	if err := report(out, fit, type1); err != nil {
		fmt.Fprintln(errOut, err)
		return 1
	}
	return 0
}

func report(out io.Writer, fit *vi.Posterior, type1 []graph.Guard) error {
	months := strings.Fields("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec")
	fmt.Fprintln(out, "month  mortality  P(type 1)  type")
	var found []string
	for k, low := range type1 {
		p, err := fit.Prob(low)
		if err != nil {
			return err
		}
		kind := "2 (excess)"
		if p > 0.5 {
			kind = "1"
			found = append(found, months[k])
		}
		fmt.Fprintf(out, "%-5s  %9.3f  %9.3f  %s\n", months[k], mortality[k], p, kind)
	}
	elbo, err := fit.ELBO(10000, 0)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nMonths of type 1: %s; ELBO %v after %d steps.\n", strings.Join(found, ", "), elbo, fit.Steps)
	fmt.Fprintln(out, "A mean-field fit finds one explanation of the data and is surer of it than it should be.")
	return nil
}
