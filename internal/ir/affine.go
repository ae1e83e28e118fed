package ir

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Sums are kept in affine normal form, constant + Σ coefficient·atom, so that an
// affine expression stays affine through any + − and scaling. An expression with
// more than maxAffine latents is not copied into the sums that use it but becomes
// an atom itself: a recurrence a_i = α·a_{i−1} + v_i stays linear in size, and the
// affine operation evaluates it row by row.
const maxAffine = 6

// A Combination is the affine combination v + Σ terms[i].coef·terms[i].atom, with
// terms sorted by atom, none of them 0, and bounds of the errors of its numbers.
type Combination struct {
	V     Rounded
	Terms []Term
	errs  []float64 // of the coefficients; nil if all are 0
	from  []*Column // of the coefficients; nil if none has one
}

// Coef is coefficient i.
func (c *Combination) Coef(i int) Rounded {
	x := Rounded{V: c.Terms[i].Coef}
	if c.errs != nil {
		x.Err = c.errs[i]
	}
	if c.from != nil {
		x.From = c.from[i]
	}
	return x
}

// Add appends x·atom.
func (c *Combination) Add(x Rounded, atom ID) {
	if x.Is(isZero) {
		return
	}
	if x.From != nil && c.from == nil {
		c.from = make([]*Column, len(c.Terms), cap(c.Terms))
	}
	if c.from != nil {
		c.from = append(c.from, x.From)
	}
	if x.Err != 0 && c.errs == nil {
		c.errs = make([]float64, len(c.Terms), cap(c.Terms))
	}
	c.Terms = append(c.Terms, Term{atom, x.V})
	if c.errs != nil {
		c.errs = append(c.errs, x.Err)
	}
}

// weighted is p·x + q·y.
func (s *Store) weighted(p Rounded, x Combination, q Rounded, y Combination) Combination {
	out := Combination{V: p.Times(x.V).plus(q.Times(y.V)), Terms: make([]Term, 0, len(x.Terms)+len(y.Terms))}
	i, j := 0, 0
	for i < len(x.Terms) || j < len(y.Terms) {
		var order int
		switch {
		case i == len(x.Terms):
			order = 1
		case j == len(y.Terms):
			order = -1
		default:
			order = cmp.Compare(x.Terms[i].Atom, y.Terms[j].Atom)
		}
		switch order {
		case -1:
			out.Add(p.Times(x.Coef(i)), x.Terms[i].Atom)
			i++
		case 1:
			out.Add(q.Times(y.Coef(j)), y.Terms[j].Atom)
			j++
		default:
			out.Add(p.Times(x.Coef(i)).plus(q.Times(y.Coef(j))), x.Terms[i].Atom)
			i, j = i+1, j+1
		}
	}
	return out
}

// Combination returns id as one.
func (s *Store) Combination(id ID) Combination {
	c := s.CombinationIn(id, make([]Term, 1))
	s.IgnoresColumns(c)
	return c
}

// IgnoresColumns spoils the block of rows if c has a column.
func (s *Store) IgnoresColumns(c Combination) {
	if c.V.From != nil || c.from != nil {
		s.Block.Spoil()
	}
}

// CombinationIn is combination with room for terms, which may be in it: those of an atom
// need one.
func (s *Store) CombinationIn(id ID, room []Term) Combination {
	switch s.Like(id).Kind {
	case Const:
		return Combination{V: s.number(id)}
	case Sum:
		v, terms := s.SumIn(id, room)
		b := s.BoundsOf(id)
		c := Combination{V: Rounded{V: v, Err: b.V}, Terms: terms, errs: b.Coef}
		if s.Block != nil {
			from := s.Block.numbersOf(s.Start, id)
			c.V.From, c.from = from.v, from.coef
		}
		return c
	}
	return Combination{Terms: append(room[:0], Term{id, 1})}
}

// number is a constant. One that was computed may be off by more than one that is
// written.
func (s *Store) number(id ID) Rounded {
	x := written(s.Head(id).V)
	b := s.BoundsOf(id)
	x.Err = max(x.Err, b.V)
	return x
}

