package graph

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/regions"
)

// A Guard is the condition of an If: a comparison between expressions of the
// latents, or And, Or, Not of guards. Make one with Greater or Less. The zero Guard
// is false.
type Guard struct {
	value Expr // a formula: 1 where the guard holds, else 0
	made  int  // 1 + the number of the comparison that it is, negative for its negation; 0 for none
}

func constantGuard(m *Model, holds bool) Guard {
	v := 0.0
	if holds {
		v = 1
	}
	if m == nil {
		return Guard{value: Expr{v: v}}
	}
	return Guard{value: Expr{m: m, id: m.st.Constant(v)}}
}

// Greater is the guard a > b, as Go compares float64s: false where the two are equal, and where one of them has no
// value, as log(x) for x < 0, so that Not of it holds there. Infinite values, as 1/k for a discrete latent k = 0, are compared
// as such.
//
// Each side may be any expression of the latents, with branches too. Comparisons of one latent with a
// number, of products of positive latents and the like become affine ones on the
// unconstrained coordinates. Where a − b stays curved, there must be a latent for which a − b = 0 can be solved, given
// all others (see regions.Curve); otherwise it is an error. A
// comparison that does not depend on a latent is simply true or false.
func Greater[A, B Value](a A, b B) Guard { return greater(lift(a), lift(b)) }

// Less is the guard a < b, false where they are equal; see Greater.
func Less[A, B Value](a A, b B) Guard { return greater(lift(b), lift(a)) }

func greater(a, b Expr) Guard {
	m := owner(a, b)
	t := m.traces()
	switch {
	case m == nil:
		x, y := a.rounded().Raw(), b.rounded().Raw()
		if math.IsNaN(x) || math.IsNaN(y) {
			return Guard{value: Expr{v: math.NaN()}} // an error where it is used
		}
		return constantGuard(nil, x > y)
	case t != nil:
		return t.guard(func() Guard { return greater(t.valueOf(a), t.valueOf(b)) }) // in each row, even one that is the same in all, as a loop does
	}
	x, y := a, b
	if m.dependent {
		x, y = Expr{m: m, id: m.comparable(a.in(m))}, Expr{m: m, id: m.comparable(b.in(m))}
	}
	id := Sub(x, y).in(m)
	if v, ok := m.st.IsConst(id); ok && math.IsNaN(v) {
		m.fail("%v", errNaN)
	}
	if values := m.valuesOf(x, y, id); values != nil {
		return And(append(values, m.positive(id))...)
	}
	return m.positive(id)
}

// positive is the guard id > 0.
func (m *Model) positive(id ir.ID) Guard {
	if v, ok := m.st.IsConst(id); ok {
		return constantGuard(m, v > 0)
	}
	if id = m.comparable(id); m.dependent && m.st.DependsOnData(id) {
		return m.positiveMissing(id)
	}
	if c, i, ok := m.ofDiscrete(id); ok {
		return m.positiveDiscrete(c, i)
	}
	if _, ok := m.firstBranch(id); ok {
		return m.lifted(id)
	}
	if m.st.Like(id).Affine {
		return m.positiveThere(id)
	}
	g := m.positiveThere(id)
	m.knowZero(g, id)
	return And(append(m.domain(id), g)...)
}

// positiveThere is the guard id > 0 where id, which has no branches, has a value.
func (m *Model) positiveThere(id ir.ID) Guard {
	if v, ok := m.st.IsConst(id); ok {
		return constantGuard(m, v > 0)
	}
	if !m.st.Like(id).Affine {
		return m.positiveCurved(id)
	}
	c := m.st.ExpandRecorded(id)
	if len(c.Terms) == 0 || !c.V.Is(ir.IsFinite) {
		return constantGuard(m, c.V.Raw() > 0)
	}
	var parts []part
	for i, t := range c.Terms {
		parts = append(parts, part{int(m.st.At(t.Atom).A), c.Coef(i)})
	}
	return m.halfSpaceOf(parts, c.V)
}

// A part is a coordinate of m.arr with its coefficient.
type part struct {
	at int
	x  ir.Rounded
}

// halfSpaceOf is the half-space where the sum of parts and c is positive.
func (m *Model) halfSpaceOf(parts []part, c ir.Rounded) Guard {
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.at, b.at) })
	h, r := regions.Hyperplane{Const: c.V}, regions.Rounding{Const: c.Err}
	var from *recordedGuard
	if m.rec != nil && !slices.ContainsFunc(parts, func(p part) bool { return p.at >= anyDim }) {
		from = &recordedGuard{constant: ir.NewArgument(c)}
	}
	for _, p := range parts {
		if from != nil {
			from.coef, from.latents = append(from.coef, ir.NewArgument(p.x)), append(from.latents, m.st.Leaf(ir.Latent, p.at))
		}
		h.Index, h.Coef = append(h.Index, p.at), append(h.Coef, p.x.V)
		if p.x.Err != 0 && r.Coef == nil {
			r.Coef = make([]float64, len(parts))
		}
		if r.Coef != nil {
			r.Coef[len(h.Coef)-1] = p.x.Err
		}
	}
	return m.halfSpace(h, r, from)
}

// halfSpace is the guard that h is positive. In a recorded row from has the sources of its
// numbers; nil if rows may differ in more.
func (m *Model) halfSpace(h regions.Hyperplane, r regions.Rounding, from *recordedGuard) Guard {
	info := GuardInfo{m: m, greater: regions.Hyperplane{Index: slices.Clone(h.Index), Coef: h.Coef, Const: h.Const}, place: m.here()}
	known := m.arr.Len()
	side, err := m.arr.AddRounded(h, r)
	switch {
	case err != nil:
		err = fmt.Errorf("%s: %w", info.write(">"), err)
	case slices.Max(m.arr.Latents(side.Plane)) < m.params:
		err = fmt.Errorf("%s compares parameters alone: log r, and so the ELBO, jumps in them and has no gradient; compare them with a latent", info.write(">"))
	case side.Plane == known:
		err = m.unsolvable(side.Plane)
	}
	if err != nil {
		m.fail("guard %d: %v", len(m.guards), err)
		return constantGuard(m, false)
	}
	info.Side = side
	m.guards = append(m.guards, info)
	if rec := m.rec; rec != nil {
		rec.addGuard(from, info, side.Plane == known)
	}
	g := Guard{Expr{m: m, id: m.st.Leaf(ir.Sign, side.Plane)}, len(m.guards)}
	if !side.Positive {
		g.value.id = m.st.Not(g.value.id)
	}
	return g
}
