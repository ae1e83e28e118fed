package graph

import (
	"math"

	"github.com/facetvi/facet/graph/internal/kernel"
)

// unary is f(a), simplified where the result is simpler and the same.
func (s *store) unary(f kernel.Function, a nodeID) nodeID {
	if _, ok := s.isConst(a); ok {
		return s.computed(func(a, _ float64) float64 { return f.Value(a) }, s.number(a), rounded{})
	}
	if n := s.like(a); n.kind == kSelect {
		if n := s.at(a); n.steps || f == kernel.Log && s.logIsSimple(n.b) && s.logIsSimple(n.c) {
			return s.into(f, a, n.a, func() (nodeID, nodeID) { return n.b, n.c })
		}
	}
	if x, ok := s.onlyAtom(a); ok && s.like(x).steps { // f of c·steps + v
		sel, c := s.at(x), s.combination(a)
		side := func(id nodeID) nodeID {
			return s.node(s.weighted(c.coef(0), s.combination(id), rounded{v: 1}, combination{v: c.v}))
		}
		return s.into(f, a, sel.a, func() (nodeID, nodeID) { return side(sel.b), side(sel.c) })
	}
	switch f {
	case kernel.Log:
		if id, ok := s.simpleLog(a); ok {
			return id
		}
	case kernel.Log1p: // log(1 − sigmoid(x)) = −softplus(x)
		if n := s.like(a); n.kind == kSum && s.constantPart(a) == -1 { // log1p(y − 1), for y = 1 − p
			return s.unary(kernel.Log, s.affineSum(0, s.at(a).terms))
		}
		if c, inner := s.coefficient(a); c.v == -1 && s.isUnary(inner, kernel.Sigmoid) {
			return s.scale(-1, s.unary(kernel.Softplus, s.at(inner).a))
		}
	case kernel.Square:
		if c, inner := s.coefficient(a); c.v != 1 && squares(c.v) {
			return s.scaleBy(c.times(c), s.unary(kernel.Square, inner))
		}
	}
	return s.intern(node{kind: kUnary, fn: f, a: a})
}

// into is f(a) for a select a on cond between sides, with f applied to each
// side. It remembers what it did: a state machine's selects share their sides,
// and have exponentially many paths.
func (s *store) into(f kernel.Function, a, cond nodeID, sides func() (then, otherwise nodeID)) nodeID {
	return remembered(s.pushed, applied{f, a}, func() nodeID {
		then, otherwise := sides()
		return s.sel(cond, s.unary(f, then), s.unary(f, otherwise))
	})
}

// applied is a function of a node.
type applied struct {
	f kernel.Function
	a nodeID
}

func (s *store) isUnary(id nodeID, f kernel.Function) bool {
	return s.like(id).kind == kUnary && s.like(id).fn == f
}

// logIsSimple reports whether log(id) has no logarithm in it.
func (s *store) logIsSimple(id nodeID) bool {
	n := s.at(id)
	switch n.kind {
	case kConst:
		return true
	case kSelect:
		return n.steps || remembered(s.simple, id, func() bool { return s.logIsSimple(n.b) && s.logIsSimple(n.c) })
	case kSum:
		c, inner := s.coefficient(id)
		return c.v > 0 && inner != id && s.logIsSimple(inner)
	}
	return s.isUnary(id, kernel.Exp) || s.isUnary(id, kernel.Sigmoid)
}

// simpleLog is log(a) where that needs no logarithm: of exponentials, sigmoids
// and their positive multiples. It also keeps log(1 − sigmoid) from underflow.
func (s *store) simpleLog(a nodeID) (nodeID, bool) {
	if _, ok := s.onlyAtom(a); !ok && s.like(a).kind != kUnary {
		return 0, false
	}
	n := s.at(a)
	switch {
	case s.isUnary(a, kernel.Exp):
		return n.a, true
	case s.isUnary(a, kernel.Sigmoid):
		return s.scale(-1, s.unary(kernel.Softplus, s.scale(-1, n.a))), true
	case n.kind == kSum && len(n.terms) == 1 && n.v == 0 && n.terms[0].coef > 0 && s.logIsSimple(n.terms[0].atom):
		log := s.unary(kernel.Log, n.terms[0].atom)
		sum, one := s.combination(a), rounded{v: 1}
		return s.node(s.weighted(one, s.combination(log), one, combination{v: sum.coef(0).log()})), true
	case n.kind == kSum && len(n.terms) == 1 && n.v == 1 && n.terms[0].coef == -1 && s.isUnary(n.terms[0].atom, kernel.Sigmoid):
		inner := s.at(n.terms[0].atom).a
		return s.scale(-1, s.unary(kernel.Softplus, inner)), true
	}
	return 0, false
}

// sigmoids are p and 1 − p for p = sigmoid(x) or p = 1 − sigmoid(x), each as a
// sigmoid.
func (s *store) sigmoids(p nodeID) (yes, no nodeID, ok bool) {
	if s.isUnary(p, kernel.Sigmoid) {
		return p, s.unary(kernel.Sigmoid, s.scale(-1, s.at(p).a)), true
	}
	n := s.at(p)
	if n.kind == kSum && len(n.terms) == 1 && n.v == 1 && n.terms[0].coef == -1 {
		no, yes, ok = s.sigmoids(n.terms[0].atom)
	}
	return yes, no, ok
}

// squares reports whether c² is far from what a float64 cannot hold.
func squares(c float64) bool { return math.Abs(c) < 0x1p300 && math.Abs(c) > 0x1p-300 }

