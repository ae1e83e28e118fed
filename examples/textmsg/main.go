// Textmsg asks when somebody's rate of text messages changed, given the number
// of messages on 74 days. Each day has an if of its own, "is the change still to
// come?", so the density jumps at 74 places along one latent. Without the
// boundary term that latent would learn nothing from the data.
//
// The model is from Lee, Yu and Yang (NeurIPS 2018), after Davidson-Pilon. The
// paper uses the counts of every second day; this program uses all.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// switching builds the model and returns it with the guards "the change is still
// to come on day 1, 2, …".
func switching(counts []float64) (*graph.Model, []graph.Guard) {
	m := graph.NewModel()
	mean := stat.Mean(counts, nil)
	rate := graph.LogNormal(math.Log(mean)-math.Ln2/2, math.Sqrt(math.Ln2)) // its mean and sd are both mean
	before, after := m.Sample("before", rate), m.Sample("after", rate)
	change := m.Sample("change", graph.Normal(0, 1)) // a normal quantile for each day: uniform over the days

	var pending []graph.Guard
	for i, n := range counts {
		g := graph.Greater(change, distuv.UnitNormal.Quantile(float64(i+1)/float64(len(counts)+1)))
		m.Observe("messages", graph.Poisson(graph.If(g, before, after)), n)
		pending = append(pending, g)
	}
	return m, pending
}

// fitBest fits from changes all over the 74 days, and returns the fit with the
// best ELBO: a change looks good in more than one place, and a fit stays near the
// first that it finds.
func fitBest(ctx context.Context, d *graph.Density, steps int, seed uint64) (*vi.Posterior, error) {
	var best *vi.Posterior
	top := math.Inf(-1)
	for _, change := range []float64{0, -1.2, -0.8, -0.4, 0.4, 0.8, 1.2} {
		start := vi.PriorStart(d)
		sd := start.Scale(nil)
		i, _ := d.Latent("change")
		start.Mu[i], sd[i] = change, 0.1 // narrow: it stays there until the rates fit
		start = vi.NewMeanField(start.Mu, sd)
		fit, stopped := vi.Fit(ctx, d, vi.Settings{Start: &start, Steps: steps, Seed: seed})
		if fit == nil {
			return nil, stopped
		}
		elbo, err := fit.ELBO(10000, 0)
		if err != nil {
			return nil, err
		}
		if elbo.Mean > top {
			best, top = fit, elbo.Mean
		}
		if stopped != nil {
			return best, stopped
		}
	}
	return best, nil
}

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, out, _ io.Writer) error {
	flags := cli.New("textmsg")
	steps, seed := flags.Steps(10000, "steps of the fit"), flags.Seed()
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	m, pending := switching(counts)
	density, err := m.Compile()
	if err != nil {
		return err
	}
	fit, err := fitBest(ctx, density, *steps, *seed)
	if err != nil && !cli.Interrupted(err) {
		return err
	}
	return report(out, fit, pending)
}

func report(out io.Writer, fit *vi.Posterior, pending []graph.Guard) error {
	fmt.Fprintln(out, "change after day  probability")
	last, top, when := 1.0, 0.0, 0
	for i, g := range append(pending, graph.Guard{}) { // the last holds never
		p, err := fit.Prob(g)
		if err != nil {
			return err
		}
		if last-p > top {
			top, when = last-p, i
		}
		if last-p >= 0.005 {
			fmt.Fprintf(out, "%16d  %5.3f  %s\n", i, last-p, strings.Repeat("█", int(60*(last-p)+0.5)))
		}
		last = p
	}
	fmt.Fprintln(out, "\nmessages a day    mean  95% between")
	for _, name := range []string{"before", "after"} {
		mean, err1 := fit.Mean(name)
		lo, err2 := fit.Quantile(name, 0.025)
		hi, err3 := fit.Quantile(name, 0.975)
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		fmt.Fprintf(out, "%-14s  %6.2f  %.2f and %.2f\n", name, mean, lo, hi)
	}
	elbo, err := fit.ELBO(10000, 0)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nThe rate changed most likely after day %d, with probability %.2f; after %d steps; ELBO %v.\n",
		when, top, fit.Steps, elbo)
	return nil
}
