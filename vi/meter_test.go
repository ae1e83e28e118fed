package vi

import (
	"context"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/examples/models"
)

var meterEstimators = []Estimator{Boundary{}, SingleGuard(), Reparam{}, Score{}}

// A measurement is the textbook variance of as many draws, and the next one is
// of the draws after those.
func TestGradientMeterIsVariance(t *testing.T) {
	const draws = 16
	for _, name := range []string{"temperature", "textmsg", "influenza"} {
		spec, d := paperSpec(t, name)
		q := FromTheta(spec.ThetaInit)
		for _, e := range meterEstimators {
			meter, err := NewGradientMeter(d, e, draws, *seed)
			require.NoError(t, err)
			g, err := newGradienter(d, e, 1, *seed)
			require.NoError(t, err)
			for range 3 {
				parts, norms := make([][]float64, 2*d.Dim()), []float64{}
				for range draws {
					v, err := g.estimate(q)
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
	spec, d := paperSpec(t, "temperature")
	q := FromTheta(spec.ThetaInit)
	meter, err := NewGradientMeter(d, Boundary{}, 16, *seed)
	require.NoError(t, err)
	values := make([]float64, 1000)
	for k := range values {
		values[k], _, err = meter.Measure(q)
		require.NoError(t, err)
	}
	mean, sd := stat.MeanStdDev(values, nil)
	se := stat.StdErr(sd, float64(len(values)))
	all, err := Gradient(d, q, Boundary{}, GradientSettings{Draws: 16000, Seed: *seed + 1})
	require.NoError(t, err)
	rep, err := Gradient(d, q, Reparam{}, GradientSettings{Draws: 16000, Seed: *seed + 1})
	require.NoError(t, err)
	require.Less(t, 5*math.Sqrt2*se, 0.5*math.Abs(rep.AvgVar-all.AvgVar), "inconclusive")
	require.InDelta(t, all.AvgVar, mean, 5*math.Sqrt2*se)
	require.Greater(t, math.Abs(rep.AvgVar-mean), 5*math.Sqrt2*se)
}

// The first measurement is ELBO's, bit for bit; the following are others.
func TestELBOMeterIsELBO(t *testing.T) {
	for _, name := range []string{"temperature", "textmsg", "influenza"} {
		spec, d := paperSpec(t, name)
		q := FromTheta(spec.ThetaInit)
		for _, n := range []int{2, 33, 512, 1000} {
			meter, err := NewELBOMeter(d, n, 5)
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

// Measuring a fit does not change it.
func TestMetersLeaveTheFitAlone(t *testing.T) {
	spec, d := paperSpec(t, "influenza")
	start := FromTheta(spec.ThetaInit)
	s := Settings{Samples: 1, Steps: 20, Seed: 3, Start: &start}
	want, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	variance, err := NewGradientMeter(d, Boundary{}, 16, s.Seed)
	require.NoError(t, err)
	elbo, err := NewELBOMeter(d, 100, s.Seed)
	require.NoError(t, err)
	s.OnStep = func(step Step) error {
		before := step.Q.Clone()
		_, _, err := variance.Measure(step.Q)
		require.NoError(t, err)
		_, err = elbo.Measure(step.Q)
		require.NoError(t, err)
		require.Equal(t, before, step.Q)
		return nil
	}
	got, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	require.Equal(t, want.Q, got.Q)
}

func TestMetersDoNotAllocate(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	spec, d := paperSpec(t, "temperature")
	q := FromTheta(spec.ThetaInit)
	elbo, err := NewELBOMeter(d, 1000, 1)
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(5, func() { _, _ = elbo.Measure(q) }))
	for _, e := range meterEstimators {
		meter, err := NewGradientMeter(d, e, 16, 1)
		require.NoError(t, err)
		require.Zero(t, testing.AllocsPerRun(5, func() { _, _, _ = meter.Measure(q) }), e.Name())
	}
}

func TestMeterErrors(t *testing.T) {
	spec, d := paperSpec(t, "textmsg")
	_, err := NewGradientMeter(d, Boundary{}, 1, 1)
	require.EqualError(t, err, "vi: 1 draws; a variance needs 2")
	_, err = NewELBOMeter(d, 1, 1)
	require.EqualError(t, err, "vi: 1 samples; a standard error needs 2")

	bad := FromTheta(spec.ThetaInit)
	bad.Mu[1] = math.NaN()
	variance, err := NewGradientMeter(d, Boundary{}, 2, 1)
	require.NoError(t, err)
	_, _, err = variance.Measure(bad)
	require.ErrorContains(t, err, "vi: latent x1: mean NaN")
	elbo, err := NewELBOMeter(d, 2, 1)
	require.NoError(t, err)
	_, err = elbo.Measure(bad)
	require.ErrorContains(t, err, "vi: latent x1: mean NaN")

	other, err := models.ByName("influenza")
	require.NoError(t, err)
	_, err = elbo.Measure(FromTheta(other.ThetaInit))
	require.ErrorContains(t, err, "37 means and 37 scales for 3 latents")
}
