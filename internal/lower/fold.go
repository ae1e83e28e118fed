package lower

import (
	"cmp"
	"runtime"
	"slices"
	"sync"

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
// v, or else without it, as they are or negated. A mean that is compared with data is often
// such a one. It may turn the signs of the terms and turn them back.
func findFold(s *ir.Store, v float64, affine []ir.Term) (f fold, ok bool) {
	for _, c := range []float64{v, 0} {
		left := v
		if c == v { // which may be infinite
			left = 0
		}
		n := ir.Node{Kind: ir.Sum, V: c, Terms: affine}
		atom, ok := s.Find(n)
		if ok {
			return fold{atom: atom, coef: 1, left: left}, true
		}
		negate(&n)
		atom, ok = s.Find(n)
		negate(&n)
		if ok {
			return fold{atom: atom, coef: -1, left: left}, true
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

// foldBlock is how many folds are found at once.
const foldBlock = 256

// folds are those of sums.
type folds struct {
	st     *ir.Store
	number []int32  // by node, perhaps short: 1 + the number of its fold, if it has one
	blocks [][]fold // of foldBlock, perhaps short
}

// find finds the folds of all sums that are folded and have one, in parts on all processors.
func (x *folds) find() {
	n := x.st.Len()
	parts := make([]folder, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	var any sync.Once
	for k := range parts {
		f := &parts[k]
		*f = folder{of: x, part: k, parts: len(parts)}
		wg.Go(func() {
			l := ir.Lookup{Nodes: &x.st.Nodes}
			var some, affine, rest [16]ir.Term
			for id := ir.ID(k * n / len(parts)); int(id) < (k+1)*n/len(parts); id++ {
				v := l.View(id)
				if v.Kind != ir.Sum || v.Affine {
					continue
				}
				c, terms := v.Sum(some[:])
				if !isLong(&l, &v, terms) {
					continue
				}
				any.Do(func() { x.number = make([]int32, n) })
				of, others := parted(&l, terms, affine[:0], rest[:0])
				if f.add(longSum{id, c, len(of), fold{}.beside(others)}, of); len(f.sums) == foldBlock {
					f.find()
				}
			}
			f.find()
		})
	}
	wg.Wait()
	for _, f := range parts {
		for len(x.blocks) < len(parts)*len(f.blocks) {
			x.blocks = append(x.blocks, nil)
		}
		for i, block := range f.blocks {
			x.blocks[i*len(parts)+f.part] = block
		}
	}
}

// A folder finds the folds of a part of the nodes, a block at a time.
type folder struct {
	of          *folds
	part, parts int
	sums        []longSum
	terms       []ir.Term // of all sums
	hashes      []uint32  // of what is likely to be looked for
	free        int
	blocks      [][]fold // number part, part + parts, … of all
}

// A longSum is one that is folded.
type longSum struct {
	id     ir.ID
	v      float64
	affine int // the number of affine terms
	fold   fold
}

func (f *folder) add(s longSum, affine []ir.Term) {
	f.sums, f.terms = append(f.sums, s), append(f.terms, affine...)
	n := ir.Node{Kind: ir.Sum, V: s.v, Terms: f.terms[len(f.terms)-len(affine):]}
	f.hashes = append(f.hashes, n.Hash())
	negate(&n)
	f.hashes = append(f.hashes, n.Hash())
	negate(&n)
}

// find finds the folds of the sums that were added.
func (f *folder) find() {
	f.free += f.of.st.FreeOf(f.hashes) // which the processor fetches
	terms := f.terms
	for _, s := range f.sums {
		if x, ok := findFold(f.of.st, s.v, terms[:s.affine]); ok {
			x.rest, x.restCoef = s.fold.rest, s.fold.restCoef
			f.of.number[s.id] = 1 + int32(addFold(&f.blocks, x, f.part, f.parts))
		}
		terms = terms[s.affine:]
	}
	f.sums, f.terms, f.hashes = f.sums[:0], f.terms[:0], f.hashes[:0]
}

// addFold adds a fold to blocks, and returns its number, where block i has number first + i·step.
func addFold(blocks *[][]fold, f fold, first, step int) int {
	last := len(*blocks) - 1
	if last < 0 || len((*blocks)[last]) == cap((*blocks)[last]) {
		*blocks = append(*blocks, make([]fold, 0, foldBlock))
		last++
	}
	block := &(*blocks)[last]
	*block = append(*block, f)
	return (first+last*step)*foldBlock + len(*block) - 1
}

// add gives a sum a fold.
func (x *folds) add(id ir.ID, f fold) {
	if n := x.st.Len(); len(x.number) < n {
		x.number = append(x.number, make([]int32, n-len(x.number))...)
	}
	x.number[id] = 1 + int32(addFold(&x.blocks, f, 0, 1))
}

func (x *folds) has(id ir.ID) bool { return int(id) < len(x.number) && x.number[id] > 0 }

// of is the fold of a sum that has one.
func (x *folds) of(id ir.ID) *fold {
	n := x.number[id] - 1
	return &x.blocks[n/foldBlock][n%foldBlock]
}
