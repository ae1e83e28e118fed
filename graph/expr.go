package graph

import (
	"fmt"
	"math"
	"strings"

	"github.com/facetvi/facet/graph/internal/kernel"
)

// An Expr is a scalar value of a model: a latent, a number, or something
// computed from them. The zero Expr is the number 0. An Expr belongs to the
// model whose latents it uses; a plain number belongs to none.
type Expr struct {
	m  *Model
	id nodeID
	v  float64 // the value where m is nil

	err  float64 // of v, by the operations that made it; see rounded
	from *source // of v; see recording
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
func (x Expr) in(m *Model) nodeID {
	switch x.m {
	case nil:
		v := x.rounded().raw()
		if !isFinite(v) && m.err == nil {
			m.fail("the number %v is not finite%s", v, onlyObserved(v))
			m.infinite = m.err
		}
		return m.st.node(combination{v: rounded{v: v, err: x.err}})
	case m:
		return x.id
	}
	m.fail("%s", foreign(x))
	return m.st.constant(0)
}

// IsConst reports whether x is a plain number, and which.
func (x Expr) IsConst() (float64, bool) {
	if x.m == nil {
		return x.rounded().raw(), true
	}
	return x.m.st.isConst(x.id)
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
	return Expr{m: x.m, id: x.m.st.unary(f, x.id)}
}

func apply2[A, B Value](a A, b B, value func(a, b float64) float64, build func(s *store, a, b nodeID) nodeID) Expr {
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
	return apply2(a, b, f.Value2, func(s *store, a, b nodeID) nodeID { return s.pair(f, a, b) })
}

func applyTriple(f kernel.Function, a, b, c Expr) Expr {
	m := owner(a, b, c)
	if m == nil {
		return Expr{v: f.Value3(a.v, b.v, c.v)}
	}
	if t := m.traces(); t != nil {
		return t.function(func() Expr { return applyTriple(f, t.valueOf(a), t.valueOf(b), t.valueOf(c)) }, a, b, c)
	}
	return Expr{m: m, id: m.st.triple(f, a.in(m), b.in(m), c.in(m))}
}

// shorter is a where below < −log 2, else b.
func shorter(below, a, b Expr) Expr { return applyTriple(kernel.Shorter, below, a, b) }

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
	return Expr{m: m, id: m.st.sumOf(1, a.combination(m, m.st.some[0][:]), c, b.combination(m, m.st.some[1][:]))}
}

// combination is x as one in m, with room for one term.
func (x Expr) combination(m *Model, room []term) combination {
	if x.m == nil && x.rounded().is(isFinite) {
		return combination{v: writtenAs(x.rounded())}
	}
	return m.st.combinationIn(x.in(m), room)
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
	if x.m != nil && y.m == nil && y.rounded().is(isFinite) { // a number need not be a node
		return Expr{m: x.m, id: x.m.st.mulNumber(y.rounded(), x.id)}
	}
	return apply2(x, y, func(a, b float64) float64 { return a * b }, (*store).mul)
}

// Div is a/b.
func Div[A, B Value](a A, b B) Expr {
	return apply2(a, b, func(a, b float64) float64 { return a / b }, (*store).div)
}

// Pow is a to the power of b. Where b is not a constant, a must be positive for
// the gradient to exist.
func Pow[A, B Value](a A, b B) Expr { return apply2(a, b, math.Pow, (*store).pow) }

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
	return x.m.format(x.id, 4)
}

// format writes a node, to the given depth of nesting.
func (m *Model) format(id nodeID, depth int) string {
	if i, ok := m.discrete[id]; ok {
		return m.latents[i].name
	}
	n := m.st.at(id)
	if depth == 0 && n.kind != kConst && n.kind != kLatent && n.kind != kData {
		return "…"
	}
	arg := func(id nodeID) string { return m.format(id, depth-1) }
	switch n.kind {
	case kConst:
		return fmt.Sprintf("%.6g", n.v)
	case kLatent:
		return m.latents[n.a].name
	case kData:
		return "observed " + m.obs[n.a].name
	case kSign:
		return m.condition(int(n.a), true)
	case kSum:
		return m.formatSum(n, arg)
	case kUnary:
		for _, l := range m.latents {
			if l.value == id {
				return l.name
			}
		}
		return fmt.Sprintf("%v(%s)", n.fn, arg(n.a))
	case kBinary:
		if n.fn == kernel.Mul || n.fn == kernel.MulData {
			return m.formatFactor(n.a, depth-1) + "·" + m.formatFactor(n.b, depth-1)
		}
		return fmt.Sprintf("%v(%s, %s)", n.fn, arg(n.a), arg(n.b))
	case kTernary:
		return fmt.Sprintf("%v(%s, %s, %s)", n.fn, arg(n.a), arg(n.b), arg(n.c))
	case kNot:
		if inner := m.st.at(n.a); inner.kind == kSign {
			return m.condition(int(inner.a), false)
		}
		return "not " + arg(n.a)
	case kAnd:
		return "(" + arg(n.a) + " and " + arg(n.b) + ")"
	case kSelect:
		return fmt.Sprintf("if(%s, %s, %s)", arg(n.a), arg(n.b), arg(n.c))
	case kForward:
		return fmt.Sprintf("forward sum of %d steps", n.b)
	}
	return fmt.Sprintf("input %d", n.a)
}

// formatFactor is format of a factor, a sum in brackets.
func (m *Model) formatFactor(id nodeID, depth int) string {
	if _, inner := m.st.coefficient(id); depth > 0 && m.st.at(id).kind == kSum && inner == id {
		return "(" + m.format(id, depth) + ")"
	}
	return m.format(id, depth)
}

func (m *Model) formatSum(n node, arg func(nodeID) string) string {
	var b strings.Builder
	for i, t := range n.terms {
		if i == 6 {
			b.WriteString(" + …")
			return b.String()
		}
		sign, c := " + ", t.coef
		if c < 0 {
			sign, c = " - ", -c
		}
		if i == 0 {
			sign = strings.Trim(sign, " +")
		}
		b.WriteString(sign + multiple(c, arg(t.atom)))
	}
	switch {
	case n.v < 0:
		fmt.Fprintf(&b, " - %.6g", -n.v)
	case n.v != 0:
		fmt.Fprintf(&b, " + %.6g", n.v)
	}
	return b.String()
}