// Node is the node of c. A sum or a number that is computed in several ways is one node,
// with the largest of its errors.
func (s *Store) Node(c Combination) ID {
	if c.V.From != nil || c.from != nil {
		return s.nodeOfColumns(c)
	}
	id := s.AffineSum(c.V.V, c.Terms)
	switch kind := s.Like(id).Kind; {
	case c.V.Err == 0 && c.errs == nil, kind != Sum && kind != Const, kind == Const && c.V.Err <= s.number(id).Err:
		return id
	}
	b := Bounds{c.V.Err, c.errs}
	if known := s.BoundsOf(id); !known.exact() {
		if known.Hold(&b) {
			return id
		}
		b = b.or(&known)
	}
	if s.Block != nil && s.Block.IsHole(id) {
		s.Block.Spoil()
	}
	s.setBounds(id, b)
	return id
}

// nodeOfColumns is node of a combination of which some numbers have columns.
func (s *Store) nodeOfColumns(c Combination) ID {
	if len(c.Terms) == 0 {
		return s.Constant(c.V.Raw())
	}
	if len(c.Terms) == 1 && c.V.Is(isZero) {
		if x := c.Coef(0); x.Is(isOne) {
			return c.Terms[0].Atom
		}
	}
	n := s.Len()
	from := Numbers{c.V.From, c.from}
	c.V.From, c.from, s.Block.node = nil, nil, &from
	id := s.Node(c)
	s.Block.node = nil
	if s.Len() > n {
		s.Block.numbers[int(id-s.Start)] = from
	}
	return id
}

// AffineSum makes the node v + Σ terms; terms are sorted by atom, without zeros.
func (s *Store) AffineSum(v float64, terms []Term) ID {
	if len(terms) == 0 {
		return s.Constant(v)
	}
	if v == 0 && len(terms) == 1 && terms[0].Coef == 1 {
		return terms[0].Atom
	}
	return s.Intern(Node{Kind: Sum, V: v + 0, Terms: terms, Affine: s.affineCount(terms) == len(terms)})
}

// ConstantPart is the constant of parts.
func (s *Store) ConstantPart(id ID) float64 {
	if n := s.Like(id); n.Kind != Sum && n.Kind != Const {
		return 0
	}
	return s.Head(id).V
}

// Parts returns id as constant + Σ terms.
func (s *Store) Parts(id ID) (float64, []Term) {
	c := s.Combination(id)
	return c.V.V, c.Terms
}

// Sum is ca·a + cb·b.
func (s *Store) Sum(ca float64, a ID, cb float64, b ID) ID {
	return s.SumOf(ca, s.CombinationIn(a, s.Some[0][:]), cb, s.CombinationIn(b, s.Some[1][:]))
}

func (s *Store) SumOf(ca float64, x Combination, cb float64, y Combination) ID {
	p, q := written(ca), written(cb)
	out := s.weighted(p, x, q, y)
	if len(out.Terms) > maxAffine && s.affineCount(out.Terms) > maxAffine {
		if s.affineCount(x.Terms) < s.affineCount(y.Terms) {
			p, q, x, y = q, p, y, x
		}
		x = s.fold(x)
		if out = s.weighted(p, x, q, y); s.affineCount(out.Terms) > maxAffine {
			out = s.weighted(p, x, q, s.fold(y))
		}
	}
	return s.Node(out)
}

// Scale is c·a.
func (s *Store) Scale(c float64, a ID) ID { return s.ScaleBy(written(c), a) }

func (s *Store) ScaleBy(c Rounded, a ID) ID {
	return s.Node(s.weighted(c, s.CombinationIn(a, s.Some[0][:]), Rounded{}, Combination{}))
}

// fold replaces the affine terms of c by one atom.
func (s *Store) fold(c Combination) Combination {
	if s.affineCount(c.Terms) < 2 {
		return c
	}
	affine, rest := s.cut(c)
	rest.insert(Term{s.Node(affine), 1})
	return rest
}

