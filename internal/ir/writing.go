package ir

import "slices"

// Begin adds the columns of n rows, from row first of the block on, to the pattern: at most left more will come. Next are the numbers of the next
// leaves.
func (b *Block) Begin(next Leaves, first, n, left int) {
	b.next = next
	b.st.patterns[b.pattern].addColumns(b.nodes, b.bounds, b, first, n, left)
	for _, x := range b.roots {
		b.st.Touch(x.hashes[first : first+n])
	}
}

// IsNew reports whether no root of row r is a node already.
func (b *Block) IsNew(r int) bool {
	return !slices.ContainsFunc(b.roots, func(x root) bool {
		n := x.at(r)
		_, known := b.st.Known(n, b.st.Slot(n, x.hashes[r]))
		return known
	})
}

// Enter adds row r, the next one of those whose columns there are, to the table of nodes.
func (b *Block) Enter(r int) {
	s := b.st
	start := ID(s.Size)
	for _, x := range b.roots {
		s.Enter(s.Slot(x.at(r), x.hashes[r]), x.hashes[r], start+x.place)
	}
	s.addRow(b.pattern, start)
	s.Size += len(b.nodes)
	for k, of := range b.leaves {
		for q, j := range of {
			s.SetLeaf(Kind(k), b.next[k]+q, start+ID(j))
		}
		b.next[k] += len(of)
	}
}

// operandsOf are those with number k of node j in n rows, from row first on, or of leaves their numbers; nil where all are the same, as they are
// without a block.
func (b *Block) operandsOf(j, k, first, n int) []ID {
	if b == nil {
		return nil
	}
	x := &b.nodes[j]
	switch {
	case k == 0 && x.IsLeaf():
		of := b.leaves[x.Kind]
		place := slices.Index(of, j)
		list := b.Room.leaves[:0]
		for r := range n {
			list = append(list, ID(b.next[x.Kind]+r*len(of)+place))
		}
		b.Room.leaves = list
		return list
	case k < x.Arity():
		return b.inHole([...]ID{x.A, x.B, x.C}[k], first, n)
	}
	return nil
}

// numbersAt are the constants of node j for k = 0, or its coefficients with number k − 1, with their errors, as operandsOf gives operands.
func (b *Block) numbersAt(j, k, first, n int) (v, err []float64) {
	if b == nil {
		return nil, nil
	}
	if x := b.numbers[j].Of(k); x != nil {
		return x.V[first : first+n], x.Err[first : first+n]
	}
	return nil, nil
}

// inHole is what is in the place of node id outside the row.
func (b *Block) inHole(id ID, first, n int) []ID {
	if b == nil || !b.IsHole(id) {
		return nil
	}
	return b.Holes[b.HoleOf[id]].In[first : first+n]
}
