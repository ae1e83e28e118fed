// Textmsg asks when the rate of text messages that one person received changed:
// the counts are Poisson with one rate before a day and another after it. The
// day is a latent that the program branches on, on every day of the data, so
// the density has 74 jumps.
//
// The model is from Davidson-Pilon, Bayesian Methods for Hackers, chapter 1, as
// Lee, Yu and Yang (NeurIPS 2018) use it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// messages builds the model and returns it with the guards "day k+1 is before
// the change".
func messages(counts []float64) (*graph.Model, []graph.Guard) {
	m := graph.NewModel()
	// Both rates are log-normal with the data's mean, and as wide as that.
	mean := math.Log(stat.Mean(counts, nil)) - math.Ln2/2
	first := m.Sample("rate before", graph.LogNormal(mean, math.Sqrt(math.Ln2)))
	second := m.Sample("rate after", graph.LogNormal(mean, math.Sqrt(math.Ln2)))
	u := m.Sample("u", graph.Normal(0, 1)) // Φ(u) is when the change came, uniform in (0, 1)

	var before []graph.Guard
	for k, n := range counts {
		day := float64(k+1) / float64(len(counts)+1)
		early := graph.Greater(u, distuv.UnitNormal.Quantile(day))
		before = append(before, early)
		m.Observe("messages", graph.Poisson(graph.If(early, first, second)), n)
	}
	return m, before
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	flags := flag.NewFlagSet("textmsg", flag.ContinueOnError)
	flags.SetOutput(errOut)
	steps := flags.Int("steps", 10000, "steps of the fit")
	seed := flags.Uint64("seed", 1, "seed of the fit")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *steps < 1 {
		fmt.Fprintf(errOut, "textmsg: -steps %d: must be at least 1\n", *steps)
		return 2
	}

	m, before := messages(counts)
	density, err := m.Compile()
	if err != nil {
		fmt.Fprintln(errOut, err)
		return 1
	}
	fit, err := fitBest(ctx, density, *steps, *seed)
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(errOut, err)
		return 1
	}
	if err := report(out, fit, before); err != nil {
		fmt.Fprintln(errOut, err)
		return 1
	}
	return 0
}

// fitBest fits from starts all over the prior, and goes on with the best: a
// rate that never changes is a local optimum of this model.
func fitBest(ctx context.Context, density *graph.Density, steps int, seed uint64) (*vi.Posterior, error) {
	const starts = 10
	rng := rand.New(rand.NewPCG(seed, 0))
	var best *vi.Posterior
	bestELBO := math.Inf(-1)
	for range starts {
		start := vi.PriorStart(density)
		sd := start.Scale(nil)
		for i := range start.Mu {
			start.Mu[i] += sd[i] * rng.NormFloat64()
			sd[i] *= 0.3
		}
		start = vi.NewMeanField(start.Mu, sd)
		fit, err := vi.Fit(ctx, density, vi.Settings{Start: &start, Steps: max(1, steps/starts), Seed: seed})
		if err != nil {
			return fit, err
		}
		elbo, err := fit.ELBO(1000, seed)
		if err != nil {
			return fit, err
		}
		if best == nil || elbo.Mean > bestELBO {
			best, bestELBO = fit, elbo.Mean
		}
	}
	return vi.Fit(ctx, density, vi.Settings{Start: &best.Q, Optimizer: best.Optimizer, Steps: steps, Seed: seed + 1})
}

func report(out io.Writer, fit *vi.Posterior, before []graph.Guard) error {
	for _, name := range []string{"rate before", "rate after"} {
		mean, err := fit.Mean(name)
		if err != nil {
			return err
		}
		sd, err := fit.SD(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-11s  %5.2f ± %.2f messages a day\n", name, mean, sd)
	}

	fmt.Fprintln(out, "\nlast day of the old rate")
	last := 1.0 // P(the change came after day k − 1)
	best, bestP := 0, 0.0
	for k := range counts {
		p, err := fit.Prob(before[k])
		if err != nil {
			return err
		}
		if here := last - p; here > 0.01 { // the change came between day k and day k + 1
			fmt.Fprintf(out, "day %2d  %5.3f  %s\n", k, here, strings.Repeat("█", int(60*here+0.5)))
			if here > bestP {
				best, bestP = k, here
			}
		}
		last = p
	}
	elbo, err := fit.ELBO(10000, 0)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nThe rate changed most likely after day %d (probability %.2f); ELBO %v after %d steps.\n", best, bestP, elbo, fit.Steps)
	return nil
}
