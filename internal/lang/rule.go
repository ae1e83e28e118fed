package lang

import (
	"math"

	"github.com/facetvi/facet/internal/ir"
)

// A Rule is what a constant parameter must satisfy.
type Rule uint8

const (
	AnyReal Rule = iota
	Positive
	Probability // in (0, 1)
	count       // a whole number ≥ 0, constant
	bound       // constant
	limit       // constant, may be infinite
)

// Broken is what is wrong with the number v, or "".
func (r Rule) Broken(v float64) string {
	switch {
	case r == limit && math.IsInf(v, 0):
		return ""
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "must be finite" + OnlyObserved(v)
	case r == Positive && v <= 0:
		return "must be positive"
	case r == Probability && (v <= 0 || v >= 1):
		return "must lie strictly between 0 and 1"
	case r == count && (v < 0 || v != math.Trunc(v)):
		return "must be a whole number ≥ 0"
	}
	return ""
}

// String is how an expression breaks the rule.
func (r Rule) String() string {
	if r == Probability {
		return "can leave (0, 1)"
	}
	return "can be negative or 0"
}

func (r Rule) constant() bool { return r == count || r == bound || r == limit }

// excludes reports whether v cannot have come from a parameter that satisfies
// r, not even by rounding.
func (r Rule) excludes(v float64) bool {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0) && r != limit:
		return true
	case r == Positive:
		return v < 0
	case r == Probability:
		return v < 0 || v > 1
	}
	return false
}

// span is the least interval that r admits, with its ends.
func (r Rule) span() (lo, hi float64) {
	switch r {
	case Positive:
		return 0, math.Inf(1)
	case Probability:
		return 0, 1
	}
	return math.Inf(-1), math.Inf(1)
}

// LeftBy reports whether x has values that r does not admit.
func (r Rule) LeftBy(x ir.Extent) bool {
	lo, hi := r.span()
	return x.Known() && (x.Lo < lo || x.Hi > hi)
}

// OnlyObserved says of NaN where it may be.
func OnlyObserved(v float64) string {
	if math.IsNaN(v) {
		return ": only the value of an observation may be missing"
	}
	return ""
}