// squares reports whether x is a number, or v + c·steps of one sign, whose square
// is known and far from what a float64 cannot hold.
func (x Expr) squares() bool {
	if x.m == nil {
		return x.rounded().is(squares)
	}
	s := x.m.st
	v, terms := s.parts(x.id)
	switch {
	case len(terms) == 0:
		return squares(v)
	case len(terms) > 1 || !s.like(terms[0].atom).steps:
		return false
	}
	r := s.extremesOf(terms[0].atom)
	lo, hi := v+terms[0].coef*r.lo, v+terms[0].coef*r.hi
	return squares(lo) && squares(hi) && lo*hi > 0
}

// extremesOf are the least and the greatest value of a step function.
func (s *store) extremesOf(id nodeID) extent {
	n := s.at(id)
	if n.kind == kConst {
		return extent{n.v, n.v}
	}
	return remembered(s.extremes, id, func() extent { return s.extremesOf(n.b).or(s.extremesOf(n.c)) })
}

// isFinite reports whether x may be the coefficient of a sum: 1/0 behind a guard
// is an operation of its own, whose derivative is 0 where it is not taken.
func isFinite(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }

// scales reports whether v may be multiplied into the coefficient of b.
func (s *store) scales(v float64, b nodeID) bool {
	c, _ := s.coefficient(b)
	return isFinite(c.v * v)
}

// mulNumber is v·b.
func (s *store) mulNumber(v rounded, b nodeID) nodeID {
	if s.scalesBy(v, b) {
		return s.scaleBy(writtenAs(v), b)
	}
	return s.mul(s.constant(v.raw()), b)
}

// scalesBy is scales of numbers that may have sources.
func (s *store) scalesBy(v rounded, b nodeID) bool {
	if _, single := s.onlyAtom(b); s.rec == nil || !single {
		return s.rec == nil && s.scales(v.v, b) || s.rec != nil && v.is(isFinite)
	}
	c := s.combinationIn(b, s.some[0][:])
	if !c.v.is(isZero) {
		return v.is(isFinite)
	}
	times := func(x, y rounded) rounded { return rounded{v: x.v * y.v} }
	x := times(v, c.coef(0))
	x.from = recorded(otherOperation, times, v, c.coef(0))
	return x.is(isFinite)
}

func (s *store) mul(a, b nodeID) nodeID {
	if v, ok := s.isConst(a); ok && s.scales(v, b) {
		return s.scaleBy(s.number(a), b)
	}
	if v, ok := s.isConst(b); ok && s.scales(v, a) {
		return s.scaleBy(s.number(b), a)
	}
	ca, a := s.coefficient(a)
	cb, b := s.coefficient(b)
	if a == b {
		return s.scaleBy(ca.times(cb), s.unary(kernel.Square, a))
	}
	return s.scaleBy(ca.times(cb), s.intern(node{kind: kBinary, fn: kernel.Mul, a: min(a, b), b: max(a, b)}))
}

// mulData is data·b with 0·anything = 0, as in x·log p for a count x = 0.
func (s *store) mulData(data, b nodeID) nodeID {
	if _, ok := s.isConst(data); ok {
		return s.scaleBy(s.number(data), b)
	}
	cb, b := s.coefficient(b)
	if v, ok := s.isConst(b); ok && !math.IsInf(v, 0) {
		return s.scaleBy(cb.times(s.number(b)), data)
	}
	return s.scaleBy(cb, s.intern(node{kind: kBinary, fn: kernel.MulData, a: data, b: b}))
}

func (s *store) div(a, b nodeID) nodeID {
	if v, ok := s.isConst(b); ok && isFinite(1/v) {
		return s.scaleBy(rounded{v: 1}.over(s.number(b)), a)
	}
	cb, b := s.coefficient(b)
	if v, ok := s.isConst(a); s.like(b).steps || ok && v == 1 {
		return s.mul(a, s.scaleBy(rounded{v: 1}.over(cb), s.unary(kernel.Recip, b)))
	}
	ca, a := s.coefficient(a)
	return s.scaleBy(ca.over(cb), s.intern(node{kind: kBinary, fn: kernel.Div, a: a, b: b}))
}

// pair is f(a, b) for a function that no rule makes simpler.
func (s *store) pair(f kernel.Function, a, b nodeID) nodeID {
	_, aConst := s.isConst(a)
	if _, bConst := s.isConst(b); aConst && bConst {
		return s.computed(f.Value2, s.number(a), s.number(b))
	}
	return s.intern(node{kind: kBinary, fn: f, a: a, b: b})
}

// computed is f of two numbers.
func (s *store) computed(f func(a, b float64) float64, x, y rounded) nodeID {
	return s.node(combination{v: computed(f, x, y)})
}

// triple is f(a, b, c).
func (s *store) triple(f kernel.Function, a, b, c nodeID) nodeID {
	va, aConst := s.isConst(a)
	vb, bConst := s.isConst(b)
	if vc, cConst := s.isConst(c); aConst && bConst && cConst {
		return s.constant(f.Value3(va, vb, vc))
	}
	return s.intern(node{kind: kTernary, fn: f, a: a, b: b, c: c})
}

func (s *store) pow(a, b nodeID) nodeID {
	va, aConst := s.isConst(a)
	vb, bConst := s.isConst(b)
	switch {
	case aConst && bConst:
		return s.computed(math.Pow, s.number(a), s.number(b))
	case bConst && vb == 0:
		return s.constant(1)
	case bConst && vb == 1:
		return a
	case bConst && vb == 2:
		return s.unary(kernel.Square, a)
	case bConst && vb == 0.5:
		return s.unary(kernel.Sqrt, a)
	case bConst && vb == -1:
		return s.unary(kernel.Recip, a)
	case aConst && va == math.E:
		return s.unary(kernel.Exp, b)
	}
	return s.intern(node{kind: kBinary, fn: kernel.Pow, a: a, b: b})
}
