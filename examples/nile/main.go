// Nile asks when the river's yearly flow at Aswan shifted to another level,
// if there were two such shifts between 1871 and 1970. Each year has two ifs, one
// for each shift: is it still to come?
//
//	first, second         ~ Uniform(1871, 1970)
//	before, middle, after ~ Normal(9, 2)                 10¹⁰ m³ a year
//	noise                 ~ HalfNormal(2)
//	flow_y                ~ Normal(level, noise), where the level is before,
//	    middle or after if none, one or both of the shifts have come by y
//
// It is known that the flow fell in 1899. Where the other shift may be the data
// hardly say; if they want none, its size is near 0 and its year is anything.
// A mean-field fit keeps one of many explanations that are nearly as good. So
// the program looks through windows of the second shift's year, fits what is in
// each, and adds them up by weight. By enumeration (exact_test.go) there is a
// shift after 1898 with probability 0.77, and both are of more than 10 km³ with
// probability 0.16, of which mean-field fits see about a half. The program and the
// data are in examples/models/nile.
package main

import (
	"context"
	"io"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/examples/models/nile"
	"github.com/facetvi/facet/examples/picture"
	"github.com/facetvi/facet/examples/restarts"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

// windows are the centres, in years, through which the program looks for the
// second shift, each with a standard deviation of windowSD: see restarts.Windows.
var windows = []float64{1865, 1875, 1885, 1895, 1905, 1915, 1925, 1935, 1945, 1955, 1965, 1975}

const windowSD = 5

// shifts fits the model in every window of the second shift.
func shifts(ctx context.Context, steps int, seed uint64) ([]restarts.Explanation, error) {
	m, second := nile.Model(nile.Flow)
	m.Observe("window", graph.Normal(second, windowSD), windows[0])
	density, err := m.Compile()
	if err != nil {
		return nil, err
	}
	return restarts.Windows(ctx, density, windows, start, vi.Settings{Steps: steps, Stop: vi.Automatic, Seed: seed})
}

// start is around a second shift in the window, and a first one a third of the
// way through the years, with levels and noise as the data have them, roughly.
func start(d *graph.Density, centre float64) (family.Q, error) {
	return vi.StartAt(d, map[string]float64{
		"first": 1904, "second": min(max(centre, 1876), 1965), "before": 9, "middle": 9, "after": 9, "noise": 1.5,
	})
}

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, out, _ io.Writer) error {
	flags := cli.New("nile")
	steps, seed, file := flags.Steps(5000, "steps at most of the fit in each of twelve windows"), flags.Seed(), flags.Plot()
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	fits, err := shifts(ctx, *steps, *seed)
	if err != nil && !cli.Interrupted(err) {
		return err
	}
	if err := report(out, fits); err != nil {
		return err
	}
	return picture.Offer(out, "nile", *file, func() (*picture.Picture, error) { return draw(fits) })
}
