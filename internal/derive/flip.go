package derive

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/facetvi/facet/internal/ir"
)

// flips computes what the flip of a formula changes in log r: Σ over its terms of
// the term where the formula u is 1, minus the term where it is 0, all else as
// it is.
//
// A state that is a formula of the one before it, and of new signs, would change
// in all later terms. But for a term that depends on u only through another
// formula v, the change is that of v's flip, if v flips, whatever u made it flip:
//
//	change(u) = Σ_{t near u} change of t + (v|u=1 − v|u=0)·change(v)
//
// where the terms near u are those that do not depend on it through v alone. So
// the changes of all states of a chain are a recurrence, linear in its length.
type flips struct {
	b      *logTerms
	users  [][]ir.ID // of each node in the terms
	termOf []int     // 1 + the number of the term that a node is, or 0
	done   map[flipKey]ir.ID

	walk
	answers map[ir.ID]bool // of hasFlip
}

// flipKey is a formula, and the terms that are left out.
type flipKey struct {
	formula ir.ID
	without string
}

func newFlips(b *logTerms, nodes *ir.Nodes) *flips {
	f := &flips{b: b, users: make([][]ir.ID, nodes.Len()), walk: newWalk(nodes.Len()),
		termOf: make([]int, nodes.Len()), done: map[flipKey]ir.ID{}, answers: map[ir.ID]bool{}}
	roots := make([]ir.ID, len(b.terms))
	for t := range b.terms {
		roots[t] = b.terms[t].Atom
		f.termOf[roots[t]] = t + 1
	}
	for id, used := range ir.Needed(nodes, roots) {
		if used {
			nodes.Operands(ir.ID(id), func(o ir.ID) { f.users[o] = append(f.users[o], ir.ID(id)) })
		}
	}
	return f
}

// of is the change by u's flip of all terms but those in without, ascending.
func (f *flips) of(u ir.ID, without []int) ir.ID {
	s := f.b.Store
	terms := f.above(u, -1)
	without = intersect(without, terms)
	if len(without) == len(terms) {
		return s.Constant(0)
	}
	key := flipKey{u, fmt.Sprint(without)}
	if id, ok := f.done[key]; ok {
		return id
	}
	v, near := f.gateway(u, terms)
	on, off := ir.NewForcer(s, u, true), ir.NewForcer(s, u, false)
	off.On = on
	if n := s.At(u); n.Kind == ir.Sign {
		off.Smooth = f.b.smooth(int(n.A))
	} else {
		off.Smooth = f.b.planes.SmoothOn(u)
	}
	change := f.changeOf(subtract(near, without), on, off)
	if v >= 0 {
		rest := f.of(v, slices.Compact(slices.Sorted(slices.Values(slices.Concat(without, near)))))
		change = s.Sum(1, change, 1, s.Flip(on.Rewrite(v), off.Rewrite(v), rest))
	}
	f.done[key] = change
	return change
}

// changeOf is the change of the given terms.
func (f *flips) changeOf(terms []int, on, off *ir.Rewriter) ir.ID {
	o := f.b.row(f.b.Store.Sum(1, f.b.sum(terms, on), -1, f.b.sum(terms, off)))
	return f.b.Store.AffineSum(o.C, o.Terms)
}

// gateway is a formula v, and the terms that depend on u, but not through v
// alone; they are as few as can be. It is −1 if there is no such formula.
func (f *flips) gateway(u ir.ID, terms []int) (v ir.ID, near []int) {
	v, near = -1, terms
	for _, exit := range f.exits(u) {
		if rest := f.above(u, exit); len(rest) < len(near) {
			v, near = exit, rest
		}
	}
	return v, near
}

// maxExits is how many formulas are tried as gateways.
const maxExits = 4

// exits are the next formulas above u that are more than parts of formulas.
func (f *flips) exits(u ir.ID) (exits []ir.ID) {
	f.from(u, func(id ir.ID) {
		if id != u && slices.ContainsFunc(f.users[id], func(x ir.ID) bool { return !f.isFormula(x) }) {
			exits = append(exits, id)
			return
		}
		for _, user := range f.users[id] {
			if f.isFormula(user) {
				f.stack = append(f.stack, user)
			}
		}
	})
	slices.SortFunc(exits, cmp.Compare)
	return exits[:min(len(exits), maxExits)]
}

func (f *flips) isFormula(id ir.ID) bool {
	k := f.b.Store.Like(id).Kind
	return k == ir.Not || k == ir.And
}

// hasFormula reports whether a formula uses u.
func (f *flips) hasFormula(u ir.ID) bool {
	return int(u) < len(f.users) && slices.ContainsFunc(f.users[u], f.isFormula)
}

// above are the terms that depend on u other than through the node without,
// ascending.
func (f *flips) above(u, without ir.ID) (terms []int) {
	f.from(u, func(id ir.ID) {
		if id == without {
			return
		}
		if t := f.termOf[id]; t > 0 {
			terms = append(terms, t-1)
		}
		f.stack = append(f.stack, f.users[id]...)
	})
	slices.Sort(terms)
	return terms
}

// subtract is a without b; both are ascending.
func subtract(a, b []int) []int {
	return slices.DeleteFunc(slices.Clone(a), func(t int) bool { _, in := slices.BinarySearch(b, t); return in })
}

// intersect is what is in a and in b; both are ascending.
func intersect(a, b []int) []int { return subtract(a, subtract(a, b)) }

// hasFlip reports whether id is made of a flip.
func (f *flips) hasFlip(id ir.ID) bool {
	n := f.b.Store.At(id)
	switch {
	case n.Kind == ir.Flip:
		return true
	case id < f.b.own: // of the program
		return false
	}
	return ir.Remembered(f.answers, id, func() (found bool) {
		n.Operands(func(o ir.ID) { found = found || f.hasFlip(o) })
		return found
	})
}
