// Proposition shows on one latent why the boundary matters: the model of
// Proposition 2 in Lee, Yu and Yang (NeurIPS 2018),
//
//	z ~ N(0, 1),   x | z ~ N(5, 1) if z > 0, else N(−2, 1),   x = 0 observed,
//
// fitted with q = N(θ, 1). The exact gradient of the ELBO is known. Three
// estimators are compared with it; then the model is fitted, with the scale free,
// by reparameterization alone and through the if.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/check"
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

func run(out io.Writer, theta float64, draws, steps int, seed uint64) error {
	density, err := proposition().Compile()
	if err != nil {
		return err
	}
	want := exactGradient(theta)
	fmt.Fprintf(out, "Gradient of the ELBO by the mean θ of q = N(θ, 1), at θ = %g: exactly %.4f\n\n", theta, want)
	fmt.Fprintln(out, "estimator  mean ± s.e.        off by")
	q := vi.PriorStart(density)
	q.Place([]float64{theta}, []float64{1})
	for _, e := range []vi.Estimator{vi.Score{}, vi.Reparam{}, vi.Boundary{}} {
		g, err := check.Gradient(density, q, e, check.GradientSettings{Draws: draws, Seed: seed})
		if err != nil {
			return err
		}
		off, note := g.Mean[0]-want, ""
		if math.Abs(off) > 5*g.SE[0]+1e-9 {
			note = "   ← biased"
		}
		fmt.Fprintf(out, "%-9s %8.4f ± %.4f  %8.4f%s\n", e.Name(), g.Mean[0], g.SE[0], off, note)
	}
	fmt.Fprintf(out, "\nFits from there, of at most %d steps\n\nestimator      mean      sd   ELBO\n", steps)
	for _, e := range []vi.Estimator{vi.Reparam{}, vi.Boundary{}} {
		fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: seed, Method: vi.Climb{Start: q, Estimator: e, Steps: steps}})
		if err != nil {
			return err
		}
		elbo, err := fit.ELBO(100_000, seed)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-9s  %8.3f  %6.3f  %.3f ± %.3f\n", e.Name(), fit.Q.Mean(0), fit.Q.SD(0), elbo.Value, elbo.SE)
	}
	return nil
}

func main() {
	theta, draws := flag.Float64("theta", 0.5, "mean of q where gradients are compared"), flag.Int("draws", 100_000, "of each gradient")
	steps, seed := flag.Int("steps", 10_000, "of a fit, at most"), flag.Uint64("seed", 1, "of random numbers")
	flag.Parse()
	if err := run(os.Stdout, *theta, *draws, *steps, *seed); err != nil {
		log.Fatal(err)
	}
}
