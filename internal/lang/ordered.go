package lang

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// The laws of ordered draws, given those before. In log r their densities are without the powers
// of survival functions S, which cancel: with f the density of one draw,
//
//	x_0:            n·f(x_0)·S(x_0)ⁿ⁻¹
//	x_k after x_k−1:  (n−k)·f(x_k)·S(x_k)ⁿ⁻ᵏ⁻¹/S(x_k−1)ⁿ⁻ᵏ
//
// All but x_0 are gaps in the unconstrained coordinate. Draws and residuals have the whole.

// Least is the distribution of the least of n draws from d.
func (d Dist) Least(n int) Dist { return Dist{law: newLeastLaw(d.law, n), params: d.params} }

// Gap is the distribution of how far the least of n draws from d is above coordinate u, given that all n draws are above it.
func (d Dist) Gap(n int, u Expr) Dist {
	return Dist{law: newGapLaw(d.law, n), params: append(d.params[:len(d.params):len(d.params)], u)}
}

// newLeastLaw is the law of the least of n draws from base.
func newLeastLaw(base *Law, n int) *Law {
	least := func(u float64) float64 {
		return base.coordinate.shares.Quantile(share(u, n), math.Inf(-1), math.Inf(1))
	}
	low, median, high := least(0.16), least(0.5), least(0.84)
	width := (high - low) / 2
	return &Law{
		name: fmt.Sprintf("least of %d %s", n, base.name), params: base.params, support: base.support,
		supportAt: base.supportAt,
		logProb:   func(x Expr, p []Expr) Expr { return Add(math.Log(float64(n)), base.logProb(x, p)) },
		rand: func(p []float64, rng *rand.Rand) float64 {
			center, scale := base.coordinate.start(p)
			return center + scale*least(unitRand(rng))
		},
		coordinate: coordinate{
			start: func(p []float64) (center, scale float64) {
				center, scale = base.coordinate.start(p)
				return center + scale*median, scale * width
			},
			residual: func(e, center, scale float64, p []float64) float64 {
				e, scale = median+width*e, scale/width
				above := base.coordinate.shares.LogMass(e, math.Inf(1))
				return math.Log(width*float64(n)) + base.coordinate.residual(e, center-scale*median, scale, p) + powerLog(n-1, above)
			},
		},
	}
}

// powerLog is log sᵏ, given log s: 0 for k = 0.
func powerLog(k int, logS float64) float64 {
	if k == 0 {
		return 0
	}
	return float64(k) * logS
}

// newGapLaw is the law of how far the least of n draws from base is above a coordinate, given that all n draws are above
// it. That coordinate is the law's last parameter.
func newGapLaw(base *Law, n int) *Law {
	// at are the center and scale of base, its other parameters, and the last one in them.
	at := func(p []float64) (center, scale float64, params []float64, above float64) {
		params = p[:len(p)-1]
		center, scale = base.coordinate.start(params)
		return center, scale, params, (p[len(p)-1] - center) / scale
	}
	log := func(share, scale, above float64) float64 {
		return math.Log(scale * (base.coordinate.shares.Quantile(share, above, math.Inf(1)) - above))
	}
	low, median, high := share(0.16, n), share(0.5, n), share(0.84, n)
	return &Law{
		name: fmt.Sprintf("gap to the least of %d %s", n, base.name), support: Positives, params: append(base.params[:len(base.params):len(base.params)], param{"above", AnyReal}),
		logProb: func(gap Expr, p []Expr) Expr {
			params := p[:len(p)-1]
			s, u := (Dist{law: base, params: params}).Support(), Add(p[len(p)-1], gap)
			return Add(math.Log(float64(n)), Add(base.logProb(s.forward(s, u), params), s.logJac(s, u)))
		},
		rand: func(p []float64, rng *rand.Rand) float64 {
			_, scale, _, above := at(p)
			return log(share(unitRand(rng), n), scale, above)
		},
		coordinate: coordinate{
			start: func(p []float64) (logGap, width float64) {
				_, scale, _, above := at(p)
				return log(median, scale, above), (log(high, scale, above) - log(low, scale, above)) / 2
			},
			residual: func(e, logGap, width float64, p []float64) float64 {
				logGap += width * e
				center, scale, params, above := at(p)
				e = above + math.Exp(logGap)/scale
				left, before := base.coordinate.shares.LogMass(e, math.Inf(1)), base.coordinate.shares.LogMass(above, math.Inf(1))
				return math.Log(width*float64(n)/scale) + logGap + base.coordinate.residual(e, center, scale, params) + powerLog(n-1, left) - float64(n)*before
			},
		},
	}
}

// share is the share of a distribution that is below the least of n draws from it, of which the
// probability that it is smaller is u.
func share(u float64, n int) float64 { return -math.Expm1(math.Log1p(-u) / float64(n)) }
