package lang

import (
	"fmt"
	"math"

	"github.com/facetvi/facet/internal/kernel"
)

// A support is where the values of a distribution lie: between lo and hi. A
// transform maps the unconstrained coordinate of a latent there; whole numbers
// have none.
type Support struct {
	lo, hi float64
	// Finite bounds of continuous values are values themselves.
	closedLo, closedHi bool
	whole              bool    // the values are whole numbers, bounds included
	unit               float64 // of a transform that has one
	transform
}

var (
	reals        = Support{lo: math.Inf(-1), hi: math.Inf(1), transform: identity}
	Positives    = Support{lo: 0, hi: math.Inf(1), transform: exponentialMap}
	nonNegatives = Support{lo: 0, hi: math.Inf(1), closedLo: true, transform: exponentialMap}
	UnitInterval = Support{lo: 0, hi: 1, transform: logisticMap}
	counts       = Support{lo: 0, hi: math.Inf(1), whole: true}
)

// Value is the value at coordinate u, for a support with a transform, Slope its derivative there, and Inverse the coordinate of a value: NaN or
// infinite outside the open support.
func (s Support) Value(u float64) float64   { return s.value(s, u) }
func (s Support) Slope(u float64) float64   { return s.slope(s, u) }
func (s Support) Inverse(x float64) float64 { return s.inverse(s, x) }

// Forward is Value of an expression, and LogJac the logarithm of Slope.
func (s Support) Forward(u Expr) Expr { return s.forward(s, u) }
func (s Support) LogJac(u Expr) Expr  { return s.logJac(s, u) }

// Function is what Value is affine in; none for a support without a transform.
func (s Support) Function() kernel.Function { return s.fn }

// Bounds are those of the values, and Whole reports whether these are whole numbers, bounds included.
func (s Support) Bounds() (lo, hi float64) { return s.lo, s.hi }
func (s Support) Whole() bool              { return s.whole }

// A transform is an increasing map x = f(u) from the unconstrained coordinate to
// a support.
type transform struct {
	fn      kernel.Function // f(u) is affine in fn(u)
	forward func(s Support, u Expr) Expr
	value   func(s Support, u float64) float64 // forward of a number, in a tenth of the time
	logJac  func(s Support, u Expr) Expr       // log f′(u)
	slope   func(s Support, u float64) float64 // f′(u)
	inverse func(s Support, x float64) float64 // NaN or infinite outside the open support
	// Coordinates in place of −∞ and ∞, where f is finite.
	least, greatest float64
}

var identity = transform{
	fn:      kernel.None,
	forward: func(_ Support, u Expr) Expr { return u },
	value:   func(_ Support, u float64) float64 { return u },
	logJac:  func(_ Support, _ Expr) Expr { return Expr{} },
	slope:   func(Support, float64) float64 { return 1 },
	inverse: func(_ Support, x float64) float64 { return x },
	least:   -math.MaxFloat64, greatest: math.MaxFloat64,
}

// The exponentials of −744 and 709 are about the least and the greatest float64.

// exponentialMap is x = eᵘ.
var exponentialMap = transform{
	fn:      kernel.Exp,
	forward: func(_ Support, u Expr) Expr { return Exp(u) },
	value:   func(_ Support, u float64) float64 { return kernel.Exp.Value(u) },
	logJac:  func(_ Support, u Expr) Expr { return u },
	slope:   func(_ Support, u float64) float64 { return kernel.Exp.Value(u) },
	inverse: func(_ Support, x float64) float64 { return math.Log(x) },
	least:   -744, greatest: 709,
}

// logisticMap is x = 1/(1 + e⁻ᵘ).
var logisticMap = transform{
	fn:      kernel.Sigmoid,
	forward: func(_ Support, u Expr) Expr { return Sigmoid(u) },
	value:   func(_ Support, u float64) float64 { return kernel.Sigmoid.Value(u) },
	logJac:  func(_ Support, u Expr) Expr { return Neg(Add(Softplus(u), Softplus(Neg(u)))) },
	slope:   func(_ Support, u float64) float64 { return kernel.Sigmoid.Slope(u, 0) },
	inverse: func(_ Support, x float64) float64 { return math.Log(x) - math.Log1p(-x) },
	least:   -744, greatest: 744,
}

// scaledLogisticMap is x = lo + (hi − lo)/(1 + e⁻ᵘ).
var scaledLogisticMap = transform{
	fn:      kernel.Sigmoid,
	forward: func(s Support, u Expr) Expr { return Add(s.lo, Mul(s.hi-s.lo, Sigmoid(u))) },
	value:   func(s Support, u float64) float64 { return s.lo + (s.hi-s.lo)*kernel.Sigmoid.Value(u) },
	logJac: func(s Support, u Expr) Expr {
		return Sub(math.Log(s.hi-s.lo), Add(Softplus(u), Softplus(Neg(u))))
	},
	slope:   func(s Support, u float64) float64 { return (s.hi - s.lo) * kernel.Sigmoid.Slope(u, 0) },
	inverse: func(s Support, x float64) float64 { return math.Log(x-s.lo) - math.Log(s.hi-x) },
	least:   -744, greatest: 744,
}

// Contains reports whether x is a value.
func (s Support) Contains(x float64) bool {
	switch {
	case s.whole && x != math.Trunc(x):
		return false
	case s.whole:
		return x >= s.lo && x <= s.hi
	}
	return (x > s.lo || s.closedLo && x == s.lo) && (x < s.hi || s.closedHi && x == s.hi)
}

// String says what the values are.
func (s Support) String() string {
	unbounded := math.IsInf(s.hi, 1)
	switch {
	case s.whole && unbounded:
		return fmt.Sprintf("a whole number ≥ %v", s.lo)
	case s.whole && s.lo == 0 && s.hi == 1:
		return "0 or 1"
	case s.whole:
		return fmt.Sprintf("a whole number from %v to %v", s.lo, s.hi)
	case unbounded && math.IsInf(s.lo, -1):
		return "a finite number"
	case unbounded && s.closedLo:
		return fmt.Sprintf("a number ≥ %v", s.lo)
	case unbounded:
		return fmt.Sprintf("a number > %v", s.lo)
	case !s.closedLo && !s.closedHi && !math.IsInf(s.lo, -1):
		return fmt.Sprintf("a number strictly between %v and %v", s.lo, s.hi)
	}
	left, right := "(", ")"
	if s.closedLo {
		left = "["
	}
	if s.closedHi {
		right = "]"
	}
	return fmt.Sprintf("a number in %s%v, %v%s", left, s.lo, s.hi, right)
}

// nearest is the value nearest to x.
func (s Support) nearest(x float64) float64 {
	lo, hi := s.lo, s.hi
	if s.whole {
		return min(max(x, lo), hi)
	}
	if !s.closedLo || math.IsInf(lo, 0) {
		lo = math.Nextafter(lo, hi)
	}
	if !s.closedHi || math.IsInf(hi, 0) {
		hi = math.Nextafter(hi, lo)
	}
	return min(max(x, lo), hi)
}
