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

// switching builds the model. Its guards "pending" say that the change is still to
// come on day 1, 2, ….
func switching(counts []float64) *graph.Model {
	m := graph.NewModel()
	mean := stat.Mean(counts, nil)
	rate := graph.LogNormal(math.Log(mean)-math.Ln2/2, math.Sqrt(math.Ln2)) // its mean and sd are both mean
	before, after := m.Sample("before", rate), m.Sample("after", rate)
	change := m.Sample("change", graph.Normal(0, 1)) // a normal quantile for each day: uniform over the days

	for i, n := range counts {
		day := distuv.UnitNormal.Quantile(float64(i+1) / float64(len(counts)+1))
		pending := m.Name("pending", graph.Greater(change, day))
		m.Observe("messages", graph.Poisson(graph.If(pending, before, after)), n)
	}
	m.Deterministic("growth", graph.Div(after, before))
	return m
}

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, out, _ io.Writer) error {
	flags := cli.New("textmsg")
	steps, seed := flags.Steps(10000, "steps at most: the fit stops by itself"), flags.Seed()
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	density, err := switching(counts).Compile()
	if err != nil {
		return err
	}
	// A change looks good in more than one place; the start is the best of a
	// thousand draws from the prior, all over the days.
	fit, err := vi.Fit(ctx, density, vi.Settings{Steps: *steps, Stop: vi.Automatic, Seed: *seed})
	if err != nil && !cli.Interrupted(err) {
		return err
	}
	return report(out, fit)
}

func report(out io.Writer, fit *vi.Posterior) error {
	days, err1 := fit.Summary().Of("pending")
	rates, err2 := fit.Summary().Of("before", "after")
	weighted, err3 := fit.Importance(10000, 0)
	predicted, err4 := fit.Predict(4000, 0)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	fmt.Fprintln(out, "change after day  probability")
	last, top, when := 1.0, 0.0, 0
	for i, g := range append(days.Guards, vi.GuardSummary{}) { // the last holds never
		p := last - g.Prob
		if p > top {
			top, when = p, i
		}
		if p >= 0.005 {
			fmt.Fprintf(out, "%16d  %5.3f  %s\n", i, p, strings.Repeat("█", int(60*p+0.5)))
		}
		last = g.Prob
	}
	fmt.Fprintf(out, "\nMessages a day\n%v\n", rates)
	growth, err1 := predicted.Quantile("growth", 0.025)
	upper, err2 := predicted.Quantile("growth", 0.975)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	fmt.Fprintf(out, "The rate changed most likely after day %d, with probability %.2f: it grew by %.0f to %.0f %%, with probability 0.95.\n",
		when, top, 100*(growth[0]-1), 100*(upper[0]-1))
	fmt.Fprintf(out, "After %d steps; ELBO %v; k-hat %.2f, %s.\n", fit.Steps, weighted.ELBO, weighted.K, weighted.Verdict())
	for _, w := range fit.Warnings {
		fmt.Fprintln(out, "Warning:", w)
	}
	return nil
}
