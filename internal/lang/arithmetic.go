package lang

import (
	"math"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// Add is a + b.
func Add[A, B Value](a A, b B) Expr { return plus(Lift(a), 1, Lift(b)) }

// Sub is a − b.
func Sub[A, B Value](a A, b B) Expr { return plus(Lift(a), -1, Lift(b)) }

// plus is a + c·b, where c is 1 or −1. A number need not be a node.
func plus(a Expr, c float64, b Expr) Expr {
	m := Owner(a, b)
	if m == nil {
		if c == 1 {
			return Computed(func(a, b float64) float64 { return a + b }, a, b)
		}
		return Computed(func(a, b float64) float64 { return a - b }, a, b)
	}
	if t := tracer(m); t != nil {
		return t.Function(func() Expr { return plus(t.ValueOf(a), c, t.ValueOf(b)) }, a, b)
	}
	return Expr{m: m, id: m.Store().SumOf(1, a.combination(m, m.Store().Some[0][:]), c, b.combination(m, m.Store().Some[1][:]))}
}

// combination is x as one in m, with room for one term.
func (x Expr) combination(m Program, room []ir.Term) ir.Combination {
	if x.m == nil && x.rounded().Is(ir.IsFinite) {
		return ir.Combination{V: ir.WrittenAs(x.rounded())}
	}
	return m.Store().CombinationIn(In(x, m), room)
}

// Mul is a·b.
func Mul[A, B Value](a A, b B) Expr {
	x, y := Lift(a), Lift(b)
	if x.m == nil {
		return mul(y, x)
	}
	return mul(x, y)
}

func mul(x, y Expr) Expr {
	if t := tracer(Owner(x, y)); t != nil {
		return t.Function(func() Expr { return Mul(t.ValueOf(x), t.ValueOf(y)) }, x, y)
	}
	if x.m != nil && y.m == nil && y.rounded().Is(ir.IsFinite) { // a number need not be a node
		return Expr{m: x.m, id: x.m.Store().MulNumber(y.rounded(), x.id)}
	}
	return apply2(x, y, func(a, b float64) float64 { return a * b }, (*ir.Store).Mul)
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
func Exp[A Value](a A) Expr { return Apply(kernel.Exp, a) }

// Log is the natural logarithm.
func Log[A Value](a A) Expr { return Apply(kernel.Log, a) }

// Log1p is log(1 + a), exact for small a.
func Log1p[A Value](a A) Expr { return Apply(kernel.Log1p, a) }

// Expm1 is eᵃ − 1, exact for small a.
func Expm1[A Value](a A) Expr { return Apply(kernel.Expm1, a) }

// Square is a².
func Square[A Value](a A) Expr { return Apply(kernel.Square, a) }

// Sigmoid is 1/(1 + e⁻ᵃ), the inverse of logit.
func Sigmoid[A Value](a A) Expr { return Apply(kernel.Sigmoid, a) }

// Softplus is log(1 + eᵃ).
func Softplus[A Value](a A) Expr { return Apply(kernel.Softplus, a) }

// LogNormalCDF is log Φ(a), exact also where Φ(a) is less than any number.
func LogNormalCDF[A Value](a A) Expr { return Apply(kernel.LogNormalCDF, a) }

// NormalQuantile is the x with Φ(x) = a, for a in (0, 1).
func NormalQuantile[A Value](a A) Expr { return Apply(kernel.NormalQuantile, a) }

// Lgamma is log Γ(a), for a > 0.
func Lgamma[A Value](a A) Expr { return Apply(kernel.Lgamma, a) }

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

// times is data·b for an observed or latent x, where 0·b is 0 even for an
// infinite b: the term x·log p of a count x = 0.
func times[A, B Value](x A, b B) Expr {
	return apply2(x, b, kernel.MulData.Value2, (*ir.Store).MulData)
}

// abs is |a|.
func abs[A Value](a A) Expr { return Apply(kernel.Abs, a) }

// Apply is f(a).
func Apply[A Value](f kernel.Function, a A) Expr {
	x := Lift(a)
	if x.m == nil {
		return Computed(func(a, _ float64) float64 { return f.Value(a) }, x, Expr{})
	}
	if t := x.m.Tracer(); t != nil {
		return t.Function(func() Expr { return Apply(f, t.ValueOf(x)) }, x)
	}
	return Expr{m: x.m, id: x.m.Store().Unary(f, x.id)}
}

// apply2 is a function of a and b: value of numbers, and what build makes of nodes.
func apply2[A, B Value](a A, b B, value func(a, b float64) float64, build func(s *ir.Store, a, b ir.ID) ir.ID) Expr {
	x, y := Lift(a), Lift(b)
	m := Owner(x, y)
	if m == nil {
		return Computed(value, x, y)
	}
	if t := tracer(m); t != nil {
		return t.Function(func() Expr { return apply2(t.ValueOf(x), t.ValueOf(y), value, build) }, x, y)
	}
	return Expr{m: m, id: build(m.Store(), In(x, m), In(y, m))}
}

// applyPair is f(a, b), and applyTriple f(a, b, c).
func applyPair(f kernel.Function, a, b Expr) Expr {
	return apply2(a, b, f.Value2, func(s *ir.Store, a, b ir.ID) ir.ID { return s.Pair(f, a, b) })
}

func applyTriple(f kernel.Function, a, b, c Expr) Expr {
	m := Owner(a, b, c)
	if m == nil {
		return Expr{v: f.Value3(a.v, b.v, c.v)}
	}
	if t := tracer(m); t != nil {
		return t.Function(func() Expr { return applyTriple(f, t.ValueOf(a), t.ValueOf(b), t.ValueOf(c)) }, a, b, c)
	}
	return Expr{m: m, id: m.Store().Triple(f, In(a, m), In(b, m), In(c, m))}
}
