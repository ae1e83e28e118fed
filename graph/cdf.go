package graph

import (
	"math"

	"github.com/facetvi/facet/internal/kernel"
)

// Distribution functions, with gradients by x and by all parameters. They are made of
// their logarithms, which are exact to a relative 1e-12 in both tails: also where the
// probability is less than any number. Those of Gamma, ChiSquared, InverseGamma,
// Poisson, Beta, Binomial, NegativeBinomial and StudentsT are series and continued
// fractions of about 6·√shape terms, differentiated term by term in the shapes. They have been
// compared for shapes from 10⁻¹⁰⁰ to 10⁶ of Gamma, to 10⁵ of Beta, and any degrees of freedom
// of StudentsT.

// CDF is P(X ≤ x) for an X with the distribution d.
func CDF[A Value](d Dist, x A) Expr { return Exp(LogCDF(d, x)) }

// LogCDF is log P(X ≤ x) for an X with the distribution d; −∞ below its support. If d is of whole
// numbers, x must be a plain number or an expression whose values are whole.
func LogCDF[A Value](d Dist, x A) Expr { return d.distribution(lift(x), false) }

// LogCCDF is log P(X > x) for an X with the distribution d: of a time, the log
// probability to survive it. It is −∞ above the support.
func LogCCDF[A Value](d Dist, x A) Expr { return d.distribution(lift(x), true) }

// Mean is the mean of d, and NaN where d has none, or none in closed form.
func Mean(d Dist) Expr { return d.moment(func(f *law) func(p []Expr) Expr { return f.mean }) }

// Variance is the variance of d, and NaN where d has none, or none in closed form.
func Variance(d Dist) Expr { return d.moment(func(f *law) func(p []Expr) Expr { return f.variance }) }

// distribution is logTail for the user's d and x.
func (d Dist) distribution(x Expr, upper bool) Expr {
	return d.derive("a distribution function", []Expr{x}, func(d Dist, x []Expr) Expr {
		if !d.hasCDF() {
			return d.reject(x[0], "has no distribution function")
		}
		return d.logTail(x[0], upper)
	})
}

func (d Dist) moment(of func(f *law) func(p []Expr) Expr) Expr {
	return d.derive("a moment", nil, func(d Dist, _ []Expr) Expr {
		f := of(d.law)
		if f == nil {
			return Expr{v: math.NaN()}
		}
		return f(d.params)
	})
}

// derive is f of d and args, in each row where they are of a plate. It is NaN if there
// is something wrong with d.
func (d Dist) derive(what string, args []Expr, f func(d Dist, args []Expr) Expr) Expr {
	m := owner(append(args, d.params...)...)
	if t := m.traces(); t != nil && d.law != nil {
		return t.function(func() Expr { return t.dist(d).derive(what, t.valuesOf(args), f) }, append(args, d.params...)...)
	}
	if m == nil && (d.law == nil || d.err != nil) || m != nil && !m.checkDist(d, what, m.within) {
		return Expr{v: math.NaN()}
	}
	return f(d, args)
}

// reject is NaN, and an error of the model if there is one.
func (d Dist) reject(x Expr, why string) Expr {
	if m := owner(append([]Expr{x}, d.params...)...); m != nil {
		m.fail("%s %s", d.law.name, why)
	}
	return Expr{v: math.NaN()}
}

func (d Dist) hasCDF() bool { return d.law.logCDF != nil }

// logTail is log P(X > x) if upper, else log P(X ≤ x), for any x.
func (d Dist) logTail(x Expr, upper bool) Expr {
	s, f := d.support(), d.law.logCDF
	if upper {
		f = d.law.logCCDF
	}
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
	return times(apply1(kernel.Is0, applyPair(kernel.Greatest, Sub(s.lo, x), Expr{})), clipped)
}

// logSigmoid is the logarithm of a probability with these log odds.
func logSigmoid(odds Expr) Expr { return Neg(Softplus(Neg(odds))) }

// gammaOdds and betaOdds are log P(X ≤ x)/P(X > x) of the gamma distribution with rate 1 and of the beta distribution.
func gammaOdds(alpha, x Expr) Expr      { return applyPair(kernel.LogOddsGamma, alpha, x) }
func betaOdds(x, alpha, beta Expr) Expr { return applyTriple(kernel.LogOddsBeta, x, alpha, beta) }

// certainly is the logarithm of 1 or of 0.
func certainly(is bool) Expr {
	if is {
		return Expr{}
	}
	return Expr{v: math.Inf(-1)}
}
