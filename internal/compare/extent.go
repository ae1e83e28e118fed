package compare

import (
	"math"

	"github.com/facetvi/facet/internal/ir"
)

// Expressions that leave a range, found by the guards on the way to them:
//
//	If(x > 1, 1, x) ─▶ x, where x ≤ 1: can be negative

// A box is what guards say of the coordinates of latents: that one lies in an
// extent, which is unknown if they say more than bounds of that latent alone, and
// what the rest says. An extent for the same latent in the rest is wider.
type box struct {
	latent int
	ir.Extent
	rest *box
}

// at is where coordinate i lies.
func (b *box) at(i int) ir.Extent {
	for ; b != nil; b = b.rest {
		if b.latent == i {
			return b.Extent
		}
	}
	return ir.Extent{Lo: math.Inf(-1), Hi: math.Inf(1)}
}

// narrow is b where formula id holds, or does not.
func (m *Maker) narrow(b *box, id ir.ID, holds bool) *box {
	m.st.Block.Spoil() // guards of other rows say something else
	switch n := m.st.At(id); {
	case n.Kind == ir.Not:
		return m.narrow(b, n.A, !holds)
	case n.Kind == ir.And && holds:
		return m.narrow(m.narrow(b, n.A, true), n.B, true)
	case n.Kind == ir.Sign && m.Arr.Curve(int(n.A)) == nil && len(m.Arr.Latents(int(n.A))) == 1:
		h := m.Arr.Plane(int(n.A))
		x, edge := b.at(h.Index[0]), -h.Const/h.Coef[0]
		if h.Coef[0] > 0 == holds {
			x.Lo = max(x.Lo, edge)
		} else {
			x.Hi = min(x.Hi, edge)
		}
		if x.Lo >= x.Hi { // not reached
			x = ir.Unknown
		}
		return &box{h.Index[0], x, b}
	}
	for _, i := range m.LatentsOf(id) {
		b = &box{i, ir.Unknown, b}
	}
	return b
}

// Leaving is an expression among those that id selects from whose values can leave a range where it is selected and the formula where holds,
// or anywhere if that is −1; leaves reports whether an extent leaves the range.
func (m *Maker) Leaving(id, where ir.ID, leaves func(x ir.Extent) bool) (leaf ir.ID, found bool) {
	if !leaves(m.hull(id)) {
		return 0, false
	}
	seen := map[ir.ID]bool{}
	var visit func(id ir.ID, c, v float64, b *box) bool
	visit = func(id ir.ID, c, v float64, b *box) bool { // of c·id + v
		sel, coef, constant, ok := m.st.Selected(id)
		if !ok {
			leaf = id
			return leaves(m.rangeOf(id, b).Times(c, v))
		}
		c, v = c*coef, c*constant+v
		if seen[sel] || !leaves(m.hull(sel).Times(c, v)) {
			return false
		}
		seen[sel] = true
		n := m.st.At(sel)
		return visit(n.B, c, v, m.narrow(b, n.A, true)) || visit(n.C, c, v, m.narrow(b, n.A, false))
	}
	var b *box
	if where >= 0 {
		b = m.narrow(b, where, true)
	}
	return leaf, visit(id, 1, 0, b)
}

// hull is the least extent with all that id selects from, whatever the guards.
func (m *Maker) hull(id ir.ID) ir.Extent {
	sel, coef, constant, ok := m.st.Selected(id)
	if !ok {
		return m.rangeOf(id, nil)
	}
	return ir.Remembered(m.known.hulls, sel, func() ir.Extent {
		n := m.st.At(sel)
		return m.hull(n.B).Or(m.hull(n.C))
	}).Times(coef, constant)
}

// rangeOf is where the values of a number, a sum of latents, or a transformed
// latent times a number plus a number lie in b, and somewhat less than what may
// be a matter of rounding. Of another expression nothing is known, nor of one
// that is not reached.
func (m *Maker) rangeOf(id ir.ID, b *box) ir.Extent {
	n, c := m.st.At(id), m.st.Combination(id)
	switch {
	case n.Kind == ir.Const:
		for ; b != nil; b = b.rest {
			if !b.Known() {
				return ir.Unknown
			}
		}
		return ir.Extent{Lo: math.Nextafter(n.V, math.Inf(-1)), Hi: math.Nextafter(n.V, math.Inf(1))} // open ends
	case n.Affine:
		c = m.st.Expand(id)
	case len(c.Terms) != 1 || !m.isTransform(c.Terms[0].Atom):
		return ir.Unknown
	}
	out := ir.Extent{Lo: c.V.V + c.V.Err, Hi: c.V.V - c.V.Err}
	for _, t := range c.Terms {
		atom := m.st.At(t.Atom)
		x := b.at(int(atom.A))
		if atom.Kind == ir.Unary {
			x = b.at(int(m.st.At(atom.A).A))
			x = ir.Extent{Lo: atom.Fn.Value(x.Lo), Hi: atom.Fn.Value(x.Hi)}
		}
		if !x.Known() {
			return ir.Unknown
		}
		const less = 1e-9
		x = x.Times(t.Coef, 0)
		out.Lo += x.Lo * (1 + math.Copysign(less, x.Lo))
		out.Hi += x.Hi * (1 - math.Copysign(less, x.Hi))
	}
	return out
}
