package graph

import (
	"cmp"
	"maps"
	"slices"
)

// Sums are kept in affine normal form, constant + Σ coefficient·atom, so that an
// affine expression stays affine through any + − and scaling. An expression with
// more than maxAffine latents is not copied into the sums that use it but becomes
// an atom itself: a recurrence a_i = α·a_{i−1} + v_i stays linear in size, and the
// affine operation evaluates it row by row.
const maxAffine = 6

// A combination is the affine combination v + Σ terms[i].coef·terms[i].atom, with
// terms sorted by atom, none of them 0, and bounds of the errors of its numbers.
type combination struct {
	v     rounded
	terms []term
	errs  []float64 // of the coefficients; nil if all are 0
	from  []*source // of the coefficients; nil if none has one
}

// coef is coefficient i.
func (c *combination) coef(i int) rounded {
	x := rounded{v: c.terms[i].coef}
	if c.errs != nil {
		x.err = c.errs[i]
	}
	if c.from != nil {
		x.from = c.from[i]
	}
	return x
}

// add appends x·atom.
func (c *combination) add(x rounded, atom nodeID) {
	if zero := x.v == 0; x.from != nil && x.is(isZero) || zero {
		return
	}
	if x.from != nil && c.from == nil {
		c.from = make([]*source, len(c.terms), cap(c.terms))
	}
	if c.from != nil {
		c.from = append(c.from, x.from)
	}
	if x.err != 0 && c.errs == nil {
		c.errs = make([]float64, len(c.terms), cap(c.terms))
	}
	c.terms = append(c.terms, term{atom, x.v})
	if c.errs != nil {
		c.errs = append(c.errs, x.err)
	}
}

// weighted is p·x + q·y.
func (s *store) weighted(p rounded, x combination, q rounded, y combination) combination {
	out := combination{v: p.times(x.v).plus(q.times(y.v)), terms: make([]term, 0, len(x.terms)+len(y.terms))}
	i, j := 0, 0
	for i < len(x.terms) || j < len(y.terms) {
		var order int
		switch {
		case i == len(x.terms):
			order = 1
		case j == len(y.terms):
			order = -1
		default:
			order = cmp.Compare(x.terms[i].atom, y.terms[j].atom)
		}
		switch order {
		case -1:
			out.add(p.times(x.coef(i)), x.terms[i].atom)
			i++
		case 1:
			out.add(q.times(y.coef(j)), y.terms[j].atom)
			j++
		default:
			out.add(p.times(x.coef(i)).plus(q.times(y.coef(j))), x.terms[i].atom)
			i, j = i+1, j+1
		}
	}
	return out
}

// combination returns id as one.
func (s *store) combination(id nodeID) combination {
	c := s.combinationIn(id, make([]term, 1))
	s.ignoresSources(c)
	return c
}

// ignoresSources abandons the row recording if c holds a number computed from row data.
func (s *store) ignoresSources(c combination) {
	if c.v.from != nil || c.from != nil {
		s.rec.spoil()
	}
}

// combinationIn is combination with room for terms, which may be in it: those of an atom
// need one.
func (s *store) combinationIn(id nodeID, room []term) combination {
	switch s.like(id).kind {
	case kConst:
		return combination{v: s.number(id)}
	case kSum:
		v, terms := s.sumIn(id, room)
		b := s.boundsOf(id)
		c := combination{v: rounded{v: v, err: b.v}, terms: terms, errs: b.coef}
		if s.rec != nil {
			from := s.sourcesOf(id)
			c.v.from, c.from = from.v, from.coef
		}
		return c
	}
	return combination{terms: append(room[:0], term{id, 1})}
}

// number is a constant. One that was computed may be off by more than one that is
// written.
func (s *store) number(id nodeID) rounded {
	x := written(s.head(id).v)
	b := s.boundsOf(id)
	x.err = max(x.err, b.v)
	return x
}

// node is the node of c. A sum or a number that is computed in several ways is one node,
// with the largest of its errors.
func (s *store) node(c combination) nodeID {
	if c.v.from != nil || c.from != nil {
		return s.recordedNode(c)
	}
	id := s.affineSum(c.v.v, c.terms)
	switch kind := s.like(id).kind; {
	case c.v.err == 0 && c.errs == nil, kind != kSum && kind != kConst, kind == kConst && c.v.err <= s.number(id).err:
		return id
	}
	b := bounds{c.v.err, c.errs}
	if known := s.boundsOf(id); !known.exact() {
		if known.hold(&b) {
			return id
		}
		b = b.or(&known)
	}
	if s.rec != nil && s.rec.isHole(id) {
		s.rec.spoil()
	}
	s.setBounds(id, b)
	return id
}

