package ir

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/facetvi/facet/internal/kernel"
)

// An Output is one row of a program's result: C + Σ weight·expression.
type Output struct {
	C     float64
	Terms []Term
}

// Total is c + Σ coefficient·expression as constant + Σ weight·atom.
func (s *Store) Total(c float64, sum []Term) Output {
	type part struct {
		atom ID
		w    Rounded
	}
	o := Output{C: c}
	byAtom := func(x, y part) int { return cmp.Compare(x.atom, y.atom) }
	// Sums of the atoms that came in ascending order, and parts of the others.
	ascending, rest := make([]part, 0, s.ascendingCount(sum)), []part(nil)
	last := 0 // where the last part was added
	var room [8]Term
	for _, x := range sum {
		p, c := s.CombinationIn(x.Atom, room[:]), written(x.Coef)
		o.C += x.Coef * p.V.V
		for i, t := range p.Terms {
			x := part{t.Atom, c.Times(p.Coef(i))}
			if n := len(ascending); n == 0 || ascending[n-1].atom < x.atom {
				ascending = append(ascending, part{x.atom, Rounded{}.plus(x.w)})
				continue
			}
			found := ascending[last].atom == x.atom
			if !found {
				last, found = slices.BinarySearchFunc(ascending, x, byAtom)
			}
			if found {
				ascending[last].w = ascending[last].w.plus(x.w)
			} else {
				rest = append(rest, x)
			}
		}
	}
	slices.SortStableFunc(rest, byAtom)
	o.Terms = make([]Term, 0, len(ascending))
	for len(ascending)+len(rest) > 0 {
		x := part{}
		if len(rest) == 0 || len(ascending) > 0 && ascending[0].atom < rest[0].atom {
			x, ascending = ascending[0], ascending[1:]
		} else {
			for x.atom = rest[0].atom; len(rest) > 0 && rest[0].atom == x.atom; rest = rest[1:] {
				x.w = x.w.plus(rest[0].w)
			}
		}
		if x.w.V != 0 {
			o.Terms = append(o.Terms, Term{x.atom, x.w.V})
		}
	}
	return o
}

// ascendingCount is how many of the terms of the given expressions, as sums, have a larger
// atom than those before.
func (s *Store) ascendingCount(sum []Term) (n int) {
	last := ID(-1)
	var room [8]Term
	for _, x := range sum {
		terms := append(room[:0], Term{x.Atom, 1})
		if s.Like(x.Atom).Kind == Sum {
			_, terms = s.SumIn(x.Atom, room[:])
		}
		for _, t := range terms {
			if t.Atom > last {
				last = t.Atom
				n++
			}
		}
	}
	return n
}

// Factor joins terms data·a and data·b to data·(a + b): the jump of a count's
// log probability k·log λ is k times one difference.
func (s *Store) Factor(o Output) Output {
	byData := map[ID][]Term{}
	for _, t := range o.Terms {
		if n := s.At(t.Atom); n.Kind == Binary && n.Fn == kernel.MulData {
			byData[n.A] = append(byData[n.A], Term{n.B, t.Coef})
		}
	}
	sum := make([]Term, 0, len(o.Terms))
	for _, t := range o.Terms {
		n := s.At(t.Atom)
		if n.Kind != Binary || n.Fn != kernel.MulData || len(byData[n.A]) == 1 {
			sum = append(sum, t)
			continue
		}
		if joined := byData[n.A]; joined != nil {
			f := s.Total(0, joined)
			sum = append(sum, Term{s.MulData(n.A, s.AffineSum(f.C, f.Terms)), 1})
			byData[n.A] = nil
		}
	}
	return s.Total(o.C, sum)
}

// Linearise replaces sums Σ c_i·(L + s_i)² with Σ c_i = 0 by what is left of
// them, Σ c_i·(2·L·s_i + s_i²), where L is what depends on the samples and s_i
// are numbers and step functions: the jump of a normal log density whose mean
// jumps is linear.
func (s *Store) Linearise(o Output) Output {
	type square struct{ term, step Term }
	groups := map[ID][]square{}
	var rest []Term
	for _, t := range o.Terms {
		l, step, ok := s.splitSquare(t.Atom)
		if !ok {
			rest = append(rest, t)
			continue
		}
		groups[l] = append(groups[l], square{t, step})
	}
	for _, l := range slices.Sorted(maps.Keys(groups)) {
		sum, size := 0.0, 0.0
		for _, q := range groups[l] {
			sum += q.term.Coef
			size += math.Abs(q.term.Coef)
		}
		for _, q := range groups[l] {
			if math.Abs(sum) > 1e-15*size {
				rest = append(rest, q.term)
				continue
			}
			c, step := q.term.Coef, q.step
			rest = append(rest, Term{s.Mul(step.Atom, l), 2 * c * step.Coef}, Term{s.Unary(kernel.Square, step.Atom), c})
		}
	}
	return s.Total(o.C, rest)
}

// splitSquare writes (L + s)² or (−L + s)² as L and the step function ±s. The
// sign makes the first coefficient of L positive.
func (s *Store) splitSquare(id ID) (l ID, step Term, ok bool) {
	if !s.IsUnary(id, kernel.Square) {
		return 0, Term{}, false
	}
	v, terms := s.Parts(s.At(id).A)
	var smooth, steps []Term
	for _, t := range terms {
		if s.Like(t.Atom).Steps {
			steps = append(steps, t)
		} else {
			smooth = append(smooth, t)
		}
	}
	if len(smooth) == 0 {
		return 0, Term{}, false
	}
	sign := 1.0
	if smooth[0].Coef < 0 {
		sign = -1
		smooth = slices.Clone(smooth)
		for i := range smooth {
			smooth[i].Coef = -smooth[i].Coef
		}
	}
	return s.AffineSum(0, smooth), Term{s.AffineSum(v, steps), sign}, true
}
