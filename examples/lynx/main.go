// Lynx asks at which density the ten-year cycle of the Canadian lynx turns, if it
// does: a self-exciting threshold autoregression of the numbers trapped, with the
// threshold inferred, against one without. Each year has an if: were there more
// lynx two years ago than the threshold? With x the logarithm to base 10 of the
// number trapped,
//
//	x_t − x_{t−1} = base + momentum·(x_{t−1} − x_{t−2}) + pull·(x_{t−2} − centre) + noise
//
// where base, momentum, pull and the noise's scale are others above the
// threshold than below. That is an autoregression of order 2 on each side,
//
//	x_t = (base − pull·centre) + (1 + momentum)·x_{t−1} + (pull − momentum)·x_{t−2} + noise.
//
// H. Tong and K. S. Lim (J. R. Statist. Soc. B 42, 1980) fitted such models to
// these data, with delay 2 and a threshold near 3.1; H. Tong (Non-linear Time
// Series, 1990) with order 2 on each side and a threshold of 3.25. Least squares
// is best between 3.310 and 3.326. The exact posterior is 3.226 ± 0.151, and the
// log evidence −0.78, against −5.81 for one regime (exact_test.go). The next twelve
// years are predicted by another program with the same latents, in which they are
// missing observations: in each draw its years decide which regime comes after
// them. The models and the data are in examples/models/lynx.
package main

import (
	"context"
	"io"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/examples/models/lynx"
	"github.com/facetvi/facet/examples/picture"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// years are how many are forecast.
const years = 12

// fitted fits one regime and two.
func fitted(ctx context.Context, seed uint64) (fits [2]*vi.Posterior, err error) {
	x := lynx.Logs(lynx.Trapped)
	for i, model := range []*graph.Model{lynx.One(x), lynx.Model(x)} {
		density, err := model.Compile()
		if err != nil {
			return fits, err
		}
		if fits[i], err = vi.Fit(ctx, density, vi.Settings{Seed: seed}); err != nil {
			return fits, err
		}
	}
	return fits, nil
}

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, out, _ io.Writer) error {
	flags := cli.New("lynx")
	seed, file := flags.Seed(), flags.Plot()
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	fits, err := fitted(ctx, *seed)
	if err != nil {
		return err
	}
	next, err := lynx.Next(lynx.Logs(lynx.Trapped), years).Compile()
	if err != nil {
		return err
	}
	predicted, err := fits[1].PredictWith(next, 10000, 1)
	if err != nil {
		return err
	}
	if err := report(out, fits, predicted); err != nil {
		return err
	}
	return picture.Offer(out, "lynx", *file, func() (*picture.Picture, error) { return draw(fits[1], predicted) })
}
