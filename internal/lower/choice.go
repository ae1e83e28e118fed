package lower

import (
	"slices"

	"github.com/facetvi/facet/internal/ir"
)

// A choice is a formula that is one guard or another, as a third one says: one select in place of products and complements,
//
//	¬(by ∧ ¬yes) ∧ ¬(¬by ∧ ¬no)    or    ¬(¬(by ∧ yes) ∧ ¬(¬by ∧ no)).
type choice struct{ by, yes, no ir.ID }

// choose finds the choices among the nodes of list, and which formulas only they have used, so that these need no row.
func (b *batch) choose(list []ir.ID, outs []ir.Output, inner map[ir.ID]bool) {
	b.choices = map[ir.ID]choice{}
	needed := make([]bool, list[len(list)-1]+1)
	for _, o := range outs {
		for _, id := range appendAtoms(nil, o) {
			needed[id] = true
		}
	}
	for _, id := range slices.Backward(list) {
		v := b.View(id)
		if isFormula := v.Kind == ir.And || v.Kind == ir.Not; isFormula && !needed[id] {
			inner[id] = true
			continue
		}
		b.args = b.operands(b.args[:0], v)
		if c, is := b.choice(id); is {
			b.choices[id], b.args = c, append(b.args[:0], c.by, c.yes, c.no)
			for _, row := range append([]ir.ID{id}, b.args...) {
				delete(inner, row)
			}
		}
		for _, o := range b.args {
			needed[o] = true
		}
	}
}

// choice reports whether formula id is one.
func (b *batch) choice(id ir.ID) (choice, bool) {
	n := b.st.Head(id)
	if n.Kind == ir.And {
		c, is := b.neither(n)
		yes, not := b.negated(c.yes)
		no, also := b.negated(c.no)
		return choice{c.by, yes, no}, is && not && also
	}
	if all, is := b.negated(id); is && b.st.Head(all).Kind == ir.And {
		return b.neither(b.st.Head(all))
	}
	return choice{}, false
}

// negated is the formula of which id is the complement, if it is one.
func (b *batch) negated(id ir.ID) (ir.ID, bool) {
	n := b.st.Head(id)
	return n.A, n.Kind == ir.Not
}

// neither is the choice of which n is the complement, if there is one.
func (b *batch) neither(n ir.Node) (choice, bool) {
	first, is := b.negated(n.A)
	second, also := b.negated(n.B)
	if !is || !also || b.st.Head(first).Kind != ir.And || b.st.Head(second).Kind != ir.And {
		return choice{}, false
	}
	p, q := b.st.Head(first), b.st.Head(second)
	for _, x := range [2][2]ir.ID{{p.A, p.B}, {p.B, p.A}} {
		for _, y := range [2][2]ir.ID{{q.A, q.B}, {q.B, q.A}} {
			if by, is := b.negated(y[0]); is && by == x[0] {
				return choice{by, x[1], y[1]}, true
			}
			if by, is := b.negated(x[0]); is && by == y[0] {
				return choice{by, y[1], x[1]}, true
			}
		}
	}
	return choice{}, false
}
