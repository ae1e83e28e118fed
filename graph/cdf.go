package graph

import (
	"math"

	"github.com/facetvi/facet/internal/lang"
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
func LogCDF[A Value](d Dist, x A) Expr { return tail(d.of, lift(x), false) }

// LogCCDF is log P(X > x) for an X with the distribution d: of a time, the log
// probability to survive it. It is −∞ above the support.
func LogCCDF[A Value](d Dist, x A) Expr { return tail(d.of, lift(x), true) }

// Mean is the mean of d, and NaN where d has none, or none in closed form.
func Mean(d Dist) Expr {
	return derived(d.of, "a moment", nil, func(d lang.Dist, _ []Expr) Expr { return d.Mean() })
}

// Variance is the variance of d, and NaN where d has none, or none in closed form.
func Variance(d Dist) Expr {
	return derived(d.of, "a moment", nil, func(d lang.Dist, _ []Expr) Expr { return d.Variance() })
}

func tail(d lang.Dist, x Expr, upper bool) Expr {
	return derived(d, "a distribution function", []Expr{x}, func(d lang.Dist, x []Expr) Expr { return d.Tail(x[0], upper) })
}

// derived is f of d and args, in each row where they are of a plate. It is NaN if there
// is something wrong with d.
func derived(d lang.Dist, what string, args []Expr, f func(d lang.Dist, args []Expr) Expr) Expr {
	m := owner(append(args, d.Params()...)...)
	if t := m.traces(); t != nil && !d.IsEmpty() {
		return t.Function(func() Expr { return derived(t.dist(d), what, t.valuesOf(args), f) }, append(args, d.Params()...)...)
	}
	if m == nil && (d.IsEmpty() || d.Err() != nil) || m != nil && !m.checkDist(d, what, m.within) {
		return lang.Number(math.NaN())
	}
	return f(d, args)
}
