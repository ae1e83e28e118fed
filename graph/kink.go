package graph

import (
	"math"
	"slices"

	"github.com/facetvi/facet/graph/internal/kernel"
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
func (m *Model) kinked(x, y nodeID, least bool) nodeID {
	m.st.rec.spoil()
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
	x, y  nodeID
	least bool
}

func (m *Model) newKinked(x, y nodeID, least bool) nodeID {
	s := m.st
	diff := s.sum(1, x, -1, y)
	cond, branches := m.firstBranch(diff)
	if !branches {
		g := m.positive(diff)
		larger, smaller := x, y
		if least {
			larger, smaller = y, x
		}
		if side, ok := g.Side(); ok && m.hasNoEdge(diff) {
			s.knowEqual(side.Plane, x, y)
		}
		return s.sel(g.value.in(m), larger, smaller)
	}
	on, off := newForcer(m, cond, true), newForcer(m, cond, false)
	x1, x0, y1, y0 := on.rewrite(x), off.rewrite(x), on.rewrite(y), off.rewrite(y)
	then, otherwise := m.kinked(x1, y1, least), m.kinked(x0, y0, least)
	if n := s.at(cond); n.kind == kSign {
		at := algebra{s, m.arr, m.features, 0}
		if l := int(n.a); at.agree(l, x1, x0) && at.agree(l, y1, y0) {
			s.knowEqual(l, then, otherwise)
		}
	}
	return s.sel(cond, then, otherwise)
}

// A kink says that two expressions are equal on a plane, as known when it was made.
type kink struct {
	plane int
	a, b  nodeID
}

func (s *store) knowEqual(plane int, a, b nodeID) { s.kinks[kink{plane, min(a, b), max(a, b)}] = true }

// mostZeros are known on one plane.
const mostZeros = 16

// hasNoEdge reports whether the guard id > 0 changes at zeros of id alone.
func (m *Model) hasNoEdge(id nodeID) bool {
	if m.st.like(id).affine {
		return true
	}
	if _, infinite := m.st.pole(id); infinite || m.st.infiniteInside(id) {
		return false
	}
	edges := m.st.domain(id)
	return len(edges) == 0 || !slices.ContainsFunc(edges, func(e edge) bool { return e.of != m.st.implied(id) })
}

// knowZero notes that id is 0 on the planes of g, the guard id > 0, if it changes at
// zeros of id alone: so that x² is 1 on x = 1.
func (m *Model) knowZero(g Guard, id nodeID) {
	s := m.st
	if g.value.m == nil || m.err != nil {
		return
	}
	planes, few := s.planesOf(g.value.id)
	if !few || !m.hasNoEdge(id) {
		return
	}
	for _, l := range planes {
		known := s.zeros.on(l)
		if m.arr.Curve(l) != nil || len(known) >= mostZeros || slices.Contains(known, id) {
			continue
		}
		s.own()
		s.zeros.add(l, id)
		if m.rec != nil {
			m.rec.addZero(l, id)
		}
	}
}

// vanishing are nodes by plane; perhaps short.
type vanishing [][]nodeID

// on are those of plane l, in the order in which they were added.
func (z vanishing) on(l int) []nodeID {
	if l < len(z) {
		return z[l]
	}
	return nil
}

func (z *vanishing) add(l int, id nodeID) {
	for l >= len(*z) {
		*z = append(*z, nil)
	}
	(*z)[l] = append(slices.Clip((*z)[l]), id)
}

// mostPlanes has a formula of which it is known what vanishes there.
const mostPlanes = 8

// planesOf are the planes of a formula, if they are few.
func (s *store) planesOf(formula nodeID) (planes []int, few bool) {
	seen := 0
	for id := range s.under(formula) {
		if n := s.at(id); n.kind == kSign {
			planes = append(planes, int(n.a))
		}
		if seen++; seen > 4*mostPlanes || len(planes) > mostPlanes {
			return planes, false
		}
	}
	return planes, true
}

// algebra knows what is equal on the planes of an arrangement, whose features have
// the coordinates of features, plus shift.
type algebra struct {
	s        *store
	arr      *regions.Arrangement
	features map[nodeID]int
	shift    int
}

// taken is the side of a select that is taken on plane l, if that is known of its sign:
// that of a parallel plane.
func (g algebra) taken(l int, id nodeID) nodeID {
	for {
		n := g.s.at(id)
		if n.kind != kSelect || g.s.like(n.a).kind != kSign {
			return id
		}
		k := int(g.s.at(n.a).a)
		p, o := g.arr.Plane(l), g.arr.Plane(k)
		switch {
		case k == l || !slices.Equal(p.Index, o.Index) || !slices.Equal(p.Coef, o.Coef):
			return id
		case o.Const > p.Const:
			id = n.b
		default:
			id = n.c
		}
	}
}

// agree reports whether a = b on plane l.
func (g algebra) agree(l int, a, b nodeID) bool {
	s := g.s
	a, b = g.taken(l, a), g.taken(l, b)
	if a == b || s.kinks[kink{l, min(a, b), max(a, b)}] || g.vanishes(l, s.sum(1, a, -1, b)) {
		return true
	}
	na, nb := s.at(a), s.at(b)
	if na.kind < kSum || na.kind > kTernary || na.kind != nb.kind || na.fn != nb.fn || na.fn == kernel.MulData && na.a != nb.a ||
		na.v != nb.v || len(na.terms) != len(nb.terms) {
		return false
	}
	of := nb.appendOperands(nil)
	for k, o := range na.appendOperands(nil) {
		if na.kind == kSum && na.terms[k].coef != nb.terms[k].coef || !g.agree(l, o, of[k]) {
			return false
		}
	}
	return true
}

const ulps = 16 * 0x1p-52

// vanishes reports whether id is a multiple of Φ of plane l, or of what else is known to
// be 0 there, to rounding.
func (g algebra) vanishes(l int, id nodeID) bool {
	c := g.s.expand(id)
	for _, zero := range g.s.zeros.on(l) {
		if proportional(c, g.s.expand(zero)) {
			return true
		}
	}
	_, is := g.multiple(l, c)
	return is
}

// multiple reports whether c is a multiple of Φ of plane l, to rounding, and which.
func (g algebra) multiple(l int, c combination) (ratio float64, is bool) {
	h := g.arr.Plane(l)
	ratio, is = g.ratio(h, c)
	return ratio, is && math.Abs(c.v.v-ratio*h.Const) <= ulps*math.Abs(c.v.v)
}

// ratio reports whether c is a multiple of a form but for the constant, to rounding, and which.
func (g algebra) ratio(h regions.Hyperplane, c combination) (ratio float64, is bool) {
	if len(c.terms) != len(h.Index) {
		return 0, false
	}
	at := map[int]float64{}
	for _, t := range c.terms {
		if n := g.s.at(t.atom); n.kind == kLatent {
			at[int(n.a)] = t.coef
		} else if i, ok := g.features[t.atom]; ok {
			at[i+g.shift] = t.coef
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
func proportional(a, b combination) bool {
	if len(a.terms) != len(b.terms) || len(a.terms) == 0 {
		return false
	}
	ratio := a.terms[0].coef / b.terms[0].coef
	for k, t := range a.terms {
		if o := b.terms[k]; t.atom != o.atom || math.Abs(t.coef-ratio*o.coef) > ulps*math.Abs(t.coef) {
			return false
		}
	}
	return math.Abs(a.v.v-ratio*b.v.v) <= ulps*math.Abs(a.v.v)
}

// smooth reports whether a select is continuous where the sign of plane l in its formula
// changes.
func (d *Density) smooth(n node, l int) bool {
	switch cond := d.st.at(n.a); {
	case cond.kind == kSign && int(cond.a) != l, cond.kind != kSign && len(d.st.zeros.on(l)) == 0:
		return false
	case cond.kind != kSign:
		if planes, few := d.st.planesOf(n.a); !few || !slices.Contains(planes, l) {
			return false
		}
	}
	return algebra{d.st, d.arr, d.m.features, d.Dim() - anyDim}.agree(l, n.b, n.c)
}

// smoothOn is smooth for selects on the formula, wherever it changes.
func (d *Density) smoothOn(formula nodeID) func(n node) bool {
	planes, few := d.st.planesOf(formula)
	few = few && len(planes) > 0 && !slices.ContainsFunc(planes, func(l int) bool { return len(d.st.zeros.on(l)) == 0 })
	return func(n node) bool {
		return few && n.a == formula && !slices.ContainsFunc(planes, func(l int) bool { return !d.smooth(n, l) })
	}
}
