package graph

import (
	"math"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/regions"
)

// Kinks are continuous: where the guard of Max(a, b) changes its sign, a = b. So they
// have no boundary term, but at poles, where one of a and b is infinite and changes its
// sign: there the values are the limits from either side (see Builder.poleOn).

// Max is the larger of a and b: If(Greater(a, b), a, b). It is continuous: its guard has no
// boundary term. So where a has no value it is b, and where b has none it has none.
func Max[A, B Value](a A, b B) Expr { return kinked(lift(a), lift(b), math.Max, false) }

// Min is the smaller of a and b: If(Greater(a, b), b, a). It is continuous: its guard has no
// boundary term. So where b has no value it is a, and where a has none it has none.
func Min[A, B Value](a A, b B) Expr { return kinked(lift(a), lift(b), math.Min, true) }

// Abs is |a|. It is continuous: its guard a > 0 has no boundary term.
func Abs[A Value](a A) Expr { return Max(a, Neg(a)) }

// Clip is a, but low where a < low and high where a > high. It is continuous: its
// guards have no boundary term. It means nothing unless low ≤ high.
func Clip[A, B, C Value](a A, low B, high C) Expr {
	x, lo, hi := lift(a), lift(low), lift(high)
	if from, known := lo.IsConst(); known {
		if to, known := hi.IsConst(); known && from > to {
			if m := owner(x, lo, hi); m != nil {
				m.fail("Clip: %v, the lower bound, is above %v, the upper one", from, to)
			}
			return Expr{v: math.NaN()}
		}
	}
	return Min(Max(x, lo), hi)
}

func kinked(x, y Expr, larger func(a, b float64) float64, least bool) Expr {
	m := owner(x, y)
	if m == nil {
		return number(larger, x, y)
	}
	if t := m.traces(); t != nil {
		return t.function(func() Expr { return kinked(t.valueOf(x), t.valueOf(y), larger, least) }, x, y)
	}
	return Expr{m: m, id: m.kinked(x.in(m), y.in(m), least)}
}

// kinked is the larger of x and y, or the least. Of branches it is the branches'.
func (m *Model) kinked(x, y ir.ID, least bool) ir.ID {
	m.st.Rec.Spoil()
	key := kinkedPair{x, y, least}
	if id, known := m.kinks[key]; known {
		return id
	}
	if len(m.kinks) == mostWays {
		m.fail("%s and %s depend on so many branches that the larger one becomes more than %d", m.format(x, 4), m.format(y, 4), mostWays)
		return x
	}
	m.kinks[key] = x // counted
	m.kinks[key] = m.newKinked(x, y, least)
	return m.kinks[key]
}

type kinkedPair struct {
	x, y  ir.ID
	least bool
}

func (m *Model) newKinked(x, y ir.ID, least bool) ir.ID {
	s := m.st
	diff := s.Sum(1, x, -1, y)
	cond, branches := m.firstBranch(diff)
	if !branches {
		g := m.positive(diff)
		larger, smaller := x, y
		if least {
			larger, smaller = y, x
		}
		if side, ok := g.Side(); ok && m.hasNoEdge(diff) {
			s.KnowEqual(side.Plane, x, y)
		}
		return s.Sel(g.value.in(m), larger, smaller)
	}
	on, off := newForcer(m, cond, true), newForcer(m, cond, false)
	x1, x0, y1, y0 := on.rewrite(x), off.rewrite(x), on.rewrite(y), off.rewrite(y)
	then, otherwise := m.kinked(x1, y1, least), m.kinked(x0, y0, least)
	if n := s.At(cond); n.Kind == ir.Sign {
		at := algebra{s, m.arr, m.features, 0}
		if l := int(n.A); at.agree(l, x1, x0) && at.agree(l, y1, y0) {
			s.KnowEqual(l, then, otherwise)
		}
	}
	return s.Sel(cond, then, otherwise)
}

// mostZeros are known on one plane.
const mostZeros = 16

// hasNoEdge reports whether the guard id > 0 changes at zeros of id alone.
func (m *Model) hasNoEdge(id ir.ID) bool {
	if m.st.Like(id).Affine {
		return true
	}
	if _, infinite := m.st.Pole(id); infinite || m.st.InfiniteInside(id) {
		return false
	}
	edges := m.st.Domain(id)
	return len(edges) == 0 || !slices.ContainsFunc(edges, func(e ir.Edge) bool { return e.Of != m.st.Implied(id) })
}

