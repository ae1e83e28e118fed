//go:build long

package tobit

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat/distuv"
)

// The numbers of Exact are what a coarser lattice gives.
func TestExact(t *testing.T) {
	want, got := Exact(), integrate(0.8)
	assert.InDelta(t, want.LogEvidence, got.LogEvidence, 1e-6)
	assert.InDeltaSlice(t, want.Guards, got.Guards, 1e-7)
	require.Len(t, want.Latents, len(got.Latents))
	for i, m := range want.Latents {
		assert.InDelta(t, m.Mean, got.Latents[i].Mean, 1e-6)
		assert.InDelta(t, m.SD, got.Latents[i].SD, 1e-6)
	}
}

// With the limit at 0 and no wrong records the maximum likelihood is what R's
// survreg(Surv(durable, durable > 0, type = "left") ~ age + quant, tobin, dist =
// "gaussian") prints: the tobit regression among the examples of its help page.
func TestMaximumLikelihood(t *testing.T) {
	best, err := optimize.Minimize(optimize.Problem{Func: func(v []float64) float64 {
		sum, p := 0.0, newPoint(v, 1)
		for i, h := range Households {
			if d := (distuv.Normal{Mu: p.means[i], Sigma: p.spread}); h.Spent > 0 {
				sum -= d.LogProb(h.Spent)
			} else {
				sum -= math.Log(d.CDF(0))
			}
		}
		return sum
	}}, []float64{0, 0, 0, 1}, nil, &optimize.NelderMead{})
	require.NoError(t, err)
	p := newPoint(best.X, 1)
	byYear, byPoint := p.coefficients[1]/AgeUnit, p.coefficients[2]/LiquidityUnit
	assert.InDelta(t, 15.14487, p.coefficients[0]-byYear*MiddleAge-byPoint*MiddleLiquidity, 1e-3)
	assert.InDelta(t, -0.12906, byYear, 1e-5)
	assert.InDelta(t, -0.04554, byPoint, 1e-5)
	assert.InDelta(t, 5.57254, p.spread, 1e-4)
	assert.InDelta(t, -28.9, -best.F, 0.05)
}

// The density of the program is that of what is desired and of the records;
// integrating each desired latent leaves the point's.
func TestPointAgainstDensity(t *testing.T) {
	density, err := Model(Households).Compile()
	require.NoError(t, err)
	require.Len(t, Exact().Latents, density.Dim())
	require.Len(t, Exact().Guards, len(density.Named("enough")))
	rng := rand.New(rand.NewPCG(3, 4))
	for _, limit := range []float64{-0.4, 0.4, 2} {
		z := make([]float64, density.Dim())
		copy(z, []float64{-2, -1, -0.5, 1.6, limit})
		s := math.Exp(z[3])
		p := newPoint([]float64{z[0] / s, z[1] / s, z[2] / s, z[3]}, 1)
		want := p.log - 3*z[3] + distuv.UnitNormal.LogProb(limit) + p.given(limit)
		j := 5
		for i, h := range Households {
			if h.Spent > 0 {
				continue
			}
			d := distuv.Normal{Mu: p.means[i], Sigma: s}
			z[j] = d.Mu + d.Sigma*rng.NormFloat64()
			record := Wrong
			if z[j] <= limit {
				record = 1 - Wrong
			}
			want += d.LogProb(z[j]) + math.Log(record/(Wrong+(1-2*Wrong)*d.CDF(limit)))
			j++
		}
		got, err := density.LogProb(z)
		require.NoError(t, err)
		assert.InDelta(t, want, got, 1e-9)
	}
}

// What is desired has the moments of a normal of which the part above the limit
// is kept with the probability of a wrong record.
func TestDesired(t *testing.T) {
	const mean, sd, limit = -3.0, 4.0, 0.7
	var s sums
	s.desired(2, 1, mean, sd, limit)
	rng := rand.New(rand.NewPCG(5, 6))
	var n, sum, square, above float64
	for range 400000 {
		x := mean + sd*rng.NormFloat64()
		keep := 1 - Wrong
		if x > limit {
			keep = Wrong
		}
		n, sum, square = n+keep, sum+keep*x, square+keep*x*x
		if x > limit {
			above += keep
		}
	}
	m := s.moments[5+2].Moments()
	assert.InDelta(t, sum/n, m.Mean, 0.03)
	assert.InDelta(t, math.Sqrt(square/n-sum*sum/(n*n)), m.SD, 0.03)
	assert.InDelta(t, above/n, s.guards[2], 0.001)
}
