package gradient_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// gradientOf are the statistics of draws of 32 samples each, as many as vitest.Draws says.
func gradientOf(t testing.TB, d *graph.Density, q family.Q, e gradient.Estimator, draws int) check.GradientStats {
	t.Helper()
	s, err := check.Gradient(d, q, e, check.GradientSettings{Draws: vitest.Draws(draws), Samples: 32, Seed: *gradient.Seed})
	require.NoError(t, err)
	return s
}

func maxZ(t testing.TB, s check.GradientStats, want []float64, detect float64) float64 {
	t.Helper()
	return vitest.MaxZ(t, s.Mean, s.SE, want, detect)
}

// partBoundary is Boundary without RepGrad, for tests of the parts.
type partBoundary struct{}

func (partBoundary) Name() string { return "part" }

func (partBoundary) Bind(d *graph.Density, q family.Q, n int) (gradient.Worker, error) {
	p, err := gradient.BindParts(d, q, n, gradient.Boundary{})
	return partWorker{p}, err
}

type partWorker struct{ *gradient.Parts }

func (w partWorker) Add(sums []float64, rng *rand.Rand) error {
	err := w.Run(rng)
	w.AddBoundary(sums)
	return err
}

// The exact gradient, in its two parts, of DESIGN's golden values.
func TestGoldenGradient(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"temperature", "textmsg", "influenza"}[:long.Or(2, 3)] {
		t.Run(name, func(t *testing.T) {
			spec, d := vitest.Paper(t, name)
			q := family.Softplus{}.At(spec.ThetaInit)
			exact := spec.Golden.Exact
			run := func(e gradient.Estimator, draws int) check.GradientStats { return gradientOf(t, d, q, e, draws) }
			seen := vitest.Precision(0.1)
			require.Less(t, maxZ(t, run(gradient.Boundary{}, 4000), exact.Gradient, seen), 5.0, "all guards")
			require.Less(t, maxZ(t, run(gradient.SingleGuard(), 10000), exact.Gradient, seen), 5.0, "one guard")
			weighted := gradient.Boundary{Guards: 1, By: boundary.ByWeight}
			require.Less(t, maxZ(t, run(weighted, 10000), exact.Gradient, seen), 5.0, "one guard by weight")

			reparam := run(gradient.Reparam{}, 4000)
			require.Less(t, maxZ(t, reparam, exact.RepGrad, seen), 5.0, "RepGrad")
			if name == "textmsg" { // whose boundary part is 0 at this θ by symmetry
				part := subtractEntropy(run(partBoundary{}, 60000), q)
				seen := vitest.Precision(0.02) * floats.Max(exact.Gradient)
				require.Less(t, vitest.MaxZScaled(t, part.Mean, part.SE, exact.BouContr, seen, 1), 5.0, "BouContr")
			} else {
				require.Greater(t, maxZ(t, reparam, exact.Gradient, seen), 5.0, "reparameterization alone must be rejected")
				require.Less(t, maxZ(t, subtractEntropy(run(partBoundary{}, 150000), q), exact.BouContr, seen), 5.0, "BouContr")
			}
			elbo, err := check.ELBO(d, q, 200000, *gradient.Seed)
			require.NoError(t, err)
			require.Less(t, math.Abs(elbo.Value-exact.ELBO), 5*elbo.SE)
			require.Less(t, 5*elbo.SE, 0.02*math.Abs(exact.ELBO), "inconclusive")
		})
	}
}

// subtractEntropy takes the exact gradient of the entropy out of a mean.
func subtractEntropy(s check.GradientStats, q family.Q) check.GradientStats {
	for i := range q.Dim() {
		s.Mean[2*i+1] -= slope(q.SD(i)) / q.SD(i)
	}
	return s
}

// slope is ds/dρ.
func slope(s float64) float64 { return -math.Expm1(-s) }

// softplus is the member of the paper's family with the given means and standard
// deviations.
func softplus(mean, sd []float64) family.Gaussian {
	q := family.Softplus{}.At(make([]float64, 2*len(mean)))
	q.Place(mean, sd)
	return q
}