// knowZero notes that id is 0 on the planes of g, the guard id > 0, if it changes at
// zeros of id alone: so that x² is 1 on x = 1.
func (m *Model) knowZero(g Guard, id ir.ID) {
	s := m.st
	if g.value.m == nil || m.err != nil {
		return
	}
	planes, few := s.PlanesOf(g.value.id)
	if !few || !m.hasNoEdge(id) {
		return
	}
	for _, l := range planes {
		known := s.Zeros.On(l)
		if m.arr.Curve(l) != nil || len(known) >= mostZeros || slices.Contains(known, id) {
			continue
		}
		s.Own()
		s.Zeros.Add(l, id)
		if m.rec != nil {
			m.rec.addZero(l, id)
		}
	}
}

// algebra knows what is equal on the planes of an arrangement, whose features have
// the coordinates of features, plus shift.
type algebra struct {
	s        *ir.Store
	arr      *regions.Arrangement
	features map[ir.ID]int
	shift    int
}

// taken is the side of a select that is taken on plane l, if that is known of its sign:
// that of a parallel plane.
func (g algebra) taken(l int, id ir.ID) ir.ID {
	for {
		n := g.s.At(id)
		if n.Kind != ir.Select || g.s.Like(n.A).Kind != ir.Sign {
			return id
		}
		k := int(g.s.At(n.A).A)
		p, o := g.arr.Plane(l), g.arr.Plane(k)
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

// agree reports whether a = b on plane l.
func (g algebra) agree(l int, a, b ir.ID) bool {
	s := g.s
	a, b = g.taken(l, a), g.taken(l, b)
	if a == b || s.Kinks[ir.Kink{Plane: l, A: min(a, b), B: max(a, b)}] || g.vanishes(l, s.Sum(1, a, -1, b)) {
		return true
	}
	na, nb := s.At(a), s.At(b)
	if na.Kind < ir.Sum || na.Kind > ir.Ternary || na.Kind != nb.Kind || na.Fn != nb.Fn || na.Fn == kernel.MulData && na.A != nb.A ||
		na.V != nb.V || len(na.Terms) != len(nb.Terms) {
		return false
	}
	of := nb.AppendOperands(nil)
	for k, o := range na.AppendOperands(nil) {
		if na.Kind == ir.Sum && na.Terms[k].Coef != nb.Terms[k].Coef || !g.agree(l, o, of[k]) {
			return false
		}
	}
	return true
}

const ulps = 16 * 0x1p-52

// vanishes reports whether id is a multiple of Φ of plane l, or of what else is known to
// be 0 there, to rounding.
func (g algebra) vanishes(l int, id ir.ID) bool {
	c := g.s.Expand(id)
	for _, zero := range g.s.Zeros.On(l) {
		if proportional(c, g.s.Expand(zero)) {
			return true
		}
	}
	_, is := g.multiple(l, c)
	return is
}

// multiple reports whether c is a multiple of Φ of plane l, to rounding, and which.
func (g algebra) multiple(l int, c ir.Combination) (ratio float64, is bool) {
	h := g.arr.Plane(l)
	ratio, is = g.ratio(h, c)
	return ratio, is && math.Abs(c.V.V-ratio*h.Const) <= ulps*math.Abs(c.V.V)
}

// ratio reports whether c is a multiple of a form but for the constant, to rounding, and which.
func (g algebra) ratio(h regions.Hyperplane, c ir.Combination) (ratio float64, is bool) {
	if len(c.Terms) != len(h.Index) {
		return 0, false
	}
	at := map[int]float64{}
	for _, t := range c.Terms {
		if n := g.s.At(t.Atom); n.Kind == ir.Latent {
			at[int(n.A)] = t.Coef
		} else if i, ok := g.features[t.Atom]; ok {
			at[i+g.shift] = t.Coef
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
func proportional(a, b ir.Combination) bool {
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

// smooth reports whether a select is continuous where the sign of plane l in its formula
// changes.
func (d *Density) smooth(n ir.Node, l int) bool {
	switch cond := d.st.At(n.A); {
	case cond.Kind == ir.Sign && int(cond.A) != l, cond.Kind != ir.Sign && len(d.st.Zeros.On(l)) == 0:
		return false
	case cond.Kind != ir.Sign:
		if planes, few := d.st.PlanesOf(n.A); !few || !slices.Contains(planes, l) {
			return false
		}
	}
	return algebra{d.st, d.arr, d.m.features, d.Dim() - anyDim}.agree(l, n.B, n.C)
}

// smoothOn is smooth for selects on the formula, wherever it changes.
func (d *Density) smoothOn(formula ir.ID) func(n ir.Node) bool {
	planes, few := d.st.PlanesOf(formula)
	few = few && len(planes) > 0 && !slices.ContainsFunc(planes, func(l int) bool { return len(d.st.Zeros.On(l)) == 0 })
	return func(n ir.Node) bool {
		return few && n.A == formula && !slices.ContainsFunc(planes, func(l int) bool { return !d.smooth(n, l) })
	}
}
