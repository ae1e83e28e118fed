// Proposition shows on one latent why the boundary matters: the model of
// Proposition 2 in Lee, Yu and Yang (NeurIPS 2018),
//
//	z ~ N(0, 1),   x | z ~ N(5, 1) if z > 0, else N(−2, 1),   x = 0 observed,
//
// fitted with q = N(θ, 1). The exact gradient of the ELBO is known. Three
// estimators are compared with it; then the model is fitted, with the scale free.
package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
)

func proposition() *graph.Model {
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	m.Observe("x", graph.Normal(graph.If(graph.Greater(z, 0), 5, -2), 1), 0)
	return m
}

// jump is log N(0; 5, 1) − log N(0; −2, 1), the jump of log r at z = 0.
const jump = -10.5

// exactGradient is the gradient of the ELBO with respect to the mean θ at s = 1.
func exactGradient(theta float64) float64 {
	return -theta + jump*distuv.UnitNormal.Prob(theta)
}

// elbo is the ELBO of q = N(mean, sd²) in closed form.
func elbo(mean, sd float64) float64 {
	above := distuv.UnitNormal.CDF(mean / sd)
	prior := -0.5*math.Log(2*math.Pi) - (mean*mean+sd*sd)/2
	likelihood := -0.5*math.Log(2*math.Pi) - above*12.5 - (1-above)*2
	return prior + likelihood + 0.5*math.Log(2*math.Pi*math.E) + math.Log(sd)
}

// optimum is the best ELBO, to rounding, by coordinate bisection on a grid that
// is refined around its best point.
func optimum() (mean, sd, best float64) {
	mean, sd, best = 0, 1, math.Inf(-1)
	for width := 2.0; width > 1e-9; width *= 0.7 {
		m0, s0 := mean, sd
		for i := -10; i <= 10; i++ {
			for j := -10; j <= 10; j++ {
				m, s := m0+width*float64(i)/10, s0*math.Exp(width*float64(j)/10)
				if v := elbo(m, s); v > best {
					mean, sd, best = m, s, v
				}
			}
		}
	}
	return mean, sd, best
}

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, out, _ io.Writer) error {
	flags := cli.New("proposition")
	theta := flags.Float64("theta", 0.5, "mean of q at which gradients are compared")
	draws := flags.Count("draws", 100000, 2, "gradient draws of each estimator")
	steps, seed := flags.Steps(10000, "steps of the fit"), flags.Seed()
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	return compare(ctx, out, *theta, *draws, *steps, *seed)
}

func compare(ctx context.Context, out io.Writer, theta float64, draws, steps int, seed uint64) error {
	density, err := proposition().Compile()
	if err != nil {
		return err
	}
	want := exactGradient(theta)
	fmt.Fprintf(out, "∂ELBO/∂θ at θ = %g, s = 1: exactly %.4f\n\n", theta, want)
	fmt.Fprintln(out, "estimator       mean ± s.e.      off by")
	q := family.Softplus{}.At([]float64{theta, math.Log(math.E - 1)}) // softplus of this is 1
	for _, e := range []vi.Estimator{vi.Score{}, vi.Reparam{}, vi.Boundary{}} {
		g, err := check.Gradient(density, q, e, check.GradientSettings{Draws: draws, Seed: seed})
		if err != nil {
			return err
		}
		z := (g.Mean[0] - want) / g.SE[0]
		note := ""
		if math.Abs(z) > 5 {
			note = "   ← biased"
		}
		fmt.Fprintf(out, "%-9s  %9.4f ± %.4f  %5.1f s.e.%s\n", e.Name(), g.Mean[0], g.SE[0], z, note)
	}

	fit, err := vi.Fit(ctx, density, vi.Settings{Seed: seed, Method: vi.Climb{Start: q, Steps: steps}})
	if err != nil && !cli.Interrupted(err) {
		return err
	}
	mean, sd := fit.Q.Mean(0), fit.Q.SD(0)
	bestMean, bestSD, best := optimum()
	fmt.Fprintf(out, "\n              mean       sd     ELBO\n")
	fmt.Fprintf(out, "fit      %9.4f %8.4f %8.5f  (closed form, after %d steps)\n", mean, sd, elbo(mean, sd), fit.Steps)
	fmt.Fprintf(out, "optimum  %9.4f %8.4f %8.5f\n", bestMean, bestSD, best)
	return nil
}
