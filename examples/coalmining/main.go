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
// The rates can be integrated out by hand, so that the exact answer is known: a
// change at 1890.4 ± 2.4. A mean-field fit takes the change and the rates for
// independent and is a little too sure of itself, with ± 2.0; importance weights
// put that right (exact_test.go).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/examples/models/coalmining"
	"github.com/facetvi/facet/examples/picture"
	"github.com/facetvi/facet/vi"
)

// draws are those that the fit is judged by.
const draws = 100000

// fitted compiles and fits the model. The fit finds its start among draws from
// the prior; one is enough here, as all restarts end at the same ELBO.
func fitted(ctx context.Context, s vi.Settings) (*vi.Posterior, error) {
	density, err := coalmining.Model(coalmining.Disasters).Compile()
	if err != nil {
		return nil, err
	}
	return vi.Fit(ctx, density, s)
}

// report goes from the fit to the decision.
func report(out io.Writer, fit *vi.Posterior, seed uint64) error {
	latents, err1 := fit.Summary().Of("change", "before", "after")
	old, err2 := fit.Summary().Of("old")
	weighted, err3 := fit.Importance(draws, seed)
	bias, err4 := fit.CheckBias(vi.BiasSettings{Seed: seed})
	shares, err5 := fit.SharesByGuard(10000, seed)
	predicted, err6 := fit.Predict(4000, seed)
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		return err
	}

	fmt.Fprintln(out, latents)
	byYear(out, old.Guards)
	fmt.Fprintf(out, "\nIs the fit near the posterior? k-hat %.2f, %s.\n", weighted.K, weighted.Verdict())
	fmt.Fprintf(out, "    after %d steps the ELBO is %.2f, and the log evidence %.2f\n",
		fit.Steps, weighted.ELBO.Mean, weighted.LogEvidence.Mean)
	change := weighted.Latents[0]
	fmt.Fprintf(out, "    the fit's change is at %.1f ± %.1f, reweighted at %.1f ± %.1f\n",
		change.FitMean, change.FitSD, change.Mean.Mean, change.SD)
	fmt.Fprintln(out, "Do the data look like the model's?")
	if err := compare(out, predicted); err != nil {
		return err
	}
	fmt.Fprintln(out, "Which ifs does the fit learn from?")
	for _, g := range shares.Guards[:3] {
		fmt.Fprintf(out, "    %s, with %.0f %% of the gradient\n", fit.Sides()[g.Plane].Condition, 100*g.Share)
	}
	if bias.Biased {
		fmt.Fprintf(out, "Reparameterization alone would have been biased here: z = %.0f.\n", bias.MaxZ)
	}
	return decide(out, weighted, predicted)
}

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, out, errOut io.Writer) error {
	flags := cli.New("coalmining")
	steps, seed, file := flags.Steps(10000, "steps of the fit"), flags.Seed(), flags.Plot()
	progress := flags.Bool("progress", false, "show how the fit gets on")
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	s := vi.Settings{Steps: *steps, Seed: *seed}
	if *progress {
		s.Progress = errOut
	}
	fit, err := fitted(ctx, s)
	if err != nil && !cli.Interrupted(err) {
		return err
	}
	if err := report(out, fit, *seed); err != nil {
		return err
	}
	return picture.Offer(out, "coalmining", *file, func() (*picture.Picture, error) { return draw(fit) })
}
