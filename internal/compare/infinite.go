package compare

import (
	"math"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// A comparison has the truth that it has in a loop of float64: where a number in it is infinite or NaN, as 1/k and log(k) are for
// k = 0 and √(k − 1) is, what it compares is that, too, or a number that depends on signs alone:
//
//	a² > 1/k        ─▶ false                  a² > +Inf
//	a/k > b         ─▶ a > 0                  ±Inf > b
//	a·√(k − 1) > b  ─▶ false                  NaN > b

// finite is id without operations on numbers that are infinite or NaN, as far as these are known: id has no branches, and what it
// becomes may have some, of comparisons with 0.
func (m *Maker) finite(id ir.ID) ir.ID {
	s := m.st
	if !s.IsInfinite(id) {
		return id
	}
	n := s.At(id)
	switch n.Kind {
	case ir.Sum:
		sum, branches := s.Constant(n.V), false
		for _, t := range n.Terms {
			x := m.finite(t.Atom)
			_, more := m.firstBranch(x)
			branches = branches || more
			sum = s.Sum(1, sum, t.Coef, x)
		}
		if v := s.ConstantPart(sum); !ir.IsFinite(v) && !branches {
			return s.Constant(v)
		}
		return sum
	case ir.Unary:
		return s.Unary(n.Fn, m.finite(n.A))
	case ir.Binary:
		return m.finitePair(n.Fn, m.finite(n.A), m.finite(n.B))
	}
	return id
}

// finitePair is f(a, b) where one of them may be a number that is infinite or NaN.
func (m *Maker) finitePair(f kernel.Function, a, b ir.ID) ir.ID {
	s := m.st
	x, first := s.IsConst(a)
	y, second := s.IsConst(b)
	other, v := b, x
	if !first || ir.IsFinite(x) {
		other, v = a, y
	}
	_, branches := m.firstBranch(other)
	sides := func(of ir.ID, above, below float64) ir.ID {
		return s.Sel(m.Positive(of).Formula, s.Constant(above), s.Constant(below))
	}
	switch {
	case first == second, ir.IsFinite(v), branches:
	case math.IsNaN(v):
		return s.Constant(v)
	case f == kernel.Mul, f == kernel.Div && first:
		return sides(other, v, -v)
	case f == kernel.Div:
		return s.Constant(0)
	case f == kernel.Pow && first:
		return sides(other, math.Inf(1), 0)
	case f == kernel.Pow:
		return sides(s.Sum(1, s.Unary(kernel.Square, other), -1, s.Constant(1)), math.Pow(2, v), math.Pow(0.5, v))
	}
	return s.Binary(f, a, b)
}
