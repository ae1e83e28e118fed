package lang

import (
	"math"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// Apply is f(a).
func Apply(f kernel.Function, a Expr) Expr { return apply1(f, a) }

// Add is a + b.
func Add[A, B Value](a A, b B) Expr { return plus(Lift(a), 1, Lift(b)) }

// Sub is a − b.
func Sub[A, B Value](a A, b B) Expr { return plus(Lift(a), -1, Lift(b)) }

// Mul is a·b.
func Mul[A, B Value](a A, b B) Expr {
	x, y := Lift(a), Lift(b)
	if x.m == nil {
		return mul(y, x)
	}
	return mul(x, y)
}

// Div is a/b.
func Div[A, B Value](a A, b B) Expr {
	return apply2(a, b, func(a, b float64) float64 { return a / b }, (*ir.Store).Div)
}

// Pow is a to the power of b. Where b is not a constant, a must be positive for
// the gradient to exist.
func Pow[A, B Value](a A, b B) Expr { return apply2(a, b, math.Pow, (*ir.Store).Pow) }

// Sum is the sum of xs, and 0 without any.
func Sum(xs ...Expr) Expr {
	var total Expr
	for _, x := range xs {
		total = Add(total, x)
	}
	return total
}

// Neg is −a.
func Neg[A Value](a A) Expr { return Mul(-1, a) }

// Exp is eᵃ.
func Exp[A Value](a A) Expr { return apply1(kernel.Exp, a) }

// Log is the natural logarithm.
func Log[A Value](a A) Expr { return apply1(kernel.Log, a) }

// Log1p is log(1 + a), exact for small a.
func Log1p[A Value](a A) Expr { return apply1(kernel.Log1p, a) }

// Expm1 is eᵃ − 1, exact for small a.
func Expm1[A Value](a A) Expr { return apply1(kernel.Expm1, a) }

// Square is a².
func Square[A Value](a A) Expr { return apply1(kernel.Square, a) }

// Sigmoid is 1/(1 + e⁻ᵃ), the inverse of logit.
func Sigmoid[A Value](a A) Expr { return apply1(kernel.Sigmoid, a) }

// Softplus is log(1 + eᵃ).
func Softplus[A Value](a A) Expr { return apply1(kernel.Softplus, a) }

// LogNormalCDF is log Φ(a), exact also where Φ(a) is less than any number.
func LogNormalCDF[A Value](a A) Expr { return apply1(kernel.LogNormalCDF, a) }

// NormalQuantile is the x with Φ(x) = a, for a in (0, 1).
func NormalQuantile[A Value](a A) Expr { return apply1(kernel.NormalQuantile, a) }

// Lgamma is log Γ(a), for a > 0.
func Lgamma[A Value](a A) Expr { return apply1(kernel.Lgamma, a) }

// LogSumExp is log Σ exp(xs), without overflow; −∞ without any.
func LogSumExp(xs ...Expr) Expr {
	switch n := len(xs); n {
	case 0:
		return Expr{v: math.Inf(-1)}
	case 1:
		return xs[0]
	default:
		return applyPair(kernel.LogAddExp, LogSumExp(xs[:n/2]...), LogSumExp(xs[n/2:]...))
	}
}

// LogDiffExp is log(eᵃ − eᵇ) for a ≥ b, without overflow.
func LogDiffExp[A, B Value](a A, b B) Expr { return applyPair(kernel.LogDiffExp, Lift(a), Lift(b)) }
