package graph

import "math"

// Expressions that break the rule of a parameter, found by the guards on the way
// to them:
//
//	If(x > 1, 1, x) ─▶ x, where x ≤ 1: can be negative

// An extent is an interval of values: lo > hi if nothing is known of them.
type extent struct{ lo, hi float64 }

var unknown = extent{math.Inf(1), math.Inf(-1)}

func (x extent) known() bool { return x.lo <= x.hi }

// or is the least extent with x and y.
func (x extent) or(y extent) extent { return extent{min(x.lo, y.lo), max(x.hi, y.hi)} }

// times is c·x + v for c ≠ 0.
func (x extent) times(c, v float64) extent {
	if c < 0 {
		x.lo, x.hi = x.hi, x.lo
	}
	return extent{c*x.lo + v, c*x.hi + v}
}

// leftBy reports whether x has values that r does not admit.
func (r rule) leftBy(x extent) bool {
	lo, hi := r.span()
	return x.known() && (x.lo < lo || x.hi > hi)
}

// A box is what guards say of the coordinates of latents: that one lies in an
// extent, which is unknown if they say more than bounds of that latent alone, and
// what the rest says. An extent for the same latent in the rest is wider.
type box struct {
	latent int
	extent
	rest *box
}

// at is where coordinate i lies.
func (b *box) at(i int) extent {
	for ; b != nil; b = b.rest {
		if b.latent == i {
			return b.extent
		}
	}
	return extent{math.Inf(-1), math.Inf(1)}
}

// narrow is b where formula id holds, or does not.
func (m *Model) narrow(b *box, id nodeID, holds bool) *box {
	m.st.rec.spoil() // guards of other rows say something else
	switch n := m.st.at(id); {
	case n.kind == kNot:
		return m.narrow(b, n.a, !holds)
	case n.kind == kAnd && holds:
		return m.narrow(m.narrow(b, n.a, true), n.b, true)
	case n.kind == kSign && m.arr.Curve(int(n.a)) == nil && len(m.arr.Latents(int(n.a))) == 1:
		h := m.arr.Plane(int(n.a))
		x, edge := b.at(h.Index[0]), -h.Const/h.Coef[0]
		if h.Coef[0] > 0 == holds {
			x.lo = max(x.lo, edge)
		} else {
			x.hi = min(x.hi, edge)
		}
		if x.lo >= x.hi { // not reached
			x = unknown
		}
		return &box{h.Index[0], x, b}
	}
	for _, i := range m.latentsOf(id) {
		b = &box{i, unknown, b}
	}
	return b
}

// violating is an expression among those that id selects from which can leave the
// span of r where it is selected and where holds.
func (m *Model) violating(id nodeID, r rule, where Guard) (leaf nodeID, found bool) {
	if r == anyReal || !r.leftBy(m.hull(id)) {
		return 0, false
	}
	seen := map[nodeID]bool{}
	var visit func(id nodeID, c, v float64, b *box) bool
	visit = func(id nodeID, c, v float64, b *box) bool { // of c·id + v
		sel, coef, constant, ok := m.st.selected(id)
		if !ok {
			leaf = id
			return r.leftBy(m.rangeOf(id, b).times(c, v))
		}
		c, v = c*coef, c*constant+v
		if seen[sel] || !r.leftBy(m.hull(sel).times(c, v)) {
			return false
		}
		seen[sel] = true
		n := m.st.at(sel)
		return visit(n.b, c, v, m.narrow(b, n.a, true)) || visit(n.c, c, v, m.narrow(b, n.a, false))
	}
	var b *box
	if where.value.m != nil {
		b = m.narrow(b, where.value.id, true)
	}
	return leaf, visit(id, 1, 0, b)
}

// selected is a select with id = coef·sel + constant, if there is one.
func (s *store) selected(id nodeID) (sel nodeID, coef, constant float64, ok bool) {
	n := s.at(id)
	switch {
	case n.kind == kSelect:
		return id, 1, 0, true
	case n.kind == kSum && len(n.terms) == 1 && s.like(n.terms[0].atom).kind == kSelect:
		return n.terms[0].atom, n.terms[0].coef, n.v, true
	}
	return 0, 0, 0, false
}

// hull is the least extent with all that id selects from, whatever the guards.
func (m *Model) hull(id nodeID) extent {
	sel, coef, constant, ok := m.st.selected(id)
	if !ok {
		return m.rangeOf(id, nil)
	}
	return remembered(m.hulls, sel, func() extent {
		n := m.st.at(sel)
		return m.hull(n.b).or(m.hull(n.c))
	}).times(coef, constant)
}

// rangeOf is where the values of a number, a sum of latents, or a transformed
// latent times a number plus a number lie in b, and somewhat less than what may
// be a matter of rounding. Of another expression nothing is known, nor of one
// that is not reached.
func (m *Model) rangeOf(id nodeID, b *box) extent {
	n, c := m.st.at(id), m.st.combination(id)
	switch {
	case n.kind == kConst:
		for ; b != nil; b = b.rest {
			if !b.known() {
				return unknown
			}
		}
		return extent{math.Nextafter(n.v, math.Inf(-1)), math.Nextafter(n.v, math.Inf(1))} // open ends
	case n.affine:
		c = m.st.expand(id)
	case len(c.terms) != 1 || !m.isTransform(c.terms[0].atom):
		return unknown
	}
	out := extent{c.v.v + c.v.err, c.v.v - c.v.err}
	for _, t := range c.terms {
		atom := m.st.at(t.atom)
		x := b.at(int(atom.a))
		if atom.kind == kUnary {
			x = b.at(int(m.st.at(atom.a).a))
			x = extent{atom.fn.Value(x.lo), atom.fn.Value(x.hi)}
		}
		if !x.known() {
			return unknown
		}
		const less = 1e-9
		x = x.times(t.coef, 0)
		out.lo += x.lo * (1 + math.Copysign(less, x.lo))
		out.hi += x.hi * (1 - math.Copysign(less, x.hi))
	}
	return out
}

// latentsOf lists the latents that id depends on, also by its guards.
func (m *Model) latentsOf(id nodeID) []int {
	var list []int
	for id := range m.st.under(id) {
		switch n := m.st.at(id); n.kind {
		case kLatent:
			list = append(list, int(n.a))
		case kSign:
			list = append(list, m.arr.Latents(int(n.a))...)
		}
	}
	return list
}
