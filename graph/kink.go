package graph

import (
	"math"

	"github.com/facetvi/facet/graph/kernel"
	"github.com/facetvi/facet/regions"
)

// Kinks are continuous: where the guard of Max(a, b) changes its sign, a = b. So they
// have no boundary term.

// Max is the larger of a and b. It is continuous: its guard a > b has no
// boundary term.
func Max[A, B Value](a A, b B) Expr { return kinked(lift(a), lift(b), math.Max, false) }

// Min is the smaller of a and b. It is continuous: its guard a < b has no
// boundary term.
func Min[A, B Value](a A, b B) Expr { return kinked(lift(a), lift(b), math.Min, true) }

// Abs is |a|. It is continuous: its guard a > 0 has no boundary term.
func Abs[A Value](a A) Expr { return Max(a, Neg(a)) }

// Clip is a, but low where a < low and high where a > high. It is continuous: its
// guards have no boundary term. It means nothing unless low ≤ high.
func Clip[A, B, C Value](a A, low B, high C) Expr { return Min(Max(a, low), high) }

func kinked(x, y Expr, number func(a, b float64) float64, least bool) Expr {
	m := owner(x, y)
	if m == nil {
		return Expr{v: number(x.v, y.v)}
	}
	if t := m.traces(); t != nil {
		return t.function(func() Expr { return kinked(t.valueOf(x), t.valueOf(y), number, least) }, x, y)
	}
	return Expr{m: m, id: m.kinked(x.in(m), y.in(m), least)}
}

// kinked is the larger of x and y, or the least. Of branches it is the branches'.
func (m *Model) kinked(x, y nodeID, least bool) nodeID {
	key := kinkedPair{x, y, least}
	if id, known := m.kinks[key]; known {
		return id
	}
	if len(m.kinks) == mostLifts {
		m.fail("%s and %s depend on so many branches that the larger one becomes more than %d", m.format(x, 4), m.format(y, 4), mostLifts)
		return x
	}
	m.kinks[key] = x // counted
	m.kinks[key] = m.newKinked(x, y, least)
	return m.kinks[key]
}

type kinkedPair struct {
	x, y  nodeID
	least bool
}

func (m *Model) newKinked(x, y nodeID, least bool) nodeID {
	s := m.st
	diff := s.sum(1, x, -1, y)
	cond, branches := m.firstBranch(diff)
	if !branches {
		g := m.positive(diff)
		larger, smaller := x, y
		if least {
			larger, smaller = y, x
		}
		if side, ok := g.Side(); ok {
			s.knowEqual(side.Plane, x, y)
		}
		return s.sel(g.value.in(m), larger, smaller)
	}
	on, off := newForcer(m, cond, true), newForcer(m, cond, false)
	x1, x0, y1, y0 := on.rewrite(x), off.rewrite(x), on.rewrite(y), off.rewrite(y)
	then, otherwise := m.kinked(x1, y1, least), m.kinked(x0, y0, least)
	if n := s.at(cond); n.kind == kSign {
		at := algebra{s, m.arr, m.features, 0}
		if l := int(n.a); at.agree(l, x1, x0) && at.agree(l, y1, y0) {
			s.knowEqual(l, then, otherwise)
		}
	}
	return s.sel(cond, then, otherwise)
}

// A kink says that two expressions are equal on a plane, as known when it was made.
type kink struct {
	plane int
	a, b  nodeID
}

func (s *store) knowEqual(plane int, a, b nodeID) { s.kinks[kink{plane, min(a, b), max(a, b)}] = true }

// algebra knows what is equal on the planes of an arrangement, whose features have
// the coordinates of features, plus shift.
type algebra struct {
	s        *store
	arr      *regions.Arrangement
	features map[nodeID]int
	shift    int
}

// agree reports whether a = b on plane l.
func (g algebra) agree(l int, a, b nodeID) bool {
	s := g.s
	if a == b || s.kinks[kink{l, min(a, b), max(a, b)}] || g.vanishes(l, s.sum(1, a, -1, b)) {
		return true
	}
	na, nb := s.at(a), s.at(b)
	switch {
	case na.kind != nb.kind || na.fn != nb.fn || na.fn == kernel.MulData && na.a != nb.a:
		return false
	case na.kind == kUnary:
		return g.agree(l, na.a, nb.a)
	case na.kind == kBinary:
		return g.agree(l, na.a, nb.a) && g.agree(l, na.b, nb.b)
	case na.kind == kSum && na.v == nb.v && len(na.terms) == len(nb.terms):
		for k, t := range na.terms {
			if t.coef != nb.terms[k].coef || !g.agree(l, t.atom, nb.terms[k].atom) {
				return false
			}
		}
		return true
	}
	return false
}

// vanishes reports whether id is a multiple of Φ of plane l, to rounding.
func (g algebra) vanishes(l int, id nodeID) bool {
	const ulps = 16 * 0x1p-52
	c, h := g.s.expand(id), g.arr.Plane(l)
	if len(c.terms) != len(h.Index) {
		return false
	}
	at := map[int]float64{}
	for _, t := range c.terms {
		if n := g.s.at(t.atom); n.kind == kLatent {
			at[int(n.a)] = t.coef
		} else if i, ok := g.features[t.atom]; ok {
			at[i+g.shift] = t.coef
		}
	}
	ratio := at[h.Index[0]] / h.Coef[0]
	for k, i := range h.Index {
		if x := at[i]; x == 0 || math.Abs(x-ratio*h.Coef[k]) > ulps*math.Abs(x) {
			return false
		}
	}
	return math.Abs(c.v.v-ratio*h.Const) <= ulps*math.Abs(c.v.v)
}

// smooth reports whether a select is continuous where it changes: on plane l.
func (d *Density) smooth(n node, l int) bool {
	cond := d.st.at(n.a)
	return cond.kind == kSign && int(cond.a) == l && algebra{d.st, d.arr, d.m.features, d.Dim() - anyDim}.agree(l, n.b, n.c)
}
