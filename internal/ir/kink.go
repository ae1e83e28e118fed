package ir

import (
	"math"
	"slices"

	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/regions"
)

func (s *Store) KnowEqual(plane int, a, b ID) { s.Kinks[Kink{plane, min(a, b), max(a, b)}] = true }

// mostPlanes has a formula of which it is known what vanishes there.
const mostPlanes = 8

// PlanesOf are the planes of a formula, if they are few.
func (s *Store) PlanesOf(formula ID) (planes []int, few bool) {
	seen := 0
	for id := range s.Under(formula) {
		if n := s.At(id); n.Kind == Sign {
			planes = append(planes, int(n.A))
		}
		if seen++; seen > 4*mostPlanes || len(planes) > mostPlanes {
			return planes, false
		}
	}
	return planes, true
}

// Algebra knows what is equal on the planes of an arrangement, whose features have
// the coordinates of features, plus shift.
type Algebra struct {
	Store    *Store
	Arr      *regions.Arrangement
	Features map[ID]int
	Shift    int
}

// taken is the side of a select that is taken on plane l, if that is known of its sign:
// that of a parallel plane.
func (g Algebra) taken(l int, id ID) ID {
	for {
		n := g.Store.At(id)
		if n.Kind != Select || g.Store.Like(n.A).Kind != Sign {
			return id
		}
		k := int(g.Store.At(n.A).A)
		p, o := g.Arr.Plane(l), g.Arr.Plane(k)
		switch {
		case k == l || !slices.Equal(p.Index, o.Index) || !slices.Equal(p.Coef, o.Coef):
			return id
		case o.Const > p.Const:
			id = n.B
		default:
			id = n.C
		}
	}
}

// Agree reports whether a = b on plane l.
func (g Algebra) Agree(l int, a, b ID) bool {
	s := g.Store
	a, b = g.taken(l, a), g.taken(l, b)
	if a == b || s.Kinks[Kink{Plane: l, A: min(a, b), B: max(a, b)}] || g.vanishes(l, s.Sum(1, a, -1, b)) {
		return true
	}
	na, nb := s.At(a), s.At(b)
	if na.Kind < Sum || na.Kind > Ternary || na.Kind != nb.Kind || na.Fn != nb.Fn || na.Fn == kernel.MulData && na.A != nb.A ||
		na.V != nb.V || len(na.Terms) != len(nb.Terms) {
		return false
	}
	of := nb.AppendOperands(nil)
	for k, o := range na.AppendOperands(nil) {
		if na.Kind == Sum && na.Terms[k].Coef != nb.Terms[k].Coef || !g.Agree(l, o, of[k]) {
			return false
		}
	}
	return true
}

const ulps = 16 * 0x1p-52

// vanishes reports whether id is a multiple of Φ of plane l, or of what else is known to
// be 0 there, to rounding.
func (g Algebra) vanishes(l int, id ID) bool {
	c := g.Store.Expand(id)
	for _, zero := range g.Store.Zeros.On(l) {
		if proportional(c, g.Store.Expand(zero)) {
			return true
		}
	}
	_, is := g.Multiple(l, c)
	return is
}

// Multiple reports whether c is a multiple of Φ of plane l, to rounding, and which.
func (g Algebra) Multiple(l int, c Combination) (ratio float64, is bool) {
	h := g.Arr.Plane(l)
	ratio, is = g.Ratio(h, c)
	return ratio, is && math.Abs(c.V.V-ratio*h.Const) <= ulps*math.Abs(c.V.V)
}

// Ratio reports whether c is a multiple of a form but for the constant, to rounding, and which.
func (g Algebra) Ratio(h regions.Hyperplane, c Combination) (ratio float64, is bool) {
	if len(c.Terms) != len(h.Index) {
		return 0, false
	}
	at := map[int]float64{}
	for _, t := range c.Terms {
		if n := g.Store.At(t.Atom); n.Kind == Latent {
			at[int(n.A)] = t.Coef
		} else if i, ok := g.Features[t.Atom]; ok {
			at[i+g.Shift] = t.Coef
		}
	}
	ratio = at[h.Index[0]] / h.Coef[0]
	for k, i := range h.Index {
		if x := at[i]; x == 0 || math.Abs(x-ratio*h.Coef[k]) > ulps*math.Abs(x) {
			return 0, false
		}
	}
	return ratio, true
}

// proportional reports whether a is a multiple of b, to rounding.
func proportional(a, b Combination) bool {
	if len(a.Terms) != len(b.Terms) || len(a.Terms) == 0 {
		return false
	}
	ratio := a.Terms[0].Coef / b.Terms[0].Coef
	for k, t := range a.Terms {
		if o := b.Terms[k]; t.Atom != o.Atom || math.Abs(t.Coef-ratio*o.Coef) > ulps*math.Abs(t.Coef) {
			return false
		}
	}
	return math.Abs(a.V.V-ratio*b.V.V) <= ulps*math.Abs(a.V.V)
}

// Smooth reports whether a select is continuous where the sign of plane l in its formula
// changes.
func (g Algebra) Smooth(n Node, l int) bool {
	switch cond := g.Store.At(n.A); {
	case cond.Kind == Sign && int(cond.A) != l, cond.Kind != Sign && len(g.Store.Zeros.On(l)) == 0:
		return false
	case cond.Kind != Sign:
		if planes, few := g.Store.PlanesOf(n.A); !few || !slices.Contains(planes, l) {
			return false
		}
	}
	return g.Agree(l, n.B, n.C)
}

// SmoothOn is smooth for selects on the formula, wherever it changes.
func (g Algebra) SmoothOn(formula ID) func(n Node) bool {
	planes, few := g.Store.PlanesOf(formula)
	few = few && len(planes) > 0 && !slices.ContainsFunc(planes, func(l int) bool { return len(g.Store.Zeros.On(l)) == 0 })
	return func(n Node) bool {
		return few && n.A == formula && !slices.ContainsFunc(planes, func(l int) bool { return !g.Smooth(n, l) })
	}
}
