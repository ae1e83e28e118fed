package graph

import (
	"math"
	"slices"

	"github.com/facetvi/facet/graph/internal/kernel"
)

// A comparison has the truth that it has in a loop of float64: where a number in it is infinite or NaN, as 1/k and log(k) are for
// k = 0 and √(k − 1) is, what it compares is that, too, or a number that depends on signs alone:
//
//	a² > 1/k        ─▶ false                  a² > +Inf
//	a/k > b         ─▶ a > 0                  ±Inf > b
//	a·√(k − 1) > b  ─▶ false                  NaN > b

// isInfinite reports whether a number in id is infinite or NaN.
func (s *store) isInfinite(id nodeID) bool {
	if s.like(id).affine {
		return !isFinite(s.constantPart(id))
	}
	for id := range s.under(id) {
		if n := s.like(id); (n.kind == kConst || n.kind == kSum) && !isFinite(s.constantPart(id)) {
			return true
		}
	}
	return false
}

// infiniteInside reports whether a number that is infinite or NaN is in a part of id that is no summand.
func (s *store) infiniteInside(id nodeID) (is bool) {
	s.operands(id, func(o nodeID) { is = is || s.isInfinite(o) })
	return is
}

// finite is id without operations on numbers that are infinite or NaN, as far as these are known: id has no branches, and what it
// becomes may have some, of comparisons with 0.
func (m *Model) finite(id nodeID) nodeID {
	s := m.st
	if !s.isInfinite(id) {
		return id
	}
	n := s.at(id)
	switch n.kind {
	case kSum:
		sum, branches := s.constant(n.v), false
		for _, t := range n.terms {
			x := m.finite(t.atom)
			_, more := m.firstBranch(x)
			branches = branches || more
			sum = s.sum(1, sum, t.coef, x)
		}
		if v := s.constantPart(sum); !isFinite(v) && !branches {
			return s.constant(v)
		}
		return sum
	case kUnary:
		return s.unary(n.fn, m.finite(n.a))
	case kBinary:
		return m.finitePair(n.fn, m.finite(n.a), m.finite(n.b))
	}
	return id
}

// finitePair is f(a, b) where one of them may be a number that is infinite or NaN.
func (m *Model) finitePair(f kernel.Function, a, b nodeID) nodeID {
	s := m.st
	x, first := s.isConst(a)
	y, second := s.isConst(b)
	other, v := b, x
	if !first || isFinite(x) {
		other, v = a, y
	}
	_, branches := m.firstBranch(other)
	sides := func(of nodeID, above, below float64) nodeID {
		return s.sel(m.positive(of).value.in(m), s.constant(above), s.constant(below))
	}
	switch {
	case first == second, isFinite(v), branches:
	case math.IsNaN(v):
		return s.constant(v)
	case f == kernel.Mul, f == kernel.Div && first:
		return sides(other, v, -v)
	case f == kernel.Div:
		return s.constant(0)
	case f == kernel.Pow && first:
		return sides(other, math.Inf(1), 0)
	case f == kernel.Pow:
		return sides(s.sum(1, s.unary(kernel.Square, other), -1, s.constant(1)), math.Pow(2, v), math.Pow(0.5, v))
	}
	return s.binary(f, a, b)
}

// valuesOf are the guards that a and b have values, if a − b, which is id, does not show all that their values depend on:
// √y + 1 > √y is 1 > 0, where √y has a value.
func (m *Model) valuesOf(a, b Expr, id nodeID) (gs []Guard) {
	if a.m == nil || b.m == nil || m.st.like(a.id).affine || m.st.like(b.id).affine {
		return nil
	}
	of := m.st.limited(b.id)
	both := slices.DeleteFunc(m.st.limited(a.id), func(id nodeID) bool { return !slices.Contains(of, id) })
	if len(both) == 0 {
		return nil
	}
	for _, w := range m.ways(id) {
		in := m.st.limited(w.value)
		if slices.ContainsFunc(both, func(id nodeID) bool { return !slices.Contains(in, id) }) {
			return []Guard{m.hasValue(a.id), m.hasValue(b.id)}
		}
	}
	return nil
}

// limited are the parts of id that have no value for some numbers.
func (s *store) limited(id nodeID) (parts []nodeID) {
	for id := range s.under(id) {
		if n := s.like(id); n.kind == kUnary && isLimited(n.fn) || s.isRoot(id) {
			parts = append(parts, id)
		}
	}
	return parts
}

// hasValue is the guard that id has a value.
func (m *Model) hasValue(id nodeID) Guard {
	g := constantGuard(m, false)
	for _, w := range m.ways(id) {
		g = Or(g, And(append(m.domain(w.value), Guard{value: Expr{m: m, id: w.where}})...))
	}
	return g
}

// equalNumbers is the guard a = b of values that change by branches alone, some of which are infinite or NaN.
func (m *Model) equalNumbers(a, b Expr) Guard {
	s, where := m.st, m.st.constant(0)
	for _, x := range m.ways(a.in(m)) {
		for _, y := range m.ways(b.in(m)) {
			v, _ := s.isConst(x.value)
			if w, _ := s.isConst(y.value); v == w {
				where = s.or(where, s.and(x.where, y.where))
			}
		}
	}
	return Guard{value: Expr{m: m, id: where}}
}
