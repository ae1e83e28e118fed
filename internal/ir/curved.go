package ir

import (
	"slices"

	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/regions"
)

// SplitLogs is id with log(a) − log(b) in place of log(a/b), if one of a and b is positive wherever id has a value, and so the
// other one is too. In log b − log(b/(1 − b)) the first term says that b is positive.
func (s *Store) SplitLogs(id ID) ID {
	c, edges := s.Combination(id), s.Domain(id)
	for k, t := range c.Terms {
		if len(c.Terms) == 1 || !s.IsUnary(t.Atom, kernel.Log) {
			continue
		}
		by, inner := s.Coefficient(s.At(t.Atom).A)
		top, bottom, ok := s.Quotient(inner)
		if !ok || !(by.V > 0) {
			continue
		}
		positive := func(x ID) bool {
			return slices.ContainsFunc(edges, func(e Edge) bool { return e.Of != t.Atom && e.Positive == x }) || s.notNegative(x)
		}
		if !positive(top) && !positive(bottom) {
			continue
		}
		log := func(x ID) Combination { return s.Combination(s.Unary(kernel.Log, x)) }
		split := Combination{V: c.V.plus(by.Log().Times(c.Coef(k)))}
		for i := range c.Terms {
			if i != k {
				split.Add(c.Coef(i), c.Terms[i].Atom)
			}
		}
		rest := s.SumOf(t.Coef, log(top), -t.Coef, log(bottom))
		return s.Node(s.weighted(Rounded{V: 1}, split, Rounded{V: 1}, s.Combination(rest)))
	}
	return id
}

// Quotient is id as top/bottom.
func (s *Store) Quotient(id ID) (top, bottom ID, ok bool) {
	switch n := s.At(id); {
	case s.IsUnary(id, kernel.Recip):
		return s.Constant(1), n.A, true
	case n.Kind == Binary && n.Fn == kernel.Div:
		return n.A, n.B, true
	case n.Kind == Binary && n.Fn == kernel.Mul:
		if top, bottom, ok = s.Quotient(n.A); ok {
			return s.Mul(top, n.B), bottom, true
		}
		if top, bottom, ok = s.Quotient(n.B); ok {
			return s.Mul(n.A, top), bottom, true
		}
	}
	return 0, 0, false
}

// Definite reports whether id has one sign, and is never 0.
func (s *Store) Definite(id ID) bool {
	steps, err := s.Steps(id)
	if err != nil {
		return false
	}
	negative, zero, positive := regions.SignsOf(steps)
	return !zero && negative != positive
}

// Pole is a part of id that is infinite where another number may be 0, so that it
// changes its sign there.
func (s *Store) Pole(id ID) (part ID, found bool) {
	for id := range s.Under(id) {
		switch n := s.Like(id); {
		case s.IsUnary(id, kernel.Tan):
			found = true
		case s.IsUnary(id, kernel.Recip):
			found = !s.Definite(s.At(id).A)
		case n.Kind == Binary && n.Fn == kernel.Div:
			found = !s.Definite(s.At(id).B)
		case n.Kind == Binary && n.Fn == kernel.Pow && !s.isRoot(id):
			p, _ := s.IsConst(s.At(id).B)
			found = p < 0 && !s.Definite(s.At(id).A)
		}
		if found {
			return id, true
		}
	}
	return 0, false
}

// Shifted is by·id + shift·bound.
func (s *Store) Shifted(by float64, id ID, shift float64, bound Rounded) ID {
	return s.Node(s.weighted(Rounded{V: by}, s.Combination(id), Rounded{V: shift}, Combination{V: bound}))
}

// PositiveLog is log(id) for an expression that is always positive, made of
// exponentials by products, quotients and powers.
func (s *Store) PositiveLog(id ID) (log Combination, ok bool) {
	c, inner := s.Coefficient(id)
	n := s.At(inner)
	pair := func(ca float64, a ID, cb float64, b ID) (log Combination, ok bool) {
		x, okX := s.PositiveLog(a)
		y, okY := s.PositiveLog(b)
		if !okX || !okY {
			return log, false
		}
		return s.Combination(s.SumOf(ca, x, cb, y)), true
	}
	one := func(by float64, a ID) (Combination, bool) { return pair(by, a, 0, s.Constant(1)) }
	switch v, exponent := s.IsConst(n.B); {
	case !(c.V > 0):
		return log, false
	case n.Kind == Const:
		return Combination{V: s.number(inner).Log()}, n.V > 0
	case s.IsUnary(inner, kernel.Exp):
		log, ok = s.Combination(n.A), true
	case s.IsUnary(inner, kernel.Recip):
		log, ok = one(-1, n.A)
	case s.IsUnary(inner, kernel.Sqrt):
		log, ok = one(0.5, n.A)
	case s.IsUnary(inner, kernel.Square):
		log, ok = one(2, n.A)
	case n.Kind == Binary && n.Fn == kernel.Mul:
		log, ok = pair(1, n.A, 1, n.B)
	case n.Kind == Binary && n.Fn == kernel.Div:
		log, ok = pair(1, n.A, -1, n.B)
	case n.Kind == Binary && n.Fn == kernel.Pow && exponent:
		log, ok = one(v, n.A)
	}
	if ok {
		log.V = log.V.plus(c.Log())
	}
	return log, ok
}
