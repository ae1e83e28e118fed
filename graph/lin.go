package graph

import (
	"cmp"
	"math"
	"slices"
)

// Sums are kept in linear normal form, constant + Σ coefficient·atom, so that
// an affine expression stays affine through any + − and scaling. An expression
// with more than maxAffine latents is not copied into the sums that use it but
// becomes an atom itself: a recurrence a_i = α·a_{i−1} + v_i stays linear in
// size, and the affine operation evaluates it row by row.
const maxAffine = 6

// parts returns id as constant + Σ terms.
func (s *store) parts(id nodeID) (float64, []term) {
	n := &s.nodes[id]
	switch n.kind {
	case kConst:
		return n.v, nil
	case kLin:
		return n.v, n.terms
	}
	return 0, []term{{id, 1}}
}

// sum is ca·a + cb·b.
func (s *store) sum(ca float64, a nodeID, cb float64, b nodeID) nodeID {
	va, ta := s.parts(a)
	vb, tb := s.parts(b)
	v := addSnap(ca*va, cb*vb)
	terms := mergeTerms(ca, ta, cb, tb)
	if s.affineCount(terms) > maxAffine {
		if s.affineCount(ta) < s.affineCount(tb) {
			a, b, ca, cb, ta, tb = b, a, cb, ca, tb, ta
		}
		ta = s.fold(ta)
		if terms = mergeTerms(ca, ta, cb, tb); s.affineCount(terms) > maxAffine {
			terms = mergeTerms(ca, ta, cb, s.fold(tb))
		}
	}
	return s.lin(v, terms)
}

// fold replaces the affine part of terms by one atom.
func (s *store) fold(terms []term) []term {
	if s.affineCount(terms) < 2 {
		return terms
	}
	affine, rest := s.cut(terms)
	return withTerm(rest, term{s.lin(0, affine), 1})
}

// foldLike is fold of v + terms that takes an atom which is there already, with
// or without the constant, as it is or negated: a mean that is compared with
// data is often such a one.
func (s *store) foldLike(v float64, terms []term) (float64, []term) {
	affine, rest := s.cut(terms)
	if len(affine) < 2 {
		return v, terms
	}
	for _, c := range []float64{v, 0} {
		left := v
		if c == v { // which may be infinite
			left = 0
		}
		for _, sign := range []float64{1, -1} {
			signed := slices.Clone(affine)
			for i := range signed {
				signed[i].coef *= sign
			}
			if atom, ok := s.find(node{kind: kLin, v: sign * c, terms: signed}); ok {
				return left, withTerm(rest, term{atom, sign})
			}
		}
	}
	return v, withTerm(rest, term{s.lin(0, affine), 1})
}

// cut splits terms into those of affine atoms and the rest.
func (s *store) cut(terms []term) (affine, rest []term) {
	for _, t := range terms {
		if s.nodes[t.atom].affine {
			affine = append(affine, t)
		} else {
			rest = append(rest, t)
		}
	}
	return affine, rest
}

// withTerm inserts t, whose atom is not among terms.
func withTerm(terms []term, t term) []term {
	terms = append(terms, t)
	slices.SortFunc(terms, func(x, y term) int { return cmp.Compare(x.atom, y.atom) })
	return terms
}

func (s *store) affineCount(terms []term) int {
	k := 0
	for _, t := range terms {
		if s.nodes[t.atom].affine {
			k++
		}
	}
	return k
}

// addSnap is x + y, or 0 where the sum is below the rounding of its operands:
// what is left there says nothing, and would keep coincident guards apart.
func addSnap(x, y float64) float64 {
	sum := x + y
	if size := max(math.Abs(x), math.Abs(y)); math.Abs(sum) <= 4*0x1p-53*size && !math.IsInf(size, 1) {
		return 0
	}
	return sum
}

func mergeTerms(ca float64, a []term, cb float64, b []term) []term {
	out := make([]term, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		var t term
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].atom < b[0].atom:
			t, a = term{a[0].atom, ca * a[0].coef}, a[1:]
		case len(a) == 0 || b[0].atom < a[0].atom:
			t, b = term{b[0].atom, cb * b[0].coef}, b[1:]
		default:
			t = term{a[0].atom, addSnap(ca*a[0].coef, cb*b[0].coef)}
			a, b = a[1:], b[1:]
		}
		if t.coef != 0 {
			out = append(out, t)
		}
	}
	return out
}

// lin makes the node v + Σ terms; terms are sorted by atom, without zeros.
func (s *store) lin(v float64, terms []term) nodeID {
	if len(terms) == 0 {
		return s.constant(v)
	}
	if v == 0 && len(terms) == 1 && terms[0].coef == 1 {
		return terms[0].atom
	}
	return s.intern(node{kind: kLin, v: v + 0, terms: terms, affine: s.affineCount(terms) == len(terms)})
}

// scale is c·a.
func (s *store) scale(c float64, a nodeID) nodeID {
	v, terms := s.parts(a)
	return s.lin(c*v, mergeTerms(c, terms, 0, nil))
}

// coefficient splits a into a number and the rest: 3·x is (3, x).
func (s *store) coefficient(a nodeID) (float64, nodeID) {
	n := &s.nodes[a]
	if n.kind == kLin && n.v == 0 && len(n.terms) == 1 {
		return n.terms[0].coef, n.terms[0].atom
	}
	return 1, a
}

// expand writes an affine node as constant + Σ coefficient·leaf, where leaves
// are latents and projected coordinates, sorted.
func (s *store) expand(id nodeID) (float64, []term) {
	v, terms := s.parts(id)
	flat := true
	for _, t := range terms {
		flat = flat && s.nodes[t.atom].kind != kLin
	}
	if flat {
		return v, terms
	}
	coef := map[nodeID]float64{}
	s.expandInto(coef, &v, 1, terms)
	out := make([]term, 0, len(coef))
	for atom, c := range coef {
		if c != 0 {
			out = append(out, term{atom, c})
		}
	}
	slices.SortFunc(out, func(x, y term) int { return cmp.Compare(x.atom, y.atom) })
	return v, out
}

// expandInto adds scale·terms to coef and v. Atoms are visited from the highest
// ID down, so that each shared sub-sum is opened once.
func (s *store) expandInto(coef map[nodeID]float64, v *float64, scale float64, terms []term) {
	open := map[nodeID]float64{}
	var order []nodeID
	push := func(t term, c float64) {
		if s.nodes[t.atom].kind != kLin {
			coef[t.atom] = addSnap(coef[t.atom], c*t.coef)
			return
		}
		if _, ok := open[t.atom]; !ok {
			at, _ := slices.BinarySearch(order, t.atom)
			order = slices.Insert(order, at, t.atom)
		}
		open[t.atom] += c * t.coef
	}
	for _, t := range terms {
		push(t, scale)
	}
	for len(order) > 0 {
		id := order[len(order)-1]
		order = order[:len(order)-1]
		c := open[id]
		*v = addSnap(*v, c*s.nodes[id].v)
		for _, t := range s.nodes[id].terms {
			push(t, c)
		}
	}
}
