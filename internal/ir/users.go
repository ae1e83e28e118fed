package ir

import "slices"

// Users are, by node, the sums that it is a summand of, and whether there are other uses.
type Users struct {
	nodes *Nodes
	sums  [][]ID
	other []bool
}

// NewUsers finds those that roots are made of.
func NewUsers(nodes *Nodes, roots []ID) Users {
	u := Users{nodes, make([][]ID, nodes.Len()), make([]bool, nodes.Len())}
	for _, id := range roots {
		u.other[id] = true
	}
	for id, is := range Needed(nodes, roots) {
		if !is {
			continue
		}
		sum := nodes.Like(ID(id)).Kind == Sum
		nodes.Operands(ID(id), func(o ID) {
			if sum {
				u.sums[o] = append(u.sums[o], ID(id))
			} else {
				u.other[o] = true
			}
		})
	}
	return u
}

// Common is what is added to a node wherever it is used.
func (u Users) Common(id ID) (x []Term) {
	for !u.other[id] && len(u.sums[id]) > 0 {
		common := u.beside(u.sums[id][0], id)
		for _, s := range u.sums[id][1:] {
			more := u.beside(s, id)
			common = slices.DeleteFunc(common, func(t Term) bool { return !slices.Contains(more, t) })
		}
		x = append(x, common...)
		sum := u.sums[id][0]
		if len(u.sums[id]) > 1 || !slices.Contains(u.nodes.At(sum).Terms, Term{Atom: id, Coef: 1}) {
			break
		}
		id = sum // a long sum is a summand of others
	}
	return x
}

// Together reports whether a node is a summand beside one of others.
func (u Users) Together(id ID, others map[ID]bool) bool {
	return slices.ContainsFunc(u.sums[id], func(sum ID) bool {
		return slices.ContainsFunc(u.nodes.At(sum).Terms, func(t Term) bool { return others[t.Atom] }) || !u.other[sum] && u.Together(sum, others)
	})
}

// beside is what a sum adds to a summand, in units of its coefficient there.
func (u Users) beside(sum, summand ID) (x []Term) {
	terms := u.nodes.At(sum).Terms
	unit := terms[slices.IndexFunc(terms, func(t Term) bool { return t.Atom == summand })].Coef
	for _, t := range terms {
		if coef := t.Coef / unit; t.Atom != summand && coef*unit == t.Coef { // or they would not cancel
			x = append(x, Term{Atom: t.Atom, Coef: coef})
		}
	}
	return x
}
