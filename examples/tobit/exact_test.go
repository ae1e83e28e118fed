package main

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/vi"
)

// The program's latents but for what is desired, in its own coordinates.
const (
	level = iota
	age
	liquidity
	logSpread
	limit
	dim
)

// wish is what a household desires.
func wish(z []float64, h household) distuv.Normal {
	mean := z[level] + z[age]*(h.age-middleAge)/ageUnit + z[liquidity]*(h.liquidity-middleLiquidity)/liquidityUnit
	return distuv.Normal{Mu: mean, Sigma: math.Exp(z[logSpread])}
}

// logLikelihood is that of the data with what is desired integrated out, if a
// record is wrong with the given probability.
func logLikelihood(z []float64, wrong float64) float64 {
	sum := 0.0
	for _, h := range households {
		d := wish(z, h)
		switch {
		case h.spent == 0:
			sum += math.Log(wrong + (1-2*wrong)*d.CDF(z[limit]))
		case h.spent > z[limit]:
			sum += d.LogProb(h.spent) + math.Log(1-wrong)
		default:
			sum += d.LogProb(h.spent) + math.Log(wrong)
		}
	}
	return sum
}

func logPrior(z []float64) float64 {
	wide := distuv.Normal{Sigma: 5}
	return wide.LogProb(z[level]) + wide.LogProb(z[age]) + wide.LogProb(z[liquidity]) +
		math.Ln2 + wide.LogProb(math.Exp(z[logSpread])) + z[logSpread] + distuv.UnitNormal.LogProb(z[limit])
}

// With the limit at 0 and no wrong records the maximum likelihood is what R's
// survreg(Surv(durable, durable > 0, type = "left") ~ age + quant, tobin, dist =
// "gaussian") prints: the tobit regression among the examples of its help page.
func TestMaximumLikelihood(t *testing.T) {
	best, err := optimize.Minimize(optimize.Problem{Func: func(z []float64) float64 {
		return -logLikelihood(append(append([]float64(nil), z...), 0), 0)
	}}, []float64{0, 0, 0, 1}, nil, &optimize.NelderMead{})
	require.NoError(t, err)
	byYear, byPoint := best.X[age]/ageUnit, best.X[liquidity]/liquidityUnit
	assert.InDelta(t, 15.14487, best.X[level]-byYear*middleAge-byPoint*middleLiquidity, 1e-3)
	assert.InDelta(t, -0.12906, byYear, 1e-5)
	assert.InDelta(t, -0.04554, byPoint, 1e-5)
	assert.InDelta(t, 5.57254, math.Exp(best.X[logSpread]), 1e-4)
	assert.InDelta(t, -28.9, -best.F, 0.05)
}

// exact is the posterior by importance sampling.
type exact struct {
	evidence, evidenceSE float64
	mean, sd             []float64
	below                float64 // probability that the limit is below the smallest purchase
	size                 float64 // effective sample size
}

// sample draws from Student's t, fitted to the posterior by the draws of the
// round before.
func sample() exact {
	const rounds, n = 3, 20000
	mean, cov := []float64{-2, -1, -1, 1.7, 0}, mat.NewSymDense(dim, nil)
	for i, v := range []float64{4, 4, 4, 0.2, 1} {
		cov.SetSym(i, i, v)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var e exact
	for range rounds {
		q, ok := distmv.NewStudentsT(mean, cov, 5, rng)
		if !ok {
			panic("tobit: covariance is not positive definite")
		}
		x, w := mat.NewDense(n, dim, nil), make([]float64, n)
		for k := range w {
			z := q.Rand(x.RawRowView(k))
			w[k] = logLikelihood(z, wrong) + logPrior(z) - q.LogProb(z)
		}
		total := floats.LogSumExp(w)
		e = exact{evidence: total - math.Log(n)}
		squares := 0.0
		for k := range w {
			w[k] = n * math.Exp(w[k]-total)
			squares += w[k] * w[k]
			if x.At(k, limit) < smallestPurchase() {
				e.below += w[k] / n
			}
		}
		e.size = n * n / squares
		e.evidenceSE = math.Sqrt((1/e.size - 1.0/n))
		cov = mat.NewSymDense(dim, nil)
		stat.CovarianceMatrix(cov, x, w)
		for i := range mean {
			mean[i] = stat.Mean(mat.Col(nil, i, x), w)
			e.sd = append(e.sd, math.Sqrt(cov.At(i, i)))
		}
	}
	e.mean = mean
	return e
}

// The fit against the exact posterior: means within a third of an exact standard
// deviation; standard deviations too small, as those of a mean-field fit are
// where latents hang together, but more than half of the exact ones; and the same
// answer about the limit.
func TestPosteriorExact(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	want := sample()
	require.Greater(t, want.size, 5000.0, "inconclusive: too few effective draws")

	fit, err := fitted(context.Background(), 3000, 1)
	require.NoError(t, err)
	for i, name := range fit.Density.Latents()[:dim] {
		assert.InDelta(t, want.mean[i], fit.Q.Mean(i), want.sd[i]/3, name)
		assert.Less(t, fit.Q.SD(i), want.sd[i], name)
		assert.Greater(t, fit.Q.SD(i), want.sd[i]/2, name)
	}
	below := 0.0
	limits, err := fit.Draws(10000, 0).Of("limit")
	require.NoError(t, err)
	for _, l := range limits {
		if l < smallestPurchase() {
			below += 1 / float64(len(limits))
		}
	}
	assert.InDelta(t, want.below, below, 0.05)
	elbo, err := fit.ELBO(4000, 0)
	require.NoError(t, err)
	assert.Less(t, elbo.Mean, want.evidence-5*want.evidenceSE-5*elbo.SE)
	assert.Greater(t, elbo.Mean, want.evidence-4)
}

// Reparameterization alone does not see that who bought nothing wants less than
// the limit, nor that the limit is below the purchases.
func TestReparamFails(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	density, err := survey(households).Compile()
	require.NoError(t, err)
	start, err := vi.StartAt(density, map[string]float64{"limit": 0})
	require.NoError(t, err)
	var elbo []float64
	for _, e := range []vi.Estimator{vi.Boundary{}, vi.Reparam{}} {
		fit, err := vi.Fit(context.Background(), density, vi.Settings{Estimator: e, Steps: 3000, Start: start, Seed: 1})
		require.NoError(t, err)
		estimate, err := fit.ELBO(10000, 0)
		require.NoError(t, err)
		elbo = append(elbo, estimate.Mean)
	}
	assert.Less(t, elbo[1], elbo[0]-10)
}

// The density of the program is that of what is desired and of the records;
// integrating each desired latent leaves logLikelihood.
func TestLikelihoodAgainstDensity(t *testing.T) {
	density, err := survey(households).Compile()
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(3, 4))
	for _, l := range []float64{-0.4, 0.4, 2} {
		z := make([]float64, density.Dim())
		copy(z, []float64{-2, -1, -0.5, 1.6, l})
		want, j := logPrior(z[:dim]), dim
		record := func(right bool) float64 {
			if right {
				return math.Log(0.99)
			}
			return math.Log(0.01)
		}
		for _, h := range households {
			d := wish(z, h)
			if h.spent > 0 {
				want += d.LogProb(h.spent) + record(h.spent > l)
				continue
			}
			z[j] = d.Mu + d.Sigma*rng.NormFloat64()
			want += d.LogProb(z[j]) + record(z[j] <= l)
			j++
		}
		got, err := density.LogProb(z)
		require.NoError(t, err)
		assert.InDelta(t, want, got, 1e-9)
	}
}
