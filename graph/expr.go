package graph

import (
	"fmt"
	"math"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// An Expr is a scalar value of a model: a latent, a number, or something
// computed from them. The zero Expr is the number 0. An Expr belongs to the
// model whose latents it uses; a plain number belongs to none.
type Expr struct {
	m  *Model
	id ir.ID
	v  float64 // the value where m is nil

	err  float64    // of v, by the operations that made it; see rounded
	from *ir.Source // of v; see recording
}

// Value is what the functions of the language take: expressions and plain
// numbers, mixed as they come.
type Value interface{ Expr | float64 | int }

func lift[V Value](v V) Expr {
	x, _ := toExpr(v)
	return x
}

// toExpr is v as an expression, if it is a Value.
func toExpr(v any) (x Expr, ok bool) {
	switch v := v.(type) {
	case Expr:
		return v, true
	case float64:
		return Expr{v: v}, true
	case int:
		return Expr{v: float64(v)}, true
	}
	return Expr{}, false
}

// in returns the node of x in model m.
func (x Expr) in(m *Model) ir.ID {
	switch x.m {
	case nil:
		v := x.rounded().Raw()
		if !ir.IsFinite(v) && m.err == nil {
			m.fail("the number %v is not finite%s", v, onlyObserved(v))
			m.infinite = m.err
		}
		return m.st.Node(ir.Combination{V: ir.Rounded{V: v, Err: x.err}})
	case m:
		return x.id
	}
	m.fail("%s", foreign(x))
	return m.st.Constant(0)
}

// IsConst reports whether x is a plain number, and which.
func (x Expr) IsConst() (float64, bool) {
	if x.m == nil {
		return x.rounded().Raw(), true
	}
	return x.m.st.IsConst(x.id)
}

// owner is the model that xs belong to: that of a plate's body before the model
// outside. It is nil for numbers.
func owner(xs ...Expr) (m *Model) {
	for _, x := range xs {
		if x.m != nil && (m == nil || x.m.tape != nil) {
			m = x.m
		}
	}
	return m
}

func apply1[A Value](f kernel.Function, a A) Expr {
	x := lift(a)
	if x.m == nil {
		return number(func(a, _ float64) float64 { return f.Value(a) }, x, Expr{})
	}
	if t := x.m.traces(); t != nil {
		return t.function(func() Expr { return apply1(f, t.valueOf(x)) }, x)
	}
	return Expr{m: x.m, id: x.m.st.Unary(f, x.id)}
}

func apply2[A, B Value](a A, b B, value func(a, b float64) float64, build func(s *ir.Store, a, b ir.ID) ir.ID) Expr {
	x, y := lift(a), lift(b)
	m := owner(x, y)
	if m == nil {
		return number(value, x, y)
	}
	if t := m.traces(); t != nil {
		return t.function(func() Expr { return apply2(t.valueOf(x), t.valueOf(y), value, build) }, x, y)
	}
	return Expr{m: m, id: build(m.st, x.in(m), y.in(m))}
}

// applyPair is f(a, b), and applyTriple f(a, b, c).
func applyPair(f kernel.Function, a, b Expr) Expr {
	return apply2(a, b, f.Value2, func(s *ir.Store, a, b ir.ID) ir.ID { return s.Pair(f, a, b) })
}

func applyTriple(f kernel.Function, a, b, c Expr) Expr {
	m := owner(a, b, c)
	if m == nil {
		return Expr{v: f.Value3(a.v, b.v, c.v)}
	}
	if t := m.traces(); t != nil {
		return t.function(func() Expr { return applyTriple(f, t.valueOf(a), t.valueOf(b), t.valueOf(c)) }, a, b, c)
	}
	return Expr{m: m, id: m.st.Triple(f, a.in(m), b.in(m), c.in(m))}
}

// Add is a + b.
func Add[A, B Value](a A, b B) Expr { return plus(lift(a), 1, lift(b)) }

// Sub is a − b.
func Sub[A, B Value](a A, b B) Expr { return plus(lift(a), -1, lift(b)) }

// plus is a + c·b, where c is 1 or −1. A number need not be a node.
func plus(a Expr, c float64, b Expr) Expr {
	m := owner(a, b)
	if m == nil {
		if c == 1 {
			return number(func(a, b float64) float64 { return a + b }, a, b)
		}
		return number(func(a, b float64) float64 { return a - b }, a, b)
	}
	if t := m.traces(); t != nil {
		return t.function(func() Expr { return plus(t.valueOf(a), c, t.valueOf(b)) }, a, b)
	}
	return Expr{m: m, id: m.st.SumOf(1, a.combination(m, m.st.Some[0][:]), c, b.combination(m, m.st.Some[1][:]))}
}

// combination is x as one in m, with room for one term.
func (x Expr) combination(m *Model, room []ir.Term) ir.Combination {
	if x.m == nil && x.rounded().Is(ir.IsFinite) {
		return ir.Combination{V: ir.WrittenAs(x.rounded())}
	}
	return m.st.CombinationIn(x.in(m), room)
}

// Mul is a·b.
func Mul[A, B Value](a A, b B) Expr {
	x, y := lift(a), lift(b)
	if x.m == nil {
		return mul(y, x)
	}
	return mul(x, y)
}

func mul(x, y Expr) Expr {
	if t := owner(x, y).traces(); t != nil {
		return t.function(func() Expr { return Mul(t.valueOf(x), t.valueOf(y)) }, x, y)
	}
	if x.m != nil && y.m == nil && y.rounded().Is(ir.IsFinite) { // a number need not be a node
		return Expr{m: x.m, id: x.m.st.MulNumber(y.rounded(), x.id)}
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
func Exp[A Value](a A) Expr { return apply1(kernel.Exp, a) }

// Log is the natural logarithm.
func Log[A Value](a A) Expr { return apply1(kernel.Log, a) }

// Log1p is log(1 + a), exact for small a.
func Log1p[A Value](a A) Expr { return apply1(kernel.Log1p, a) }

// Expm1 is eᵃ − 1, exact for small a.
func Expm1[A Value](a A) Expr { return apply1(kernel.Expm1, a) }

// Sqrt is the square root.
func Sqrt[A Value](a A) Expr { return apply1(kernel.Sqrt, a) }

// Square is a².
func Square[A Value](a A) Expr { return apply1(kernel.Square, a) }

// Sin is the sine of a in radians.
func Sin[A Value](a A) Expr { return apply1(kernel.Sin, a) }

// Cos is the cosine of a in radians.
func Cos[A Value](a A) Expr { return apply1(kernel.Cos, a) }

// Tan is the tangent of a in radians.
func Tan[A Value](a A) Expr { return apply1(kernel.Tan, a) }

// Tanh is the hyperbolic tangent.
func Tanh[A Value](a A) Expr { return apply1(kernel.Tanh, a) }

// Sigmoid is 1/(1 + e⁻ᵃ), the inverse of logit.
func Sigmoid[A Value](a A) Expr { return apply1(kernel.Sigmoid, a) }

// Softplus is log(1 + eᵃ).
func Softplus[A Value](a A) Expr { return apply1(kernel.Softplus, a) }

// Erf is the error function 2/√π·∫₀ᵃ exp(−t²) dt.
func Erf[A Value](a A) Expr { return apply1(kernel.Erf, a) }

// NormalCDF is Φ(a), the distribution function of the standard normal distribution:
// the probit link.
func NormalCDF[A Value](a A) Expr { return apply1(kernel.NormalCDF, a) }

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
func LogDiffExp[A, B Value](a A, b B) Expr { return applyPair(kernel.LogDiffExp, lift(a), lift(b)) }

// String writes x with the names of its latents, shortened where it is long.
func (x Expr) String() string {
	if x.m == nil {
		return fmt.Sprint(x.v)
	}
	if x.m.tape != nil {
		return "a value of a plate"
	}
	return x.m.guards.Format(x.id, 4)
}

// squares reports whether x is a number, or v + c·steps of one sign, whose square
// is known and far from what a float64 cannot hold.
func (x Expr) squares() bool {
	if x.m == nil {
		return x.rounded().Is(ir.Squares)
	}
	s := x.m.st
	v, terms := s.Parts(x.id)
	switch {
	case len(terms) == 0:
		return ir.Squares(v)
	case len(terms) > 1 || !s.Like(terms[0].Atom).Steps:
		return false
	}
	r := s.ExtremesOf(terms[0].Atom)
	lo, hi := v+terms[0].Coef*r.Lo, v+terms[0].Coef*r.Hi
	return ir.Squares(lo) && ir.Squares(hi) && lo*hi > 0
}
