package lower

import (
	"cmp"
	"slices"

	"github.com/facetvi/facet/internal/ir"
)

// A fold is what takes the place of the affine terms of a sum: coef times an atom, and the
// constant that is left.
type fold struct {
	atom, rest           ir.ID // rest is the sum's only other atom, or −1 if it has none or several
	coef, restCoef, left float64
}

// sum is the folded sum, if the rest is one term. It appends the terms to room.
func (f *fold) sum(room []ir.Term) ir.Output {
	x, y := ir.Term{Atom: f.atom, Coef: f.coef}, ir.Term{Atom: f.rest, Coef: f.restCoef}
	if y.Atom < x.Atom {
		x, y = y, x
	}
	return ir.Output{C: f.left, Terms: append(room, x, y)}
}

// beside is f with the given other terms.
func (f fold) beside(rest []ir.Term) fold {
	f.rest = -1
	if len(rest) == 1 {
		f.rest, f.restCoef = rest[0].Atom, rest[0].Coef
	}
	return f
}

// parted appends the affine terms to affine and the others to rest.
func parted(l *ir.Lookup, terms, affine, rest []ir.Term) (_, _ []ir.Term) {
	for _, t := range terms {
		if l.IsAffine(t.Atom) {
			affine = append(affine, t)
		} else {
			rest = append(rest, t)
		}
	}
	return affine, rest
}

// insert adds a term whose atom the terms do not have.
func insert(terms []ir.Term, t ir.Term) []ir.Term {
	at, _ := slices.BinarySearchFunc(terms, t.Atom, func(t ir.Term, atom ir.ID) int { return cmp.Compare(t.Atom, atom) })
	return slices.Insert(terms, at, t)
}

// findFold finds an atom which is there already for v and the affine terms: their sum with
// v, or else without it, negated or as they are. The mean that is taken from data is often
// such a one. It may turn the signs of the terms and turn them back.
func findFold(s *ir.Store, v float64, affine []ir.Term) (f fold, ok bool) {
	for _, c := range []float64{v, 0} {
		left := v
		if c == v { // which may be infinite
			left = 0
		}
		n := ir.Node{Kind: ir.Sum, V: c, Terms: affine}
		negate(&n)
		atom, ok := s.Find(n)
		negate(&n)
		if ok {
			return fold{atom: atom, coef: -1, left: left}, true
		}
		if atom, ok = s.Find(n); ok {
			return fold{atom: atom, coef: 1, left: left}, true
		}
		if v == 0 {
			break
		}
	}
	return fold{}, false
}

// negate turns the signs of a sum.
func negate(n *ir.Node) {
	n.V = -n.V
	for i := range n.Terms {
		n.Terms[i].Coef *= -1
	}
}

// newFold makes the sum of the affine terms.
func newFold(s *ir.Store, v float64, affine []ir.Term) fold {
	return fold{atom: s.AffineSum(0, slices.Clone(affine)), coef: 1, left: v}
}

// maxLinearLatents is the most affine terms that a sum of other things keeps.
const maxLinearLatents = 2

// isLong reports whether the terms of v, a sum, are folded: see batch.sum.
func isLong(l *ir.Lookup, v *ir.View, terms []ir.Term) bool {
	return len(terms) > maxLinearLatents && !v.Affine && l.AffineCount(terms) > maxLinearLatents
}

// foldBlock is how many folds are in a block.
const foldBlock = 256

// folds are those of sums.
type folds struct {
	number []int32  // by node, perhaps short: 1 + the number of its fold, if it has one
	blocks [][]fold // of foldBlock, the last one perhaps of fewer
}

// add gives a sum, one of n nodes, a fold.
func (x *folds) add(id ir.ID, f fold, n int) {
	if len(x.number) < n {
		x.number = append(x.number, make([]int32, n-len(x.number))...)
	}
	last := len(x.blocks) - 1
	if last < 0 || len(x.blocks[last]) == foldBlock {
		x.blocks = append(x.blocks, make([]fold, 0, foldBlock))
		last++
	}
	x.blocks[last] = append(x.blocks[last], f)
	x.number[id] = int32(last*foldBlock + len(x.blocks[last]))
}

func (x *folds) has(id ir.ID) bool { return int(id) < len(x.number) && x.number[id] > 0 }

// of is the fold of a sum that has one.
func (x *folds) of(id ir.ID) *fold {
	n := x.number[id] - 1
	return &x.blocks[n/foldBlock][n%foldBlock]
}
