package graph

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
)

// A fold is what takes the place of the affine terms of a sum, and the constant that is left.
type fold struct {
	atom term
	left float64
}

// parted appends the affine terms to affine and the others to rest.
func (s *store) parted(terms, affine, rest []term) (_, _ []term) {
	for _, t := range terms {
		if s.like(t.atom).affine {
			affine = append(affine, t)
		} else {
			rest = append(rest, t)
		}
	}
	return affine, rest
}

// insert adds a term whose atom the terms do not have.
func insert(terms []term, t term) []term {
	at, _ := slices.BinarySearchFunc(terms, t.atom, func(t term, atom nodeID) int { return cmp.Compare(t.atom, atom) })
	return slices.Insert(terms, at, t)
}

// findFold finds an atom which is there already for v and the affine terms: their sum with
// v, or else without it, as they are or negated. A mean that is compared with data is often
// such a one. It may turn the signs of the terms and turn them back.
func (s *store) findFold(v float64, affine []term) (f fold, ok bool) {
	turn := func() {
		for i := range affine {
			affine[i].coef *= -1
		}
	}
	for _, c := range []float64{v, 0} {
		left := v
		if c == v { // which may be infinite
			left = 0
		}
		atom, ok := s.find(node{kind: kSum, v: c, terms: affine})
		if ok {
			return fold{term{atom, 1}, left}, true
		}
		turn()
		atom, ok = s.find(node{kind: kSum, v: -c, terms: affine})
		turn()
		if ok {
			return fold{term{atom, -1}, left}, true
		}
		if v == 0 {
			break
		}
	}
	return fold{}, false
}

// newFold makes the sum of the affine terms.
func (s *store) newFold(v float64, affine []term) fold {
	return fold{term{s.affineSum(0, slices.Clone(affine)), 1}, v}
}

// isLong reports whether the terms of v, a sum, are folded: see batch.sum.
func (l *lookup) isLong(v *view, terms []term) bool {
	return len(terms) > maxLinLatents && !v.affine && l.affineCount(terms) > maxLinLatents
}

// findFolds finds the folds of all sums that are folded and have one.
func (b *batch) findFolds() {
	n := b.st.len()
	type found struct {
		id nodeID
		fold
	}
	const many = 4096
	parts := make([][][]found, runtime.GOMAXPROCS(0)) // in blocks of many
	var wg sync.WaitGroup
	for k := range parts {
		wg.Go(func() {
			l := lookup{x: &b.st.nodes}
			var some, affine, rest [16]term
			for id := nodeID(k * n / len(parts)); int(id) < (k+1)*n/len(parts); id++ {
				v := l.view(id)
				if v.kind != kSum || v.affine {
					continue
				}
				c, terms := v.sum(some[:])
				if !l.isLong(&v, terms) {
					continue
				}
				of, _ := b.st.parted(terms, affine[:0], rest[:0])
				if f, ok := b.st.findFold(c, of); ok {
					if n := len(parts[k]); n == 0 || len(parts[k][n-1]) == many {
						parts[k] = append(parts[k], make([]found, 0, many))
					}
					last := &parts[k][len(parts[k])-1]
					*last = append(*last, found{id, f})
				}
			}
		})
	}
	wg.Wait()
	lists := slices.Concat(parts...)
	b.folds = slices.Grow(b.folds, many*len(lists))
	for _, list := range lists {
		for _, x := range list {
			b.addFold(x.id, x.fold)
		}
	}
}

func (b *batch) addFold(id nodeID, f fold) {
	if n := b.st.len(); len(b.folded) < n {
		b.folded = append(b.folded, make([]int32, n-len(b.folded))...)
	}
	b.folds = append(b.folds, f)
	b.folded[id] = int32(len(b.folds))
}
