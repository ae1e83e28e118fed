package ir

import (
	"math"

	"github.com/facetvi/facet/internal/kernel"
)

// Unary is f(a), simplified where the result is simpler and the same.
func (s *Store) Unary(f kernel.Function, a ID) ID {
	if _, ok := s.IsConst(a); ok {
		return s.computed(func(a, _ float64) float64 { return f.Value(a) }, s.number(a), Rounded{})
	}
	if n := s.Like(a); n.Kind == Select {
		if n := s.At(a); n.Steps || f == kernel.Log && s.LogIsSimple(n.B) && s.LogIsSimple(n.C) {
			return s.into(f, a, n.A, func() (ID, ID) { return n.B, n.C })
		}
	}
	if x, ok := s.OnlyAtom(a); ok && s.Like(x).Steps { // f of c·steps + v
		sel, c := s.At(x), s.Combination(a)
		side := func(id ID) ID {
			return s.Node(s.weighted(c.Coef(0), s.Combination(id), Rounded{V: 1}, Combination{V: c.V}))
		}
		return s.into(f, a, sel.A, func() (ID, ID) { return side(sel.B), side(sel.C) })
	}
	switch f {
	case kernel.Log:
		if id, ok := s.simpleLog(a); ok {
			return id
		}
	case kernel.Log1p: // log(1 − sigmoid(x)) = −softplus(x)
		if n := s.Like(a); n.Kind == Sum && s.ConstantPart(a) == -1 { // log1p(y − 1), for y = 1 − p
			return s.Unary(kernel.Log, s.AffineSum(0, s.At(a).Terms))
		}
		if c, inner := s.Coefficient(a); c.V == -1 && s.IsUnary(inner, kernel.Sigmoid) {
			return s.Scale(-1, s.Unary(kernel.Softplus, s.At(inner).A))
		}
	case kernel.Square:
		if c, inner := s.Coefficient(a); c.V != 1 && Squares(c.V) {
			return s.ScaleBy(c.Times(c), s.Unary(kernel.Square, inner))
		}
	}
	return s.Intern(Node{Kind: Unary, Fn: f, A: a})
}

// into is f(a) for a select a on cond between sides, with f applied to each
// side. It remembers what it did: a state machine's selects share their sides,
// and have exponentially many paths.
func (s *Store) into(f kernel.Function, a, cond ID, sides func() (then, otherwise ID)) ID {
	return Remembered(s.selects.pushed, applied{f, a}, func() ID {
		then, otherwise := sides()
		return s.Sel(cond, s.Unary(f, then), s.Unary(f, otherwise))
	})
}

func (s *Store) IsUnary(id ID, f kernel.Function) bool {
	return s.Like(id).Kind == Unary && s.Like(id).Fn == f
}

// LogIsSimple reports whether log(id) has no logarithm in it.
func (s *Store) LogIsSimple(id ID) bool {
	n := s.At(id)
	switch n.Kind {
	case Const:
		return true
	case Select:
		return n.Steps || Remembered(s.selects.simple, id, func() bool { return s.LogIsSimple(n.B) && s.LogIsSimple(n.C) })
	case Sum:
		c, inner := s.Coefficient(id)
		return c.V > 0 && inner != id && s.LogIsSimple(inner)
	}
	return s.IsUnary(id, kernel.Exp) || s.IsUnary(id, kernel.Sigmoid)
}

// simpleLog is log(a) where that needs no logarithm: of exponentials, sigmoids
// and their positive multiples. It also keeps log(1 − sigmoid) from underflow.
func (s *Store) simpleLog(a ID) (ID, bool) {
	if _, ok := s.OnlyAtom(a); !ok && s.Like(a).Kind != Unary {
		return 0, false
	}
	n := s.At(a)
	switch {
	case s.IsUnary(a, kernel.Exp):
		return n.A, true
	case s.IsUnary(a, kernel.Sigmoid):
		return s.Scale(-1, s.Unary(kernel.Softplus, s.Scale(-1, n.A))), true
	case n.Kind == Sum && len(n.Terms) == 1 && n.V == 0 && n.Terms[0].Coef > 0 && s.LogIsSimple(n.Terms[0].Atom):
		log := s.Unary(kernel.Log, n.Terms[0].Atom)
		sum, one := s.Combination(a), Rounded{V: 1}
		return s.Node(s.weighted(one, s.Combination(log), one, Combination{V: sum.Coef(0).Log()})), true
	case n.Kind == Sum && len(n.Terms) == 1 && n.V == 1 && n.Terms[0].Coef == -1 && s.IsUnary(n.Terms[0].Atom, kernel.Sigmoid):
		inner := s.At(n.Terms[0].Atom).A
		return s.Scale(-1, s.Unary(kernel.Softplus, inner)), true
	}
	return 0, false
}

