// Lynx asks at which density the ten-year cycle of the Canadian lynx turns: a
// self-exciting threshold autoregression of the numbers trapped, with the
// threshold inferred. Each year has an if: were there more lynx two years ago
// than the threshold? With x the logarithm to base 10 of the number trapped,
//
//	x_t − x_{t−1} = base + momentum·(x_{t−1} − x_{t−2}) + pull·(x_{t−2} − centre) + noise
//
// where base, momentum, pull and the noise's scale are others above the
// threshold than below. That is an autoregression of order 2 on each side,
//
//	x_t = (base − pull·centre) + (1 + momentum)·x_{t−1} + (pull − momentum)·x_{t−2} + noise,
//
// written with terms that are nearly uncorrelated in the data, since a
// mean-field fit takes the latents for independent.
//
// H. Tong and K. S. Lim (J. R. Statist. Soc. B 42, 1980) fitted such models to
// these data, with delay 2 and a threshold near 3.1; H. Tong (Non-linear Time
// Series, 1990) with order 2 on each side and a threshold of 3.25. Least squares
// is best between 3.310 and 3.326. One mean-field fit says 3.30 ± 0.02 and is
// much too sure; the exact posterior is 3.23 ± 0.15 (exact_test.go). So the
// program looks at the threshold through windows, and adds up what it sees. The
// model and the data are in examples/models/lynx.
package main

import (
	"context"
	"io"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/examples/models/lynx"
	"github.com/facetvi/facet/examples/picture"
	"github.com/facetvi/facet/examples/restarts"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

// The windows are normals of this width around these centres. They add up to a
// constant within 2 %, so that the posterior is the sum of what is in them.
const width = 0.05

var windows = []float64{2.5, 2.6, 2.7, 2.8, 2.9, 3, 3.1, 3.2, 3.3, 3.4, 3.5, 3.6}

// profile fits the posterior in each window of the threshold, and weighs the
// fits by exp(ELBO). A mean-field fit of the whole would stay near the best
// threshold, since its coefficients, fitted there, make all others look bad;
// here each window has coefficients of its own.
func profile(ctx context.Context, x []float64, steps int, seed uint64) ([]restarts.Explanation, error) {
	m, threshold := lynx.Model(x)
	m.Observe("window", graph.Normal(threshold, width), windows[0])
	model, err := m.Compile()
	if err != nil {
		return nil, err
	}
	return restarts.Windows(ctx, model, windows, start, vi.Settings{Steps: steps, Stop: vi.Automatic, Seed: seed})
}

// start is in the middle of the window, with growth that does not depend on
// anything: from the priors' own width the early gradients are huge, and the
// optimiser remembers them for long.
func start(d *graph.Density, centre float64) (family.Q, error) {
	at := map[string]float64{"threshold": centre}
	for _, side := range []string{"low", "high"} {
		at["base "+side], at["momentum "+side], at["pull "+side], at["noise "+side] = 0, 0, 0, 0.3
	}
	return vi.StartAt(d, at)
}

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, out, _ io.Writer) error {
	flags := cli.New("lynx")
	steps, seed, file := flags.Steps(5000, "steps at most of the fit in each of twelve windows"), flags.Seed(), flags.Plot()
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	fits, err := profile(ctx, lynx.Logs(lynx.Trapped), *steps, *seed)
	if err != nil && !cli.Interrupted(err) {
		return err
	}
	if err := report(out, fits); err != nil {
		return err
	}
	return picture.Offer(out, "lynx", *file, func() (*picture.Picture, error) { return draw(fits) })
}