// recordedNode is node of a combination of which some numbers have sources.
func (s *store) recordedNode(c combination) nodeID {
	rec := s.rec
	if len(c.terms) == 0 {
		return s.constant(c.v.raw())
	}
	if len(c.terms) == 1 && c.v.is(isZero) {
		if x := c.coef(0); x.is(isOne) {
			return c.terms[0].atom
		}
	}
	n := s.len()
	from := sources{c.v.from, c.from}
	c.v.from, c.from, rec.node = nil, nil, &from
	id := s.node(c)
	rec.node = nil
	if s.len() > n {
		rec.nodes[int(id-s.start)] = from
	}
	return id
}

// boundsOf are those of the errors of node id.
func (s *store) boundsOf(id nodeID) bounds {
	if id < s.plain {
		if int(id) >= len(s.errs) || s.errs[id] == nil {
			return bounds{}
		}
		return *s.errs[id]
	}
	at, ok := s.inList(id)
	switch {
	case ok && (at >= len(s.errs) || s.errs[at] == nil):
		return bounds{}
	case ok:
		return *s.errs[at]
	case id >= s.start:
		return s.rowBounds[id-s.start]
	}
	if b := s.raised[id]; b != nil {
		return *b
	}
	l, row := s.likeNode(id)
	return l.boundsIn(row)
}

func (s *store) setBounds(id nodeID, b bounds) {
	if id >= s.start {
		s.rowBounds[id-s.start] = b
		return
	}
	s.own()
	own := new(bounds)
	*own = b
	at, ok := s.inList(id)
	if !ok {
		s.raised[id] = own
		return
	}
	if n := len(s.errs); n <= at {
		s.errs = slices.Grow(s.errs, cap(s.list)-n)[:len(s.list)]
	}
	s.errs[at] = own
}

// affineSum makes the node v + Σ terms; terms are sorted by atom, without zeros.
func (s *store) affineSum(v float64, terms []term) nodeID {
	if len(terms) == 0 {
		return s.constant(v)
	}
	if v == 0 && len(terms) == 1 && terms[0].coef == 1 {
		return terms[0].atom
	}
	return s.intern(node{kind: kSum, v: v + 0, terms: terms, affine: s.affineCount(terms) == len(terms)})
}

// bounds are those of the errors of a node's constant and coefficients.
type bounds struct {
	v    float64
	coef []float64 // nil if all are 0
}

func (b *bounds) exact() bool { return b.v == 0 && b.coef == nil }

// hold reports whether no bound of c is larger.
func (b *bounds) hold(c *bounds) bool {
	if b.v < c.v || b.coef == nil && c.coef != nil {
		return false
	}
	for i, err := range c.coef {
		if b.coef[i] < err {
			return false
		}
	}
	return true
}

// or is the larger of each two bounds.
func (b *bounds) or(c *bounds) bounds {
	if b.coef == nil {
		b, c = c, b
	}
	out := bounds{max(b.v, c.v), slices.Clone(b.coef)}
	for i, err := range c.coef {
		out.coef[i] = max(out.coef[i], err)
	}
	return out
}

// constantPart is the constant of parts.
func (s *store) constantPart(id nodeID) float64 {
	if n := s.like(id); n.kind != kSum && n.kind != kConst {
		return 0
	}
	return s.head(id).v
}

// parts returns id as constant + Σ terms.
func (s *store) parts(id nodeID) (float64, []term) {
	c := s.combination(id)
	return c.v.v, c.terms
}

// sum is ca·a + cb·b.
func (s *store) sum(ca float64, a nodeID, cb float64, b nodeID) nodeID {
	return s.sumOf(ca, s.combinationIn(a, s.some[0][:]), cb, s.combinationIn(b, s.some[1][:]))
}

func (s *store) sumOf(ca float64, x combination, cb float64, y combination) nodeID {
	p, q := written(ca), written(cb)
	out := s.weighted(p, x, q, y)
	if len(out.terms) > maxAffine && s.affineCount(out.terms) > maxAffine {
		if s.affineCount(x.terms) < s.affineCount(y.terms) {
			p, q, x, y = q, p, y, x
		}
		x = s.fold(x)
		if out = s.weighted(p, x, q, y); s.affineCount(out.terms) > maxAffine {
			out = s.weighted(p, x, q, s.fold(y))
		}
	}
	return s.node(out)
}