// Sigmoids are p and 1 − p for p = sigmoid(x) or p = 1 − sigmoid(x), each as a
// sigmoid.
func (s *Store) Sigmoids(p ID) (yes, no ID, ok bool) {
	if s.IsUnary(p, kernel.Sigmoid) {
		return p, s.Unary(kernel.Sigmoid, s.Scale(-1, s.At(p).A)), true
	}
	n := s.At(p)
	if n.Kind == Sum && len(n.Terms) == 1 && n.V == 1 && n.Terms[0].Coef == -1 {
		no, yes, ok = s.Sigmoids(n.Terms[0].Atom)
	}
	return yes, no, ok
}

// Squares reports whether c² is far from what a float64 cannot hold.
func Squares(c float64) bool { return math.Abs(c) < 0x1p300 && math.Abs(c) > 0x1p-300 }

// ExtremesOf are the least and the greatest value of a step function.
func (s *Store) ExtremesOf(id ID) Extent {
	n := s.At(id)
	if n.Kind == Const {
		return Extent{n.V, n.V}
	}
	return Remembered(s.selects.extremes, id, func() Extent { return s.ExtremesOf(n.B).Or(s.ExtremesOf(n.C)) })
}

// scales reports whether v may be multiplied into the coefficient of b.
func (s *Store) scales(v float64, b ID) bool {
	c, _ := s.Coefficient(b)
	return IsFinite(c.V * v)
}

// MulNumber is v·b.
func (s *Store) MulNumber(v Rounded, b ID) ID {
	if s.scalesBy(v, b) {
		return s.ScaleBy(WrittenAs(v), b)
	}
	return s.Mul(s.Constant(v.Raw()), b)
}

// scalesBy is scales of numbers that may have columns.
func (s *Store) scalesBy(v Rounded, b ID) bool {
	if _, single := s.OnlyAtom(b); s.Block == nil || !single {
		return s.Block == nil && s.scales(v.V, b) || s.Block != nil && v.Is(IsFinite)
	}
	c := s.CombinationIn(b, s.Some[0][:])
	if !c.V.Is(isZero) {
		return v.Is(IsFinite)
	}
	times := func(x, y Rounded) Rounded { return Rounded{V: x.V * y.V} }
	x := times(v, c.Coef(0))
	x.From = column(times, v, c.Coef(0))
	return x.Is(IsFinite)
}

func (s *Store) Mul(a, b ID) ID {
	if v, ok := s.IsConst(a); ok && s.scales(v, b) {
		return s.ScaleBy(s.number(a), b)
	}
	if v, ok := s.IsConst(b); ok && s.scales(v, a) {
		return s.ScaleBy(s.number(b), a)
	}
	ca, a := s.Coefficient(a)
	cb, b := s.Coefficient(b)
	if a == b {
		return s.ScaleBy(ca.Times(cb), s.Unary(kernel.Square, a))
	}
	return s.ScaleBy(ca.Times(cb), s.Intern(Node{Kind: Binary, Fn: kernel.Mul, A: min(a, b), B: max(a, b)}))
}

// MulData is data·b with 0·anything = 0, as in x·log p for a count x = 0.
func (s *Store) MulData(data, b ID) ID {
	if _, ok := s.IsConst(data); ok {
		return s.ScaleBy(s.number(data), b)
	}
	cb, b := s.Coefficient(b)
	if v, ok := s.IsConst(b); ok && !math.IsInf(v, 0) {
		return s.ScaleBy(cb.Times(s.number(b)), data)
	}
	return s.ScaleBy(cb, s.Intern(Node{Kind: Binary, Fn: kernel.MulData, A: data, B: b}))
}

func (s *Store) Div(a, b ID) ID {
	if v, ok := s.IsConst(b); ok && IsFinite(1/v) {
		return s.ScaleBy(Rounded{V: 1}.Over(s.number(b)), a)
	}
	cb, b := s.Coefficient(b)
	if v, ok := s.IsConst(a); s.Like(b).Steps || ok && v == 1 {
		return s.Mul(a, s.ScaleBy(Rounded{V: 1}.Over(cb), s.Unary(kernel.Recip, b)))
	}
	ca, a := s.Coefficient(a)
	return s.ScaleBy(ca.Over(cb), s.Intern(Node{Kind: Binary, Fn: kernel.Div, A: a, B: b}))
}

