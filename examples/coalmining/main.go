// Coalmining asks when disasters in British coal mines became rarer, given
// their number in each year from 1851 to 1962. Each year has an if of its own,
// "is the change still to come?", so the density jumps at 110 places along one
// latent, the year of the change.
//
//	change        ~ Uniform(1851, 1962)
//	before, after ~ Exponential(1/2)           disasters a year
//	count_y       ~ Poisson(before) if y < change, else Poisson(after)
//
// The rates can be integrated out by hand, so that the exact answer is known: a
// change at 1890.4 ± 2.4. A mean-field fit takes the change and the rates for
// independent and is a little too sure of itself, with ± 2.0 (exact_test.go).
// It also stays near the change that it starts from when that is far off: the
// program starts from several and keeps the best.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"

	"github.com/facetvi/facet/examples/picture"
	"github.com/facetvi/facet/examples/restarts"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// mines builds the model and returns it with the guards "the change is still to
// come" in 1851, 1852, ….
func mines(counts []float64) (*graph.Model, []graph.Guard) {
	m := graph.NewModel()
	change := m.Sample("change", graph.Uniform(firstYear, firstYear+len(counts)-1))
	before := m.Sample("before", graph.Exponential(0.5))
	after := m.Sample("after", graph.Exponential(0.5))

	var pending []graph.Guard
	for i, n := range counts {
		g := graph.Greater(change, firstYear+i)
		m.Observe("disasters", graph.Poisson(graph.If(g, before, after)), n)
		pending = append(pending, g)
	}
	return m, pending
}

// starts are narrow normals around changes all over the years: each stays
// where it is until the rates fit.
func starts(d *graph.Density) []vi.MeanField {
	var all []vi.MeanField
	for _, share := range []float64{0.5, 0.1, 0.25, 0.4, 0.6, 0.75, 0.9} { // of the years, before the change
		start := vi.PriorStart(d)
		sd := start.Scale(nil)
		i, _ := d.Latent("change")
		start.Mu[i], sd[i] = math.Log(share/(1-share)), 0.1 // the coordinate of a Uniform is logistic
		all = append(all, vi.NewMeanField(start.Mu, sd))
	}
	return all
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	flags := flag.NewFlagSet("coalmining", flag.ContinueOnError)
	flags.SetOutput(errOut)
	steps := flags.Int("steps", 5000, "steps of each fit; there are seven, and one more from the best")
	seed := flags.Uint64("seed", 1, "seed of the fits")
	file := flags.String("plot", "", "write the picture to this file (.png, .svg or .pdf)")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *steps < 1 {
		fmt.Fprintf(errOut, "coalmining: -steps %d: must be at least 1\n", *steps)
		return 2
	}
	if err := picture.Check(*file); err != nil {
		fmt.Fprintln(errOut, "coalmining: -plot", err)
		return 2
	}

	m, pending := mines(disasters)
	density, err := m.Compile()
	if err != nil {
		fmt.Fprintln(errOut, err)
		return 1
	}
	fits, err := restarts.Fit(ctx, density, starts(density), *steps, *seed)
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(errOut, err)
		return 1
	}
	if err = report(out, fits[0].Posterior, pending); err == nil {
		err = picture.Offer(out, "coalmining", *file, func() (*picture.Picture, error) { return draw(fits[0].Posterior) })
	}
	if err != nil {
		fmt.Fprintln(errOut, err)
		return 1
	}
	return 0
}
