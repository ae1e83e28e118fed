package ir

// What a batch reads of a node: the node itself, or a row of like nodes, and which of its terms are affine sums.

// A View is a node, and where it is.
type View struct {
	*Node // of the kind, function and flags; with its numbers and operands where like is nil
	ID    ID
	Like  *likeNode // nil if it is in the list
	Row   patternRow
}

// View is node id.
func (x *Nodes) View(id ID) View {
	if id < x.plain {
		return View{Node: &x.list[id], ID: id}
	}
	return x.viewInRow(id)
}

func (x *Nodes) viewInRow(id ID) View {
	if id >= x.Start {
		return View{Node: &x.Row[id-x.Start], ID: id}
	}
	s := &x.segments[x.segment(id)]
	if s.pattern < 0 {
		return s.view(id, x.list, nil)
	}
	return s.view(id, nil, x.patterns[s.pattern].like)
}

// view is node id of the segment: of the list, or of rows that have nodes like these.
func (s *segment) view(id ID, list []Node, like []likeNode) View {
	if like == nil {
		return View{Node: &list[s.at+int32(id-s.first)], ID: id}
	}
	n := uint32(len(like))
	k := uint32(id-s.first) / n
	first := s.first + ID(k*n)
	l := &like[id-first]
	return View{&l.Node, id, l, patternRow{first, s.at + int32(k)}}
}

// A Lookup looks nodes up. It is fast where they are in one of the two segments of those
// before.
type Lookup struct {
	Nodes       *Nodes
	near, other run
}

func (l *Lookup) IsAffine(id ID) bool { return l.View(id).Affine }

func (b *Lookup) View(id ID) View {
	x := b.Nodes
	if id < x.plain {
		return View{Node: &x.list[id], ID: id}
	}
	r := &b.near
	if id < r.first || id >= r.end {
		b.near, b.other = b.other, b.near
		if id < r.first || id >= r.end {
			*r = x.run(id)
		}
	}
	return r.view(id, x.list, r.like)
}

// Sum is the constant and the terms of v, as SumIn gives them.
func (v *View) Sum(room []Term) (float64, []Term) {
	if v.Like == nil {
		return v.V, v.Terms
	}
	return v.Like.numbers[0].at(v.Row.At), v.Like.terms(room[:0], v.Row)
}

// Size is the number of its terms.
func (v *View) Size() int {
	if v.Like != nil {
		return len(v.Like.atoms)
	}
	return len(v.Terms)
}

// Operands appends the operands of v to list.
func (v *View) Operands(list []ID) []ID {
	if v.Like != nil {
		return v.Like.operands(list, v.Row)
	}
	return v.AppendOperands(list)
}

// AffineCount is how many of the terms are affine.
func (b *Lookup) AffineCount(terms []Term) int {
	k := 0
	for _, t := range terms {
		if b.IsAffine(t.Atom) {
			k++
		}
	}
	return k
}
