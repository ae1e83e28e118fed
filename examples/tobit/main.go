// Tobit asks how much households want to spend on durable goods, when all that
// is known of those who bought nothing is that they wanted to spend less than
// some limit: the smallest purchase that is worth making. Tobin (1958) took the
// limit to be 0; here it is a latent.
//
//	level, age, liquidity ~ Normal(0, 5)
//	spread                ~ HalfNormal(5)
//	limit                 ~ Normal(0, 1)
//	desired_i             ~ Normal(level + age·a_i + liquidity·l_i, spread)
//	bought_i              ~ Bernoulli(0.99 if desired_i > limit, else 0.01)
//
// with a_i in tens of years and l_i in 25 points of the liquidity ratio, both
// from the middle of the data. Whoever bought has spent what was desired, so
// desired_i is seen; for the others it is a latent. The guard compares two
// latents there, and a number with a latent otherwise.
//
// One record in a hundred may be wrong. With none, the density would be zero
// for a limit above the smallest purchase, an infinite jump, which no normal
// fits: the likelihood then rises up to that purchase and drops to nothing, and
// its maximum is at that edge (R. T. Carson and Y. Sun, The Tobit model with a
// non-zero threshold, Econometrics Journal 10, 2007).
//
// What is desired hangs together with the coefficients, and all the more widely the larger
// the spread is. The default fit sums out on which side of the limit each desire is, and has several
// normals for what is left. The program and the data are in examples/models/tobit.
package main

import (
	"context"
	"io"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/examples/models/tobit"
	"github.com/facetvi/facet/examples/picture"
	"github.com/facetvi/facet/vi"
)

// fitted compiles and fits the model.
func fitted(ctx context.Context, seed uint64) (*vi.Posterior, error) {
	density, err := tobit.Model(tobit.Households).Compile()
	if err != nil {
		return nil, err
	}
	return vi.Fit(ctx, density, vi.Settings{Seed: seed})
}

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, out, _ io.Writer) error {
	flags := cli.New("tobit")
	seed, file := flags.Seed(), flags.Plot()
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	fit, err := fitted(ctx, *seed)
	if err != nil {
		return err
	}
	if err := report(out, fit); err != nil {
		return err
	}
	return picture.Offer(out, "tobit", *file, func() (*picture.Picture, error) { return draw(fit) })
}