// Pair is f(a, b) for a function that no rule makes simpler.
func (s *Store) Pair(f kernel.Function, a, b ID) ID {
	_, aConst := s.IsConst(a)
	if _, bConst := s.IsConst(b); aConst && bConst {
		return s.computed(f.Value2, s.number(a), s.number(b))
	}
	return s.Intern(Node{Kind: Binary, Fn: f, A: a, B: b})
}

// computed is f of two numbers.
func (s *Store) computed(f func(a, b float64) float64, x, y Rounded) ID {
	return s.Node(Combination{V: Computed(f, x, y)})
}

// Triple is f(a, b, c).
func (s *Store) Triple(f kernel.Function, a, b, c ID) ID {
	va, aConst := s.IsConst(a)
	vb, bConst := s.IsConst(b)
	if vc, cConst := s.IsConst(c); aConst && bConst && cConst {
		return s.Constant(f.Value3(va, vb, vc))
	}
	return s.Intern(Node{Kind: Ternary, Fn: f, A: a, B: b, C: c})
}

func (s *Store) Pow(a, b ID) ID {
	va, aConst := s.IsConst(a)
	vb, bConst := s.IsConst(b)
	switch {
	case aConst && bConst:
		return s.computed(math.Pow, s.number(a), s.number(b))
	case bConst && vb == 0:
		return s.Constant(1)
	case bConst && vb == 1:
		return a
	case bConst && vb == 2:
		return s.Unary(kernel.Square, a)
	case bConst && vb == 0.5:
		return s.Unary(kernel.Sqrt, a)
	case bConst && vb == -1:
		return s.Unary(kernel.Recip, a)
	case aConst && va == math.E:
		return s.Unary(kernel.Exp, b)
	}
	return s.Intern(Node{Kind: Binary, Fn: kernel.Pow, A: a, B: b})
}

// Operation is that of n, a node of this store or another one, on the operands that of gives
// for its own.
func (s *Store) Operation(n Node, of func(ID) ID) ID {
	switch n.Kind {
	case Const:
		return s.Constant(n.V)
	case Sum:
		sum := s.Constant(n.V)
		for _, t := range n.Terms {
			sum = s.Sum(1, sum, t.Coef, of(t.Atom))
		}
		return sum
	case Unary:
		return s.Unary(n.Fn, of(n.A))
	case Binary:
		return s.Binary(n.Fn, of(n.A), of(n.B))
	case Ternary:
		return s.Triple(n.Fn, of(n.A), of(n.B), of(n.C))
	case Not:
		return s.Not(of(n.A))
	case And:
		return s.And(of(n.A), of(n.B))
	case Select:
		return s.Sel(of(n.A), of(n.B), of(n.C))
	case Forward:
		ids := make([]ID, len(n.Terms))
		for i, t := range n.Terms {
			ids[i] = of(t.Atom)
		}
		return s.Forward(int(n.A), int(n.B), ids)
	}
	panic("graph: a node that no density has")
}

func (s *Store) Binary(f kernel.Function, a, b ID) ID {
	switch f {
	case kernel.Mul:
		return s.Mul(a, b)
	case kernel.Div:
		return s.Div(a, b)
	case kernel.Pow:
		return s.Pow(a, b)
	case kernel.MulData:
		return s.MulData(a, b)
	}
	return s.Pair(f, a, b)
}

// Flip is (on − off)·x for formulas on and off, and 0 where they are equal,
// whatever x is.
func (s *Store) Flip(on, off, x ID) ID {
	sign := s.Sum(1, on, -1, off)
	if v, ok := s.IsConst(sign); ok {
		return s.Scale(v, x)
	}
	if v, ok := s.IsConst(x); ok && v == 0 {
		return x
	}
	return s.Intern(Node{Kind: Flip, A: sign, B: x})
}

// Selected is a select with id = coef·sel + constant, if there is one.
func (s *Store) Selected(id ID) (sel ID, coef, constant float64, ok bool) {
	n := s.At(id)
	switch {
	case n.Kind == Select:
		return id, 1, 0, true
	case n.Kind == Sum && len(n.Terms) == 1 && s.Like(n.Terms[0].Atom).Kind == Select:
		return n.Terms[0].Atom, n.Terms[0].Coef, n.V, true
	}
	return 0, 0, 0, false
}
