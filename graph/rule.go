package graph

import (
	"math"

	"github.com/facetvi/facet/internal/ir"
)

// A rule is what a constant parameter must satisfy.
type rule uint8

const (
	anyReal rule = iota
	positive
	probability // in (0, 1)
	count       // a whole number ≥ 0, constant
	bound       // constant
	limit       // constant, may be infinite
)

func (r rule) broken(v float64) string {
	switch {
	case r == limit && math.IsInf(v, 0):
		return ""
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "must be finite" + onlyObserved(v)
	case r == positive && v <= 0:
		return "must be positive"
	case r == probability && (v <= 0 || v >= 1):
		return "must lie strictly between 0 and 1"
	case r == count && (v < 0 || v != math.Trunc(v)):
		return "must be a whole number ≥ 0"
	}
	return ""
}

// String is how an expression breaks the rule.
func (r rule) String() string {
	if r == probability {
		return "can leave (0, 1)"
	}
	return "can be negative or 0"
}

func (r rule) constant() bool { return r == count || r == bound || r == limit }

// excludes reports whether v cannot have come from a parameter that satisfies
// r, not even by rounding.
func (r rule) excludes(v float64) bool {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0) && r != limit:
		return true
	case r == positive:
		return v < 0
	case r == probability:
		return v < 0 || v > 1
	}
	return false
}

// span is the least interval that r admits, with its ends.
func (r rule) span() (lo, hi float64) {
	switch r {
	case positive:
		return 0, math.Inf(1)
	case probability:
		return 0, 1
	}
	return math.Inf(-1), math.Inf(1)
}

// leftBy reports whether x has values that r does not admit.
func (r rule) leftBy(x ir.Extent) bool {
	lo, hi := r.span()
	return x.Known() && (x.Lo < lo || x.Hi > hi)
}
