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
	"math/rand/v2"
	"os"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/report"
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

// gradient estimates the gradient by the mean of q where a climb starts, from so many draws, with its standard error.
func gradient(d *graph.Density, c vi.Climb, draws int, seed uint64) (mean, se float64, err error) {
	const batch = 100
	w, err := c.Estimator.Bind(d, c.Start, batch)
	if err != nil {
		return 0, 0, err
	}
	estimates, theta := make([]float64, max(2, draws/batch)), make([]float64, len(c.Start.Theta()))
	rng, sums := rand.New(rand.NewPCG(seed, 1)), make([]float64, w.Sampler().Sums())
	for k := range estimates {
		clear(sums)
		if err := w.Add(sums, rng); err != nil {
			return 0, 0, err
		}
		w.Sampler().Finish(theta, sums, batch)
		estimates[k] = theta[0]
	}
	mean, sd := stat.MeanStdDev(estimates, nil)
	return mean, stat.StdErr(sd, float64(len(estimates))), nil
}

func run(out io.Writer, theta float64, draws, steps int, seed uint64, html string) error {
	density, err := proposition().Compile()
	if err != nil {
		return err
	}
	want := exactGradient(theta)
	fmt.Fprintf(out, "Gradient of the ELBO by the mean θ of q = N(θ, 1), at θ = %g: exactly %.4f\n\n", theta, want)
	fmt.Fprintln(out, "estimator  mean ± s.e.        off by")
	q := vi.PriorStart(density)
	q.Place([]float64{theta}, []float64{1})
	climb := vi.Climb{Start: q, Steps: steps}
	for _, e := range []vi.Estimator{vi.Score{}, vi.Reparam{}, vi.Boundary{}} {
		climb.Estimator = e
		mean, se, err := gradient(density, climb, draws, seed)
		if err != nil {
			return err
		}
		note := ""
		if math.Abs(mean-want) > 5*se+1e-9 {
			note = "   ← biased"
		}
		fmt.Fprintf(out, "%-9s %8.4f ± %.4f  %8.4f%s\n", e.Name(), mean, se, mean-want, note)
	}
	fmt.Fprintf(out, "\nFits from there, of at most %d steps\n\nestimator      mean      sd   ELBO\n", steps)
	for _, e := range []vi.Estimator{vi.Reparam{}, vi.Boundary{}} {
		climb.Estimator = e
		fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: seed, Method: climb})
		if err != nil {
			return err
		}
		elbo, err := fit.ELBO(100_000, seed)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-9s  %8.3f  %6.3f  %.3f ± %.3f\n", e.Name(), fit.Q.Mean(0), fit.Q.SD(0), elbo.Value, elbo.SE)
		if html != "" { // of the last one
			if err := report.Save(html, fit, report.Options{Title: "Through the if: the proposition's model", Seed: seed}); err != nil {
				return err
			}
		}
	}
	return nil
}

func main() {
	theta, draws := flag.Float64("theta", 0.5, "mean of q where gradients are compared"), flag.Int("draws", 100_000, "of each gradient")
	steps, seed := flag.Int("steps", 10_000, "of a fit, at most"), flag.Uint64("seed", 1, "of random numbers")
	html := flag.String("html", "", "write a report of the fit through the if to this `file`")
	flag.Parse()
	if err := run(os.Stdout, *theta, *draws, *steps, *seed, *html); err != nil {
		log.Fatal(err)
	}
}
