package graph

import (
	"math"

	"github.com/facetvi/facet/internal/lang"
)

// Kinks are continuous: where the guard of Max(a, b) changes its sign, a = b. So they
// have no boundary term, but at poles, where one of a and b is infinite and changes its
// sign: there the values are the limits from either side (see derive.Builder).

// Max is the larger of a and b: If(Greater(a, b), a, b). It is continuous: its guard has no
// boundary term. So where a has no value it is b, and where b has none it has none.
func Max[A, B Value](a A, b B) Expr { return kinked(lift(a), lift(b), math.Max, false) }

// Min is the smaller of a and b: If(Greater(a, b), b, a). It is continuous: its guard has no
// boundary term. So where b has no value it is a, and where a has none it has none.
func Min[A, B Value](a A, b B) Expr { return kinked(lift(a), lift(b), math.Min, true) }

// Abs is |a|. It is continuous: its guard a > 0 has no boundary term.
func Abs[A Value](a A) Expr { return Max(a, Neg(a)) }

// Clip is a, but low where a < low and high where a > high. It is continuous: its
// guards have no boundary term. It means nothing unless low ≤ high.
func Clip[A, B, C Value](a A, low B, high C) Expr {
	x, lo, hi := lift(a), lift(low), lift(high)
	if from, known := lo.IsConst(); known {
		if to, known := hi.IsConst(); known && from > to {
			if m := owner(x, lo, hi); m != nil {
				m.fail("Clip: %v, the lower bound, is above %v, the upper one", from, to)
			}
			return lang.Number(math.NaN())
		}
	}
	return Min(Max(x, lo), hi)
}

func kinked(x, y Expr, larger func(a, b float64) float64, least bool) Expr {
	m := owner(x, y)
	if m == nil {
		return lang.Computed(larger, x, y)
	}
	if t := m.traces(); t != nil {
		return t.Function(func() Expr { return kinked(t.ValueOf(x), t.ValueOf(y), larger, least) }, x, y)
	}
	return m.expr(m.guards.Kinked(m.node(x), m.node(y), least))
}
