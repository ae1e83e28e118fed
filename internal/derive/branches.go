package derive

import (
	"slices"

	"github.com/facetvi/facet/internal/ir"
)

// A branch is a part of a term: what the term is where the conditions of some of its selects hold, or do not, and 0 elsewhere,
//
//	f(c ? a : b) = (c ? f(a) : 0) + (c ? 0 : f(b))
//
// So what is below the one side of a decision tree's root does not meet what is below the other, though each term depends on both.
type branch struct {
	when   []condition
	planes []int // on whose signs it depends, its conditions' among them
}

// A condition is a formula, and whether it holds.
type condition struct {
	formula ir.ID
	holds   bool
}

// brancher finds the branches of terms.
type brancher struct {
	nodes *ir.Nodes
	owner func(plane int) []int // what should not meet, by plane
	walk
}

func newBrancher(nodes *ir.Nodes, owner func(plane int) []int) *brancher {
	return &brancher{nodes, owner, newWalk(nodes.Len())}
}

// mostConditions is how many of a term's conditions are tried.
const mostConditions = 8

// of are the branches of a term, one if no condition of its selects keeps owners apart.
func (x *brancher) of(term ir.ID) []branch {
	b, conditions := x.under(term, nil)
	return x.split(term, b, conditions)
}

func (x *brancher) split(term ir.ID, b branch, conditions []ir.ID) []branch {
	if len(x.owners(b)) < 2 {
		return []branch{b}
	}
	for _, c := range conditions {
		on, left := x.under(term, append(slices.Clip(b.when), condition{c, true}))
		off, right := x.under(term, append(slices.Clip(b.when), condition{c, false}))
		if a, b := x.owners(on), x.owners(off); len(subtract(a, b)) > 0 && len(subtract(b, a)) > 0 {
			return append(x.split(term, on, left), x.split(term, off, right)...)
		}
	}
	return []branch{b}
}

// owners are those of the planes of a branch, ascending.
func (x *brancher) owners(b branch) (list []int) {
	for _, l := range b.planes {
		list = append(list, x.owner(l)...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// under is a term under conditions, and the first of those of its other selects, outer ones before those within.
func (x *brancher) under(term ir.ID, when []condition) (b branch, more []ir.ID) {
	b.when = when
	x.from(term, func(id ir.ID) {
		switch x.nodes.Like(id).Kind {
		case ir.Sign:
			b.planes = append(b.planes, int(x.nodes.Head(id).A))
			return
		case ir.Select:
			n := x.nodes.Head(id)
			if k := slices.IndexFunc(when, func(c condition) bool { return c.formula == n.A }); k >= 0 {
				side := n.C
				if when[k].holds {
					side = n.B
				}
				x.stack = append(x.stack, n.A, side)
				return
			}
			if len(more) < mostConditions && !slices.Contains(more, n.A) {
				more = append(more, n.A)
			}
		}
		x.stack = x.nodes.AppendOperands(x.stack, id)
	})
	return b, more
}