// cut splits c into the terms of affine atoms, and the others with the constant.
func (s *Store) cut(c Combination) (affine, rest Combination) {
	rest.V = c.V
	for i, t := range c.Terms {
		part := &rest
		if s.Like(t.Atom).Affine {
			part = &affine
		}
		part.Add(c.Coef(i), t.Atom)
	}
	return affine, rest
}

// insert adds an exact term whose atom c does not have.
func (c *Combination) insert(t Term) {
	at, _ := slices.BinarySearchFunc(c.Terms, t.Atom, func(t Term, atom ID) int { return cmp.Compare(t.Atom, atom) })
	c.Terms = slices.Insert(c.Terms, at, t)
	if c.from != nil {
		c.from = slices.Insert(c.from, at, nil)
	}
	if c.errs != nil {
		c.errs = slices.Insert(c.errs, at, 0)
	}
}

func (s *Store) affineCount(terms []Term) int {
	k := 0
	for _, t := range terms {
		if s.Like(t.Atom).Affine {
			k++
		}
	}
	return k
}

// Coefficient splits a into a number and the rest: 3·x is (3, x).
func (s *Store) Coefficient(a ID) (Rounded, ID) {
	if x, ok := s.OnlyAtom(a); ok {
		if c := s.CombinationIn(a, s.Some[0][:]); c.V.Is(isZero) {
			c := c.Coef(0)
			return Rounded{V: c.Raw(), Err: c.Err}, x
		}
	}
	return Rounded{V: 1}, a
}

// OnlyAtom is the atom of a sum with one.
func (s *Store) OnlyAtom(id ID) (atom ID, ok bool) {
	v := s.View(id)
	if v.Kind != Sum || v.Size() != 1 {
		return 0, false
	}
	if v.Like == nil {
		return v.Terms[0].Atom, true
	}
	return v.Like.atoms[0].At(v.Row.At, v.Row.First), true
}

// Expand writes an affine node as a combination of leaves: latents and projected
// coordinates.
func (s *Store) Expand(id ID) Combination {
	c := s.ExpandColumns(id)
	s.IgnoresColumns(c)
	return c
}

// ExpandColumns is expand with the columns of the numbers.
func (s *Store) ExpandColumns(id ID) Combination {
	c := s.CombinationIn(id, make([]Term, 1))
	if !slices.ContainsFunc(c.Terms, func(t Term) bool { return s.Like(t.Atom).Kind == Sum }) {
		return c
	}
	out := Combination{V: c.V}
	leaves, sums := map[ID]Rounded{}, map[ID]Rounded{}
	var open []ID // the sums, ascending
	add := func(x Rounded, atom ID) {
		if s.Like(atom).Kind != Sum {
			leaves[atom] = leaves[atom].plus(x)
			return
		}
		if _, known := sums[atom]; !known {
			at, _ := slices.BinarySearch(open, atom)
			open = slices.Insert(open, at, atom)
		}
		sums[atom] = sums[atom].plus(x)
	}
	for i, t := range c.Terms {
		add(c.Coef(i), t.Atom)
	}
	for len(open) > 0 { // the users of a sum come before it
		last := len(open) - 1
		x, sum := sums[open[last]], s.CombinationIn(open[last], nil)
		open = open[:last]
		out.V = out.V.plus(x.Times(sum.V))
		for i, t := range sum.Terms {
			add(x.Times(sum.Coef(i)), t.Atom)
		}
	}
	for _, atom := range slices.Sorted(maps.Keys(leaves)) {
		out.Add(leaves[atom], atom)
	}
	return out
}

// Near reports whether two expressions differ by no more than their rounding.
func (s *Store) Near(a, b ID) bool {
	if a == b {
		return true
	}
	x, y := s.Combination(a), s.Combination(b)
	if len(x.Terms) != len(y.Terms) || math.Abs(x.V.V-y.V.V) > x.V.Err+y.V.Err {
		return false
	}
	for k := range x.Terms {
		p, q := x.Coef(k), y.Coef(k)
		if x.Terms[k].Atom != y.Terms[k].Atom || math.Abs(p.V-q.V) > p.Err+q.Err {
			return false
		}
	}
	return true
}
