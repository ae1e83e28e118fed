package graph

import (
	"math"
	"slices"

	"github.com/facetvi/facet/internal/ir"
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
			return Expr{v: math.NaN()}
		}
	}
	return Min(Max(x, lo), hi)
}

func kinked(x, y Expr, larger func(a, b float64) float64, least bool) Expr {
	m := owner(x, y)
	if m == nil {
		return number(larger, x, y)
	}
	if t := m.traces(); t != nil {
		return t.function(func() Expr { return kinked(t.valueOf(x), t.valueOf(y), larger, least) }, x, y)
	}
	return Expr{m: m, id: m.kinked(x.in(m), y.in(m), least)}
}

// kinked is the larger of x and y, or the least. Of branches it is the branches'.
func (m *Model) kinked(x, y ir.ID, least bool) ir.ID {
	m.st.Rec.Spoil()
	key := kinkedPair{x, y, least}
	if id, known := m.kinks[key]; known {
		return id
	}
	if len(m.kinks) == mostWays {
		m.fail("%s and %s depend on so many branches that the larger one becomes more than %d", m.format(x, 4), m.format(y, 4), mostWays)
		return x
	}
	m.kinks[key] = x // counted
	m.kinks[key] = m.newKinked(x, y, least)
	return m.kinks[key]
}

type kinkedPair struct {
	x, y  ir.ID
	least bool
}

func (m *Model) newKinked(x, y ir.ID, least bool) ir.ID {
	s := m.st
	diff := s.Sum(1, x, -1, y)
	cond, branches := m.firstBranch(diff)
	if !branches {
		g := m.positive(diff)
		larger, smaller := x, y
		if least {
			larger, smaller = y, x
		}
		if side, ok := g.Side(); ok && m.hasNoEdge(diff) {
			s.KnowEqual(side.Plane, x, y)
		}
		return s.Sel(g.value.in(m), larger, smaller)
	}
	on, off := ir.NewForcer(s, cond, true), ir.NewForcer(s, cond, false)
	x1, x0, y1, y0 := on.Rewrite(x), off.Rewrite(x), on.Rewrite(y), off.Rewrite(y)
	then, otherwise := m.kinked(x1, y1, least), m.kinked(x0, y0, least)
	if n := s.At(cond); n.Kind == ir.Sign {
		at := ir.Algebra{Store: s, Arr: m.arr, Features: m.features, Shift: 0}
		if l := int(n.A); at.Agree(l, x1, x0) && at.Agree(l, y1, y0) {
			s.KnowEqual(l, then, otherwise)
		}
	}
	return s.Sel(cond, then, otherwise)
}

// mostZeros are known on one plane.
const mostZeros = 16

// hasNoEdge reports whether the guard id > 0 changes at zeros of id alone.
func (m *Model) hasNoEdge(id ir.ID) bool {
	if m.st.Like(id).Affine {
		return true
	}
	if _, infinite := m.st.Pole(id); infinite || m.st.InfiniteInside(id) {
		return false
	}
	edges := m.st.Domain(id)
	return len(edges) == 0 || !slices.ContainsFunc(edges, func(e ir.Edge) bool { return e.Of != m.st.Implied(id) })
}

// knowZero notes that id is 0 on the planes of g, the guard id > 0, if it changes at
// zeros of id alone: so that x² is 1 on x = 1.
func (m *Model) knowZero(g Guard, id ir.ID) {
	s := m.st
	if g.value.m == nil || m.err != nil {
		return
	}
	planes, few := s.PlanesOf(g.value.id)
	if !few || !m.hasNoEdge(id) {
		return
	}
	for _, l := range planes {
		known := s.Zeros.On(l)
		if m.arr.Curve(l) != nil || len(known) >= mostZeros || slices.Contains(known, id) {
			continue
		}
		s.Own()
		s.Zeros.Add(l, id)
		if m.rec != nil {
			m.rec.addZero(l, id)
		}
	}
}
