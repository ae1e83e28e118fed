// Coalmining asks when disasters in British coal mines became rarer, given
// their number in each year from 1851 to 1962, and goes all the way from the data
// to a decision. Each year has an if of its own, "is the change still to come?",
// so the density jumps at 110 places along one latent, the year of the change.
//
//	change        ~ Uniform(1851, 1962)
//	before, after ~ Exponential(1/2)           disasters a year
//	count_y       ~ Poisson(before) if y < change, else Poisson(after)
//
// The program and the data are in examples/models/coalmining.
//
// Between two of them it is smooth: each year is an explanation of its own, and the
// fit has a normal in every year that matters. The rates can be integrated out by
// hand, so that the exact answer is known: a change at 1890.44 ± 2.45, a log
// evidence of −176.888 (exact_test.go compares).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/facetvi/facet/examples/answer"
	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/examples/models/coalmining"
	"github.com/facetvi/facet/examples/picture"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/plot"
)

// fitted compiles and fits the model.
func fitted(ctx context.Context, s vi.Settings) (*vi.Posterior, error) {
	density, err := coalmining.Model(coalmining.Disasters).Compile()
	if err != nil {
		return nil, err
	}
	return vi.Fit(ctx, density, s)
}

// report goes from the fit to the decision.
func report(out io.Writer, fit *vi.Posterior, seed uint64) error {
	if err := answer.Verdict(out, fit); err != nil {
		return err
	}
	answer.Cells(out, fit, 13)
	latents, err1 := fit.Summary().Of("change", "before", "after")
	predicted, err2 := fit.Predict(4000, seed)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%v\nDo the data look like the model's?\n", vi.Summary{Latents: latents.Latents})
	if err := compare(out, predicted); err != nil {
		return err
	}
	return decide(out, fit, predicted)
}

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, out, errOut io.Writer) error {
	flags := cli.New("coalmining")
	seed, file := flags.Seed(), flags.Plot()
	progress := flags.Bool("progress", false, "show how the fit gets on")
	simulated := flags.Count("calibrate", 0, 0, "data sets that are drawn from the model and fitted, to see whether fits are right")
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	s := vi.Settings{Seed: *seed}
	if *progress {
		s.Progress = errOut
	}
	fit, err := fitted(ctx, s)
	if err != nil {
		return err
	}
	if err := report(out, fit, *seed); err != nil {
		return err
	}
	if err := picture.Offer(out, "coalmining", *file, func() (*picture.Picture, error) { return draw(fit) }); err != nil || *simulated == 0 {
		return err
	}
	return calibrate(ctx, out, fit.Density, vi.Calibrating{Fits: *simulated, Fit: s}, *file)
}

// calibrate asks whether fits of data like these are right, with a picture beside the other one.
func calibrate(ctx context.Context, out io.Writer, d *graph.Density, c vi.Calibrating, file string) error {
	found, err := vi.Calibrate(ctx, d, c)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%v\n", found)
	if file == "" {
		return nil
	}
	p, err := plot.Calibration(found, "change", "before", "after")
	if err != nil {
		return err
	}
	kind := filepath.Ext(file)
	file = strings.TrimSuffix(file, kind) + "-calibration" + kind
	if err := plot.Save(p, file); err != nil {
		return err
	}
	fmt.Fprintf(out, "Its picture is in %s\n", file)
	return nil
}
