package vi

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
)

var seed = flag.Uint64("seed", 1, "seed of the statistical tests")

func compile(t testing.TB, spec models.Spec) *graph.Density {
	t.Helper()
	d, err := spec.Model().Compile()
	require.NoError(t, err)
	return d
}

func paperSpec(t testing.TB, name string) (models.Spec, *graph.Density) {
	t.Helper()
	spec, err := models.ByName(name)
	require.NoError(t, err)
	return spec, compile(t, spec)
}

// maxZ is the largest |mean − want| in standard errors. Components without
// variance must agree to rounding. A component whose standard error could not
// show an error of detect·scale makes the test inconclusive, where scale is the
// largest component of want.
func maxZ(t testing.TB, s GradientStats, want []float64, detect float64) float64 {
	t.Helper()
	scale := 0.0
	for _, w := range want {
		scale = math.Max(scale, math.Abs(w))
	}
	return maxZScaled(t, s, want, detect*scale, scale)
}

// maxZScaled is maxZ with the error that must be seen given, and the scale of
// rounding.
func maxZScaled(t testing.TB, s GradientStats, want []float64, seen, scale float64) float64 {
	t.Helper()
	worst := 0.0
	for i, w := range want {
		require.Less(t, 5*s.SE[i], seen, "inconclusive: component %d has standard error %g", i, s.SE[i])
		d := math.Abs(s.Mean[i] - w)
		if d <= 1e-11*scale {
			continue
		}
		worst = math.Max(worst, d/s.SE[i])
	}
	return worst
}

// partBoundary is Boundary without RepGrad, for tests of the parts.
type partBoundary struct{ Boundary }

func (e partBoundary) bind(d *graph.Density, n int) (worker, error) {
	w, err := e.Boundary.bind(d, n)
	return &partWorker{w.(*boundaryWorker)}, err
}

type partWorker struct{ *boundaryWorker }

func (w *partWorker) add(eps, mu, s []float64, rng *rand.Rand, gMu, gScale []float64) error {
	err := w.Run(eps, rng)
	w.AddGradient(gMu, gScale)
	return err
}

// The exact gradient, in its two parts, of DESIGN's golden values.
func TestGoldenGradient(t *testing.T) {
	for _, name := range []string{"temperature", "textmsg", "influenza"} {
		t.Run(name, func(t *testing.T) {
			spec, d := paperSpec(t, name)
			q := FromTheta(spec.ThetaInit)
			exact := spec.Golden.Exact
			run := func(e Estimator, draws int) GradientStats {
				s, err := Gradient(d, q, e, GradientSettings{Draws: draws, Samples: 32, Seed: *seed})
				require.NoError(t, err)
				return s
			}
			require.Less(t, maxZ(t, run(Boundary{}, 4000), exact.Gradient, 0.1), 5.0, "all guards")
			require.Less(t, maxZ(t, run(SingleGuard(), 20000), exact.Gradient, 0.1), 5.0, "one guard")
			weighted := Boundary{boundary.Settings{Guards: 1, By: boundary.ByWeight}}
			require.Less(t, maxZ(t, run(weighted, 20000), exact.Gradient, 0.1), 5.0, "one guard by weight")

			reparam := run(Reparam{}, 4000)
			require.Less(t, maxZ(t, reparam, exact.RepGrad, 0.1), 5.0, "RepGrad")
			if name == "textmsg" { // whose boundary part is 0 at this θ by symmetry
				part := subtractEntropy(run(partBoundary{}, 60000), q)
				require.Less(t, maxZScaled(t, part, exact.BouContr, 0.02*floats.Max(exact.Gradient), 1), 5.0, "BouContr")
			} else {
				require.Greater(t, maxZ(t, reparam, exact.Gradient, 0.1), 5.0, "reparameterization alone must be rejected")
				require.Less(t, maxZ(t, subtractEntropy(run(partBoundary{}, 200000), q), exact.BouContr, 0.1), 5.0, "BouContr")
			}
			elbo, err := ELBO(d, q, 200000, *seed)
			require.NoError(t, err)
			require.Less(t, math.Abs(elbo.Mean-exact.ELBO), 5*elbo.SE)
			require.Less(t, 5*elbo.SE, 0.02*math.Abs(exact.ELBO), "inconclusive")
		})
	}
}

// subtractEntropy takes the exact gradient of the entropy out of a mean.
func subtractEntropy(s GradientStats, q MeanField) GradientStats {
	for i, r := range q.Rho {
		s.Mean[2*i+1] -= slopeOf(r) / softplus(r)
	}
	return s
}

func slopeOf(rho float64) float64 {
	_, slope := softplusAndSlope(rho)
	return slope
}