// scale is c·a.
func (s *store) scale(c float64, a nodeID) nodeID { return s.scaleBy(written(c), a) }

func (s *store) scaleBy(c rounded, a nodeID) nodeID {
	return s.node(s.weighted(c, s.combinationIn(a, s.some[0][:]), rounded{}, combination{}))
}

// fold replaces the affine terms of c by one atom.
func (s *store) fold(c combination) combination {
	if s.affineCount(c.terms) < 2 {
		return c
	}
	affine, rest := s.cut(c)
	rest.insert(term{s.node(affine), 1})
	return rest
}

// cut splits c into the terms of affine atoms, and the others with the constant.
func (s *store) cut(c combination) (affine, rest combination) {
	rest.v = c.v
	for i, t := range c.terms {
		part := &rest
		if s.like(t.atom).affine {
			part = &affine
		}
		part.add(c.coef(i), t.atom)
	}
	return affine, rest
}

// insert adds an exact term whose atom c does not have.
func (c *combination) insert(t term) {
	at, _ := slices.BinarySearchFunc(c.terms, t.atom, func(t term, atom nodeID) int { return cmp.Compare(t.atom, atom) })
	c.terms = slices.Insert(c.terms, at, t)
	if c.from != nil {
		c.from = slices.Insert(c.from, at, nil)
	}
	if c.errs != nil {
		c.errs = slices.Insert(c.errs, at, 0)
	}
}

func (s *store) affineCount(terms []term) int {
	k := 0
	for _, t := range terms {
		if s.like(t.atom).affine {
			k++
		}
	}
	return k
}

// coefficient splits a into a number and the rest: 3·x is (3, x).
func (s *store) coefficient(a nodeID) (rounded, nodeID) {
	if x, ok := s.onlyAtom(a); ok {
		if c := s.combinationIn(a, s.some[0][:]); c.v.is(isZero) {
			c := c.coef(0)
			return rounded{v: c.raw(), err: c.err}, x
		}
	}
	return rounded{v: 1}, a
}

// onlyAtom is the atom of a sum with one.
func (s *store) onlyAtom(id nodeID) (atom nodeID, ok bool) {
	l, row := s.likeNode(id)
	if l == nil {
		if n := s.like(id); n.kind == kSum && len(n.terms) == 1 {
			return n.terms[0].atom, true
		}
		return 0, false
	}
	if len(l.atoms) != 1 {
		return 0, false
	}
	return l.atoms[0].at(row.at, row.first), true
}

// expand writes an affine node as a combination of leaves: latents and projected
// coordinates.
func (s *store) expand(id nodeID) combination {
	c := s.expandRecorded(id)
	s.ignoresSources(c)
	return c
}

// expandRecorded is expand with the sources of the numbers.
func (s *store) expandRecorded(id nodeID) combination {
	c := s.combinationIn(id, make([]term, 1))
	if !slices.ContainsFunc(c.terms, func(t term) bool { return s.like(t.atom).kind == kSum }) {
		return c
	}
	out := combination{v: c.v}
	leaves, sums := map[nodeID]rounded{}, map[nodeID]rounded{}
	var open []nodeID // the sums, ascending
	add := func(x rounded, atom nodeID) {
		if s.like(atom).kind != kSum {
			leaves[atom] = leaves[atom].plus(x)
			return
		}
		if _, known := sums[atom]; !known {
			at, _ := slices.BinarySearch(open, atom)
			open = slices.Insert(open, at, atom)
		}
		sums[atom] = sums[atom].plus(x)
	}
	for i, t := range c.terms {
		add(c.coef(i), t.atom)
	}
	for len(open) > 0 { // the users of a sum come before it
		last := len(open) - 1
		x, sum := sums[open[last]], s.combinationIn(open[last], nil)
		open = open[:last]
		out.v = out.v.plus(x.times(sum.v))
		for i, t := range sum.terms {
			add(x.times(sum.coef(i)), t.atom)
		}
	}
	for _, atom := range slices.Sorted(maps.Keys(leaves)) {
		out.add(leaves[atom], atom)
	}
	return out
}
