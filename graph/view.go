package graph

// What a batch reads of a node: the node itself, or a row of like nodes, and which of its terms are affine sums.

// A view is a node, and where it is.
type view struct {
	*node // of the kind, function and flags; with its numbers and operands where like is nil
	id    nodeID
	like  *likeNode // nil if it is in the list
	row   patternRow
}

// A lookup looks nodes up. It is fast where they are in one of the two segments of those
// before.
type lookup struct {
	x           *nodes
	near, other run
}

func (l *lookup) isAffine(id nodeID) bool { return l.view(id).affine }

func (b *lookup) view(id nodeID) view {
	x := b.x
	if id < x.plain {
		return view{node: &x.list[id], id: id}
	}
	r := &b.near
	if id < r.first || id >= r.end {
		b.near, b.other = b.other, b.near
		if id < r.first || id >= r.end {
			*r = x.run(id)
		}
	}
	if r.like == nil {
		return view{node: &x.list[r.at+int32(id-r.first)], id: id}
	}
	n := uint32(len(r.like))
	k := uint32(id-r.first) / n
	first := r.first + nodeID(k*n)
	l := &r.like[id-first]
	return view{&l.node, id, l, patternRow{first, r.at + int32(k)}}
}

// sum is the constant and the terms of v, as sumIn gives them.
func (v *view) sum(room []term) (float64, []term) {
	if v.like == nil {
		return v.v, v.terms
	}
	return v.like.numbers[0].at(v.row.at), v.like.terms(room[:0], v.row)
}

// size is the number of its terms.
func (v *view) size() int {
	if v.like != nil {
		return len(v.like.atoms)
	}
	return len(v.terms)
}

// operands appends the operands of v to list.
func (v *view) operands(list []nodeID) []nodeID {
	if v.like != nil {
		return v.like.operands(list, v.row)
	}
	return v.appendOperands(list)
}

// affineCount is how many of the terms are affine.
func (b *lookup) affineCount(terms []term) int {
	k := 0
	for _, t := range terms {
		if b.isAffine(t.atom) {
			k++
		}
	}
	return k
}
