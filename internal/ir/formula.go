package ir

// A formula is an expression whose value is 0 or 1: the sign of a hyperplane, a
// number, ¬a = 1 − a or a ∧ b = a·b. Like all expressions, equal formulas are
// one node.

// Not is ¬a.
func (s *Store) Not(a ID) ID {
	n := s.At(a)
	switch n.Kind {
	case Const:
		return s.Constant(1 - n.V)
	case Not:
		return n.A
	}
	return s.Intern(Node{Kind: Not, A: a})
}

// And is a ∧ b.
func (s *Store) And(a, b ID) ID {
	for range 2 {
		if v, ok := s.IsConst(a); ok {
			if v != 0 {
				return b
			}
			return a
		}
		a, b = b, a
	}
	switch na, nb := s.At(a), s.At(b); {
	case a == b:
		return a
	case na.Kind == Not && na.A == b, nb.Kind == Not && nb.A == a:
		return s.Constant(0)
	}
	return s.Intern(Node{Kind: And, A: min(a, b), B: max(a, b)})
}

// Or is a ∨ b. (x ∧ y) ∨ (x ∧ ¬y) is x.
func (s *Store) Or(a, b ID) ID {
	if x, y := s.At(a), s.At(b); x.Kind == And && y.Kind == And {
		for _, p := range [2][2]ID{{x.A, x.B}, {x.B, x.A}} {
			for _, q := range [2][2]ID{{y.A, y.B}, {y.B, y.A}} {
				if p[0] == q[0] && p[1] == s.Not(q[1]) {
					return p[0]
				}
			}
		}
	}
	return s.Not(s.And(s.Not(a), s.Not(b)))
}

// Sel is then where the formula cond is 1, and otherwise where it is 0.
func (s *Store) Sel(cond, then, otherwise ID) ID {
	if v, ok := s.IsConst(cond); ok {
		if v != 0 {
			return then
		}
		return otherwise
	}
	if s.Like(cond).Kind == Not {
		return s.Sel(s.Head(cond).A, otherwise, then)
	}
	if s.Like(then).Kind == Select {
		if n := s.Head(then); n.A == cond {
			then = n.B
		}
	}
	if s.Like(otherwise).Kind == Select {
		if n := s.Head(otherwise); n.A == cond {
			otherwise = n.C
		}
	}
	if then == otherwise {
		return then
	}
	steps := s.Like(then).Steps && s.Like(otherwise).Steps
	return s.Intern(Node{Kind: Select, A: cond, B: then, C: otherwise, Steps: steps})
}
