package check

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/vitest"
)

var meterEstimators = []gradient.Estimator{gradient.Boundary{}, gradient.SingleGuard(), gradient.Reparam{}, gradient.Score{}}

// A measurement is the textbook variance of as many draws, and the next one is
// of the draws after those.
func TestGradientMeterIsVariance(t *testing.T) {
	const draws = 16
	for _, name := range []string{"temperature", "textmsg", "influenza"} {
		spec, d := vitest.Paper(t, name)
		q := family.Softplus{}.At(spec.ThetaInit)
		for _, e := range meterEstimators {
			meter, err := NewGradientMeter(d, q, e, draws, *seed)
			require.NoError(t, err)
			g, err := gradient.NewRunner(d, q, e, 1, *seed)
			require.NoError(t, err)
			for range 3 {
				parts, norms := make([][]float64, 2*d.Dim()), []float64{}
				for range draws {
					v, err := g.Estimate(q)
					require.NoError(t, err)
					for i, x := range v {
						parts[i] = append(parts[i], x)
					}
					norms = append(norms, floats.Norm(v, 2))
				}
				var avg float64
				for _, p := range parts {
					avg += stat.Variance(p, nil) / float64(len(parts))
				}
				avgVar, normVar, err := meter.Measure(q)
				require.NoError(t, err)
				require.InEpsilon(t, avg, avgVar, 1e-9, "%s %s", name, e.Name())
				require.InEpsilon(t, stat.Variance(norms, nil), normVar, 1e-9, "%s %s", name, e.Name())
			}
		}
	}
}

// The mean of many measurements is the variance that Gradient finds from other
// draws, and is not that of Reparam.
func TestGradientMeterIsGradient(t *testing.T) {
	spec, d := vitest.Paper(t, "temperature")
	q := family.Softplus{}.At(spec.ThetaInit)
	meter, err := NewGradientMeter(d, q, gradient.Boundary{}, 16, *seed)
	require.NoError(t, err)
	values := make([]float64, 1000)
	for k := range values {
		values[k], _, err = meter.Measure(q)
		require.NoError(t, err)
	}
	mean, sd := stat.MeanStdDev(values, nil)
	se := stat.StdErr(sd, float64(len(values)))
	all, err := Gradient(d, q, gradient.Boundary{}, GradientSettings{Draws: 16000, Seed: *seed + 1})
	require.NoError(t, err)
	rep, err := Gradient(d, q, gradient.Reparam{}, GradientSettings{Draws: 16000, Seed: *seed + 1})
	require.NoError(t, err)
	require.Less(t, 5*math.Sqrt2*se, 0.5*math.Abs(rep.AvgVar-all.AvgVar), "inconclusive")
	require.InDelta(t, all.AvgVar, mean, 5*math.Sqrt2*se)
	require.Greater(t, math.Abs(rep.AvgVar-mean), 5*math.Sqrt2*se)
}

// The first measurement is ELBO's, bit for bit; the following are others.
func TestMeterIsELBO(t *testing.T) {
	for _, name := range []string{"temperature", "textmsg", "influenza"} {
		spec, d := vitest.Paper(t, name)
		q := family.Softplus{}.At(spec.ThetaInit)
		for _, n := range []int{2, 33, 512, 1000} {
			meter, err := NewMeter(d, q, n, 5)
			require.NoError(t, err)
			want, err := ELBO(d, q, n, 5)
			require.NoError(t, err)
			got, err := meter.Measure(q)
			require.NoError(t, err)
			require.Equal(t, want, got, "%s, %d samples", name, n)
			again, err := meter.Measure(q)
			require.NoError(t, err)
			require.NotEqual(t, got, again)
		}
	}
}

func TestMetersDoNotAllocate(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	spec, d := vitest.Paper(t, "temperature")
	for _, f := range []family.Family{family.Softplus{}, family.MeanField{}, family.Structured{}, family.FullRank{}, family.LowRank{Rank: 3}} {
		q, err := family.Of(f, d, family.Softplus{}.At(spec.ThetaInit))
		require.NoError(t, err)
		elbo, err := NewMeter(d, q, 1000, 1)
		require.NoError(t, err)
		require.Zero(t, testing.AllocsPerRun(5, func() { _, _ = elbo.Measure(q) }), f.Name())
		for _, e := range meterEstimators {
			meter, err := NewGradientMeter(d, q, e, 16, 1)
			require.NoError(t, err)
			require.Zero(t, testing.AllocsPerRun(5, func() { _, _, _ = meter.Measure(q) }), "%s, %s", f.Name(), e.Name())
		}
	}
}

func TestMeterErrors(t *testing.T) {
	spec, d := vitest.Paper(t, "textmsg")
	q := family.Softplus{}.At(spec.ThetaInit)
	_, err := NewGradientMeter(d, q, gradient.Boundary{}, 1, 1)
	require.EqualError(t, err, "check: 1 draws; a variance needs 2")
	_, err = NewMeter(d, q, 1, 1)
	require.EqualError(t, err, "check: 1 samples; a standard error needs 2")

	theta := slices.Clone(spec.ThetaInit)
	theta[2] = math.NaN()
	bad := family.Softplus{}.At(theta)
	variance, err := NewGradientMeter(d, q, gradient.Boundary{}, 2, 1)
	require.NoError(t, err)
	_, _, err = variance.Measure(bad)
	require.ErrorContains(t, err, "check: latent x1: parameter μ is NaN")
	elbo, err := NewMeter(d, q, 2, 1)
	require.NoError(t, err)
	_, err = elbo.Measure(bad)
	require.ErrorContains(t, err, "check: latent x1: parameter μ is NaN")

	other, err := models.ByName("influenza")
	require.NoError(t, err)
	_, err = elbo.Measure(family.Softplus{}.At(other.ThetaInit))
	require.ErrorContains(t, err, "a family of 37 latents for 3")
}
