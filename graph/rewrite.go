package graph

import "github.com/facetvi/facet/graph/internal/kernel"

// A rewriter rebuilds expressions with a substitution made in them; what does not
// change stays the same node.
type rewriter struct {
	m     *Model
	sub   Substitution
	done  map[nodeID]nodeID
	fixed func(nodeID) bool // nodes that are known not to change; nil for none
	// smooth selects are those that are continuous where what is substituted in their
	// formula changes: in that it is what it is for on. nil for none.
	smooth func(n node) bool
	on     *rewriter // nil for the rewriter itself
	// pole is what takes the place of a denominator that is 0 at the points: the least number
	// on its side, by which quotients are the infinite limits from there. nil for none.
	pole func(denominator nodeID) (v float64, is bool)
}

// newForcer returns a rewriter that puts holds in the place of a formula.
func newForcer(m *Model, formula nodeID, holds bool) *rewriter {
	v := constantGuard(m, holds).value.id
	return &rewriter{m: m, done: map[nodeID]nodeID{formula: v}, fixed: func(id nodeID) bool { return id < formula }}
}

func (w *rewriter) rewrite(id nodeID) nodeID {
	if w.fixed != nil && w.fixed(id) {
		return id
	}
	return remembered(w.done, id, func() nodeID { return w.rebuild(id) })
}

func (w *rewriter) rebuild(id nodeID) nodeID {
	s := w.m.st
	n := s.at(id)
	switch n.kind {
	case kLatent:
		if x, ok := w.sub.latent(int(n.a)); ok {
			return x.in(w.m)
		}
	case kSign:
		if g, ok := w.sub.sign(int(n.a)); ok {
			return g.value.in(w.m)
		}
	case kSum:
		return w.sum(id, n)
	case kUnary:
		if v, is := w.poleOf(n.fn == kernel.Recip, n.a); is {
			return s.intern(node{kind: kUnary, fn: kernel.Recip, a: s.constant(v)})
		}
	case kBinary:
		if v, is := w.poleOf(n.fn == kernel.Div, n.b); is {
			return s.intern(node{kind: kBinary, fn: kernel.Div, a: w.rewrite(n.a), b: s.constant(v)})
		}
	case kSelect:
		return w.selection(id, n)
	case kFlip:
		return id
	}
	changes := false
	n.operands(func(o nodeID) { changes = w.rewrite(o) != o || changes })
	if !changes {
		return id
	}
	return s.operation(n, w.rewrite)
}

// operation is that of n, a node of this store or another one, on the operands that of gives
// for its own.
func (s *store) operation(n node, of func(nodeID) nodeID) nodeID {
	switch n.kind {
	case kUnary:
		return s.unary(n.fn, of(n.a))
	case kBinary:
		return s.binary(n.fn, of(n.a), of(n.b))
	case kTernary:
		return s.triple(n.fn, of(n.a), of(n.b), of(n.c))
	case kNot:
		return s.not(of(n.a))
	case kAnd:
		return s.and(of(n.a), of(n.b))
	case kSelect:
		return s.sel(of(n.a), of(n.b), of(n.c))
	case kForward:
		ids := make([]nodeID, len(n.terms))
		for i, t := range n.terms {
			ids[i] = of(t.atom)
		}
		return s.forward(int(n.a), int(n.b), ids)
	}
	panic("graph: a node that no density has")
}

// poleOf is pole of the denominator of a quotient.
func (w *rewriter) poleOf(quotient bool, denominator nodeID) (v float64, is bool) {
	if !quotient || w.pole == nil {
		return 0, false
	}
	return w.pole(denominator)
}

func (w *rewriter) sum(id nodeID, n node) nodeID {
	s := w.m.st
	kept, changed := make([]term, 0, len(n.terms)), []term(nil)
	for _, t := range n.terms {
		if to := w.rewrite(t.atom); to != t.atom {
			changed = append(changed, term{to, t.coef})
		} else {
			kept = append(kept, t)
		}
	}
	if changed == nil {
		return id
	}
	out := s.affineSum(n.v, kept)
	for _, t := range changed {
		out = s.sum(1, out, t.coef, t.atom)
	}
	return out
}

// selection is a select with its sign substituted. Of a sign that has become a
// number only one side is made.
func (w *rewriter) selection(id nodeID, n node) nodeID {
	s := w.m.st
	of := w
	if w.on != nil && w.smooth != nil && w.smooth(n) {
		of = w.on
	}
	cond := of.rewrite(n.a)
	if v, ok := s.isConst(cond); ok {
		if v != 0 {
			return w.rewrite(n.b)
		}
		return w.rewrite(n.c)
	}
	b, c := w.rewrite(n.b), w.rewrite(n.c)
	if cond == n.a && b == n.b && c == n.c {
		return id
	}
	return s.sel(cond, b, c)
}

func (s *store) binary(f kernel.Function, a, b nodeID) nodeID {
	switch f {
	case kernel.Mul:
		return s.mul(a, b)
	case kernel.Div:
		return s.div(a, b)
	case kernel.Pow:
		return s.pow(a, b)
	case kernel.MulData:
		return s.mulData(a, b)
	}
	return s.pair(f, a, b)
}
