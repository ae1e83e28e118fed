// Nile asks when the river's yearly flow at Aswan shifted to another level, if
// it did so once or twice between 1871 and 1970. Each year has two ifs: is the
// first shift still to come, and if not, is the second?
//
//	first, second         ~ Uniform(1871, 1970)
//	before, middle, after ~ Normal(9, 2)                 10¹⁰ m³ a year
//	noise                 ~ HalfNormal(2)
//	flow_y                ~ Normal(level, noise), where the level is
//	    before if y < first, else middle if y < second, else after
//
// If second < first the level goes from before to after at once and middle is
// never used: one shift. So the program contains both answers. It is known that
// the flow fell in 1899; where else a shift may be, the data hardly say, and
// many explanations are nearly as good as each other: the program fits from
// several starts and weighs what it finds.
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

// unit is that of the model, in units of the data: an optimiser's step is as
// long for every latent, so that all of them should be of the order of 1.
const unit = 100

// river builds the model.
func river(flow []float64) *graph.Model {
	m := graph.NewModel()
	years := graph.Uniform(firstYear, firstYear+len(flow)-1)
	first, second := m.Sample("first", years), m.Sample("second", years)
	level := graph.Normal(9, 2)
	before, middle, after := m.Sample("before", level), m.Sample("middle", level), m.Sample("after", level)
	noise := m.Sample("noise", graph.HalfNormal(2))

	for i, v := range flow {
		year := firstYear + i
		later := graph.If(graph.Greater(second, year), middle, after)
		now := graph.If(graph.Greater(first, year), before, later)
		m.Observe("flow", graph.Normal(now, noise), v/unit)
	}
	return m
}

// starts are narrow normals around shifts in every third of the years.
func starts(d *graph.Density) []vi.MeanField {
	var all []vi.MeanField
	for _, first := range []float64{0.2, 0.5, 0.8} { // share of the years
		for _, second := range []float64{0.15, 0.45, 0.85} {
			start := vi.PriorStart(d)
			sd := start.Scale(nil)
			for name, share := range map[string]float64{"first": first, "second": second} {
				i, _ := d.Latent(name)
				start.Mu[i], sd[i] = math.Log(share/(1-share)), 0.1 // the coordinate of a Uniform is logistic
			}
			all = append(all, vi.NewMeanField(start.Mu, sd))
		}
	}
	return all
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	flags := flag.NewFlagSet("nile", flag.ContinueOnError)
	flags.SetOutput(errOut)
	steps := flags.Int("steps", 4000, "steps of each fit; there are nine, and one more for each explanation found")
	seed := flags.Uint64("seed", 1, "seed of the fits")
	file := flags.String("plot", "", "write the picture to this file (.png, .svg or .pdf)")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *steps < 1 {
		fmt.Fprintf(errOut, "nile: -steps %d: must be at least 1\n", *steps)
		return 2
	}
	if err := picture.Check(*file); err != nil {
		fmt.Fprintln(errOut, "nile: -plot", err)
		return 2
	}

	density, err := river(flow).Compile()
	if err != nil {
		fmt.Fprintln(errOut, err)
		return 1
	}
	fits, err := restarts.Fit(ctx, density, starts(density), *steps, *seed)
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(errOut, err)
		return 1
	}
	if err = report(out, fits); err == nil {
		err = picture.Offer(out, "nile", *file, func() (*picture.Picture, error) { return draw(fits) })
	}
	if err != nil {
		fmt.Fprintln(errOut, err)
		return 1
	}
	return 0
}
