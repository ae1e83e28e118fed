package graph

import (
	"math"
	"slices"
)

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

// leaves reports whether x has values that r does not admit.
func (x extent) leaves(r rule) bool {
	lo, hi := r.span()
	return x.known() && (x.lo < lo || x.hi > hi)
}

// A box is what guards say of the coordinates of latents: unknown if it is more
// than bounds of that latent alone. It knows what it was before.
type box struct {
	now    map[int]extent
	before []latentExtent
}

// A latentExtent is where a coordinate lies.
type latentExtent struct {
	latent int
	extent
}

func (b *box) at(i int) extent {
	if x, ok := b.now[i]; ok {
		return x
	}
	return extent{math.Inf(-1), math.Inf(1)}
}

func (b *box) set(i int, x extent) {
	b.before = append(b.before, latentExtent{i, b.at(i)})
	b.now[i] = x
}

// widen undoes all but n calls of set.
func (b *box) widen(n int) {
	for _, old := range slices.Backward(b.before[n:]) {
		b.now[old.latent] = old.extent
	}
	b.before = b.before[:n]
}

// narrow makes b smaller by whether formula id holds.
func (m *Model) narrow(b *box, id nodeID, holds bool) {
	switch n := &m.st.nodes[id]; {
	case n.kind == kNot:
		m.narrow(b, n.a, !holds)
		return
	case n.kind == kAnd && holds:
		m.narrow(b, n.a, true)
		m.narrow(b, n.b, true)
		return
	case n.kind == kSign && len(m.arr.Plane(int(n.a)).Index) == 1:
		h := m.arr.Plane(int(n.a))
		x, edge := b.at(h.Index[0]), -h.Const/h.Coef[0]
		if h.Coef[0] > 0 == holds {
			x.lo = max(x.lo, edge)
		} else {
			x.hi = min(x.hi, edge)
		}
		b.set(h.Index[0], x)
		return
	}
	for _, i := range m.latentsOf(id) {
		b.set(i, unknown)
	}
}

// straying is an expression among those that id selects from which can leave the
// span of r where it is selected and where holds.
func (m *Model) straying(id nodeID, r rule, where Guard) (leaf nodeID, found bool) {
	if !m.hull(id).leaves(r) {
		return 0, false
	}
	b, seen := &box{now: map[int]extent{}}, map[nodeID]bool{}
	var visit func(id nodeID, c, v float64) bool
	visit = func(id nodeID, c, v float64) bool { // of c·id + v
		sel, coef, constant, ok := m.st.selected(id)
		if !ok {
			leaf = id
			return m.rangeOf(id, b).times(c, v).leaves(r)
		}
		c, v = c*coef, c*constant+v
		if seen[sel] || !m.hull(sel).times(c, v).leaves(r) {
			return false
		}
		seen[sel] = true
		n, outside := m.st.nodes[sel], len(b.before)
		m.narrow(b, n.a, true)
		if visit(n.b, c, v) {
			return true
		}
		b.widen(outside)
		m.narrow(b, n.a, false)
		found := visit(n.c, c, v)
		b.widen(outside)
		return found
	}
	if where.value.m != nil {
		m.narrow(b, where.value.id, true)
	}
	return leaf, visit(id, 1, 0)
}

// selected is a select with id = coef·sel + constant, if there is one.
func (s *store) selected(id nodeID) (sel nodeID, coef, constant float64, ok bool) {
	n := &s.nodes[id]
	switch {
	case n.kind == kSelect:
		return id, 1, 0, true
	case n.kind == kSum && len(n.terms) == 1 && s.nodes[n.terms[0].atom].kind == kSelect:
		return n.terms[0].atom, n.terms[0].coef, n.v, true
	}
	return 0, 0, 0, false
}

// hull is the least extent with all that id selects from, whatever the guards.
func (m *Model) hull(id nodeID) extent {
	sel, coef, constant, ok := m.st.selected(id)
	if !ok {
		return m.rangeOf(id, &box{})
	}
	x, known := m.hulls[sel]
	if !known {
		n := &m.st.nodes[sel]
		x = m.hull(n.b).or(m.hull(n.c))
		m.hulls[sel] = x
	}
	return x.times(coef, constant)
}

// rangeOf is where the values of a number, a sum of latents, or a transformed
// latent times a number plus a number lie in b, and somewhat less than what may
// be a matter of rounding. Of another expression nothing is known, nor of one
// that is not reached.
func (m *Model) rangeOf(id nodeID, b *box) extent {
	n, c := &m.st.nodes[id], m.st.combination(id)
	switch {
	case n.kind == kConst:
		for _, x := range b.now {
			if !x.known() {
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
		atom := &m.st.nodes[t.atom]
		x := b.at(int(atom.a))
		if atom.kind == kUnary {
			x = b.at(int(m.st.nodes[atom.a].a))
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
	walk(m.st.nodes, id, func(id nodeID) {
		switch n := &m.st.nodes[id]; n.kind {
		case kLatent:
			list = append(list, int(n.a))
		case kSign:
			list = append(list, m.arr.Plane(int(n.a)).Index...)
		}
	})
	return list
}
