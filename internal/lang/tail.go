package lang

import (
	"math"

	"github.com/facetvi/facet/internal/kernel"
)

// Tail is log P(X > x) if upper, else log P(X ≤ x), for any x. It is NaN, and an error of the program, where d has no distribution function.
func (d Dist) Tail(x Expr, upper bool) Expr {
	if d.HasCDF() {
		return d.logTail(x, upper)
	}
	if m := Owner(append([]Expr{x}, d.params...)...); m != nil {
		m.Fail("%s has no distribution function", d.law.name)
	}
	return Expr{v: math.NaN()}
}

// Mean is the mean, and NaN where there is none in closed form.
func (d Dist) Mean() Expr { return d.moment(d.law.moments.mean) }

// Variance is the variance, and NaN where there is none in closed form.
func (d Dist) Variance() Expr { return d.moment(d.law.moments.variance) }

func (d Dist) moment(of func(p []Expr) Expr) Expr {
	if of == nil {
		return Expr{v: math.NaN()}
	}
	return of(d.params)
}

// HasCDF reports whether d has a distribution function.
func (d Dist) HasCDF() bool { return d.law.tails.logCDF != nil }

// logTail is log P(X > x) if upper, else log P(X ≤ x), for any x.
func (d Dist) logTail(x Expr, upper bool) Expr {
	s, f := d.Support(), d.law.tails.of(upper)
	v, known := x.IsConst()
	switch {
	case known && s.whole:
		v = math.Floor(v)
		x = Expr{v: v}
	case !known && !math.IsInf(s.hi, 1):
		x = applyPair(kernel.Least, x, Expr{v: s.hi})
	}
	switch {
	case known && (v < s.lo || !s.whole && v == s.lo):
		return certainly(upper)
	case known && v >= s.hi:
		return certainly(!upper)
	case known || math.IsInf(s.lo, -1):
		return f(x, d.params)
	}
	clipped := f(applyPair(kernel.Greatest, x, Expr{v: s.lo}), d.params)
	switch { // of whole numbers the least one has a probability
	case !s.whole:
		return clipped
	case !upper:
		return applyPair(kernel.IfNonNegative, Sub(x, s.lo), clipped)
	}
	return times(Apply(kernel.Is0, applyPair(kernel.Greatest, Sub(s.lo, x), Expr{})), clipped)
}

// logSigmoid is the logarithm of a probability with these log odds.
func logSigmoid(odds Expr) Expr { return Neg(Softplus(Neg(odds))) }

// gammaOdds and betaOdds are log P(X ≤ x)/P(X > x) of the gamma distribution with rate 1 and of the beta distribution.
func gammaOdds(alpha, x Expr) Expr { return applyPair(kernel.LogOddsGamma, alpha, x) }

func betaOdds(x, alpha, beta Expr) Expr { return applyTriple(kernel.LogOddsBeta, x, alpha, beta) }

// certainly is the logarithm of 1 or of 0.
func certainly(is bool) Expr {
	if is {
		return Expr{}
	}
	return Expr{v: math.Inf(-1)}
}

// StandardNormal is the prior of the coordinate of noise.
var StandardNormal = Dist{law: Normal, params: []Expr{{}, {v: 1}}}

// CutsOf are the coordinates up to which noise has the values up to each of values but the last.
func (d Dist) CutsOf(values []float64) (cuts []Expr) {
	for j, x := range values[:len(values)-1] {
		if d.law.tails.weighted {
			cuts = append(cuts, NormalQuantile(Div(Sum(d.params[:j+1]...), Sum(d.params...))))
			continue
		}
		logCDF := d.logTail(Expr{v: x}, false)
		cuts = append(cuts, Apply(kernel.LogNormalQuantile, logCDF))
	}
	return cuts
}

// located is location + scale·x for the quantile x of a standard law.
func located(f kernel.Function) func(u Expr, p []Expr) Expr {
	return func(u Expr, p []Expr) Expr { return Add(p[0], Mul(p[1], Apply(f, u))) }
}

// scaled is scale·x for the quantile x of a standard law.
func scaled(f kernel.Function) func(u Expr, p []Expr) Expr {
	return func(u Expr, p []Expr) Expr { return Mul(p[0], Apply(f, u)) }
}

// logExponential is the logarithm of a draw of the exponential distribution with rate 1.
func logExponential(u Expr) Expr { return Log(Apply(kernel.ExponentialOfNormal, u)) }

// standardGamma is a draw of the gamma distribution with shape a and rate 1.
func standardGamma(u, a Expr) Expr { return Exp(applyPair(kernel.LogGammaOfNormal, u, a)) }
