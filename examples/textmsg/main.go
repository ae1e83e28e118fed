// Textmsg asks when somebody's rate of text messages changed, given the number
// of messages on 74 days. Each day has an if of its own, "is the change still to
// come?", so the density jumps at 74 places along one latent. Between two of them
// the posterior is smooth: each day is an explanation of its own.
//
//	x0, x1  ~ Normal                                logarithms of the rates
//	z       ~ Normal(0, 1)                          when, as a number that orders the days
//	count_d ~ Poisson(exp(x0)) if z > z_d, else Poisson(exp(x1))
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

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/answer"
	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/examples/picture"
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
	return m
}

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, out, _ io.Writer) error {
	flags := cli.New("textmsg")
	seed := flags.Seed()
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	density, err := switching(counts).Compile()
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
	d, err1 := answer.Draws(fit, 10000, 0)
	pending, err2 := fit.Probs(fit.Density.Named("pending"))
	if err := errors.Join(err1, err2, answer.Verdict(out, fit)); err != nil {
		return err
	}
	fmt.Fprintln(out, "change after day  probability")
	last, top, when := 1.0, 0.0, 0
	for i, next := range append(pending, vi.Estimate{}) { // after the last day
		p := last - next.Value
		if p > top {
			top, when = p, i
		}
		if p >= 0.005 {
			fmt.Fprintf(out, "%16d  %5.3f  %s\n", i, p, answer.Bar(p))
		}
		last = next.Value
	}

	growth := make([]float64, len(d["after"]))
	floats.DivTo(growth, d["after"], d["before"])
	fmt.Fprintln(out, "\n                   mean   90 % between")
	for _, row := range []struct {
		text  string
		draws []float64
	}{{"messages before", d["before"]}, {"messages after", d["after"]}, {"after / before", growth}} {
		mean, low, high := picture.Interval(row.draws)
		fmt.Fprintf(out, "%-15s  %6.2f   %.2f and %.2f\n", row.text, mean, low, high)
	}
	_, low, high := picture.Interval(growth)
	fmt.Fprintf(out, "\nThe rate changed most likely after day %d, with probability %.2f; it grew by %.0f to %.0f %%, with probability 0.9.\n",
		when, top, 100*(low-1), 100*(high-1))
	return nil
}
