package graph

import (
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// A rewriter rebuilds expressions with a substitution made in them; what does not
// change stays the same node.
type rewriter struct {
	m     *Model
	sub   Substitution
	done  map[ir.ID]ir.ID
	fixed func(ir.ID) bool // nodes that are known not to change; nil for none
	// smooth selects are those that are continuous where what is substituted in their
	// formula changes: in that it is what it is for on. nil for none.
	smooth func(n ir.Node) bool
	on     *rewriter // nil for the rewriter itself
	// pole is what takes the place of a denominator that is 0 at the points: the least number
	// on its side, by which quotients are the infinite limits from there. nil for none.
	pole func(denominator ir.ID) (v float64, is bool)
}

// newForcer returns a rewriter that puts holds in the place of a formula.
func newForcer(m *Model, formula ir.ID, holds bool) *rewriter {
	v := constantGuard(m, holds).value.id
	return &rewriter{m: m, done: map[ir.ID]ir.ID{formula: v}, fixed: func(id ir.ID) bool { return id < formula }}
}

func (w *rewriter) rewrite(id ir.ID) ir.ID {
	if w.fixed != nil && w.fixed(id) {
		return id
	}
	return ir.Remembered(w.done, id, func() ir.ID { return w.rebuild(id) })
}

func (w *rewriter) rebuild(id ir.ID) ir.ID {
	s := w.m.st
	n := s.At(id)
	switch n.Kind {
	case ir.Latent:
		if x, ok := w.sub.latent(int(n.A)); ok {
			return x.in(w.m)
		}
	case ir.Sign:
		if g, ok := w.sub.sign(int(n.A)); ok {
			return g.value.in(w.m)
		}
	case ir.Sum:
		return w.sum(id, n)
	case ir.Unary:
		if v, is := w.poleOf(n.Fn == kernel.Recip, n.A); is {
			return s.Intern(ir.Node{Kind: ir.Unary, Fn: kernel.Recip, A: s.Constant(v)})
		}
	case ir.Binary:
		if v, is := w.poleOf(n.Fn == kernel.Div, n.B); is {
			return s.Intern(ir.Node{Kind: ir.Binary, Fn: kernel.Div, A: w.rewrite(n.A), B: s.Constant(v)})
		}
	case ir.Select:
		return w.selection(id, n)
	case ir.Flip:
		return id
	}
	changes := false
	n.Operands(func(o ir.ID) { changes = w.rewrite(o) != o || changes })
	if !changes {
		return id
	}
	return s.Operation(n, w.rewrite)
}

// poleOf is pole of the denominator of a quotient.
func (w *rewriter) poleOf(quotient bool, denominator ir.ID) (v float64, is bool) {
	if !quotient || w.pole == nil {
		return 0, false
	}
	return w.pole(denominator)
}

func (w *rewriter) sum(id ir.ID, n ir.Node) ir.ID {
	s := w.m.st
	kept, changed := make([]ir.Term, 0, len(n.Terms)), []ir.Term(nil)
	for _, t := range n.Terms {
		if to := w.rewrite(t.Atom); to != t.Atom {
			changed = append(changed, ir.Term{Atom: to, Coef: t.Coef})
		} else {
			kept = append(kept, t)
		}
	}
	if changed == nil {
		return id
	}
	out := s.AffineSum(n.V, kept)
	for _, t := range changed {
		out = s.Sum(1, out, t.Coef, t.Atom)
	}
	return out
}

// selection is a select with its sign substituted. Of a sign that has become a
// number only one side is made.
func (w *rewriter) selection(id ir.ID, n ir.Node) ir.ID {
	s := w.m.st
	of := w
	if w.on != nil && w.smooth != nil && w.smooth(n) {
		of = w.on
	}
	cond := of.rewrite(n.A)
	if v, ok := s.IsConst(cond); ok {
		if v != 0 {
			return w.rewrite(n.B)
		}
		return w.rewrite(n.C)
	}
	b, c := w.rewrite(n.B), w.rewrite(n.C)
	if cond == n.A && b == n.B && c == n.C {
		return id
	}
	return s.Sel(cond, b, c)
}
