// Nile asks whether the river's yearly flow at Aswan shifted to another level
// between 1871 and 1970, how often and when. There are three programs, with no,
// one and two shifts. Each year has an if for each shift: is it still to come?
//
//	first, second         ~ Uniform(1871, 1970)
//	before, middle, after ~ Normal(9, 2)                 10¹⁰ m³ a year
//	noise                 ~ HalfNormal(2)
//	flow_y                ~ Normal(level, noise), where the level is before,
//	    middle or after if none, one or both of the shifts have come by y
//
// It is known that the flow fell in 1899. Where another shift may be the data
// hardly say; if they want none, its size is near 0 and its year is anything: two
// shifts have over a thousand explanations, and the fit has them all. By
// enumeration (exact_test.go) the log evidences are −198.956, −177.464 and
// −177.947. With two shifts one comes after 1898 with probability 0.77, and both are
// of more than 10 km³ with probability 0.16. The programs and the data are in
// examples/models/nile.
package main

import (
	"context"
	"io"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/examples/models/nile"
	"github.com/facetvi/facet/examples/picture"
	"github.com/facetvi/facet/vi"
)

// fitted fits the programs with no, one and two shifts.
func fitted(ctx context.Context, seed uint64) (fits [3]*vi.Posterior, err error) {
	for shifts := range fits {
		density, err := nile.Model(nile.Flow, shifts).Compile()
		if err != nil {
			return fits, err
		}
		if fits[shifts], err = vi.Fit(ctx, density, vi.Settings{Seed: seed}); err != nil {
			return fits, err
		}
	}
	return fits, nil
}

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, out, _ io.Writer) error {
	flags := cli.New("nile")
	seed, file := flags.Seed(), flags.Plot()
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	fits, err := fitted(ctx, *seed)
	if err != nil {
		return err
	}
	all, err := report(out, fits)
	if err != nil {
		return err
	}
	return picture.Offer(out, "nile", *file, func() (*picture.Picture, error) { return draw(all) })
}
