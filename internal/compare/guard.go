package compare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/regions"
)

// Greater is the guard x > y for the expressions x and y, whose difference is id. Where id does not show it, the guard says that x and y have values.
func (m *Maker) Greater(x, y, id ir.ID) Guard {
	if values := m.valuesOf(x, y, id); values != nil {
		return m.And(append(values, m.Positive(id))...)
	}
	return m.Positive(id)
}

// Positive is the guard id > 0.
func (m *Maker) Positive(id ir.ID) Guard {
	if v, ok := m.st.IsConst(id); ok {
		return m.constant(v > 0)
	}
	if id = m.Comparable(id); m.program.Depends() && m.st.DependsOnData(id) {
		return m.positiveMissing(id)
	}
	if c, i, ok := m.OfDiscrete(id); ok {
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
	return m.And(append(m.domain(id), g)...)
}

// positiveThere is the guard id > 0 where id, which has no branches, has a value.
func (m *Maker) positiveThere(id ir.ID) Guard {
	if v, ok := m.st.IsConst(id); ok {
		return m.constant(v > 0)
	}
	if !m.st.Like(id).Affine {
		return m.positiveCurved(id)
	}
	c := m.st.ExpandRecorded(id)
	if len(c.Terms) == 0 || !c.V.Is(ir.IsFinite) {
		return m.constant(c.V.Raw() > 0)
	}
	var parts []part
	for i, t := range c.Terms {
		parts = append(parts, part{int(m.st.At(t.Atom).A), c.Coef(i)})
	}
	return m.halfSpaceOf(parts, c.V)
}

// A part is a coordinate of m.Arr with its coefficient.
type part struct {
	at int
	x  ir.Rounded
}

// HalfSpace is the guard that h is positive.
func (m *Maker) HalfSpace(h regions.Hyperplane) Guard {
	parts := make([]part, len(h.Index))
	for k, i := range h.Index {
		parts[k] = part{i, ir.Rounded{V: h.Coef[k]}}
	}
	return m.halfSpaceOf(parts, ir.Rounded{V: h.Const})
}

// halfSpaceOf is the half-space where the sum of parts and c is positive.
func (m *Maker) halfSpaceOf(parts []part, c ir.Rounded) Guard {
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.at, b.at) })
	h, r := regions.Hyperplane{Const: c.V}, regions.Rounding{Const: c.Err}
	for _, p := range parts {
		h.Index, h.Coef = append(h.Index, p.at), append(h.Coef, p.x.V)
		if p.x.Err != 0 && r.Coef == nil {
			r.Coef = make([]float64, len(parts))
		}
		if r.Coef != nil {
			r.Coef[len(h.Coef)-1] = p.x.Err
		}
	}
	return m.halfSpace(h, r, m.newRecorded(parts, c))
}

// halfSpace is the guard that h is positive. In a recorded row from has the sources of its
// numbers; nil if rows may differ in more.
func (m *Maker) halfSpace(h regions.Hyperplane, r regions.Rounding, from *Recorded) Guard {
	info := Comparison{in: m, greater: regions.Hyperplane{Index: slices.Clone(h.Index), Coef: h.Coef, Const: h.Const}, Place: m.program.Place()}
	known := m.Arr.Len()
	side, err := m.Arr.AddRounded(h, r)
	switch {
	case err != nil:
		err = fmt.Errorf("%s: %w", info.Write(">"), err)
	case slices.Max(m.Arr.Latents(side.Plane)) < m.program.Params():
		err = fmt.Errorf("%s compares parameters alone: log r, and so the ELBO, jumps in them and has no gradient; compare them with a latent", info.Write(">"))
	case side.Plane == known:
		err = m.unsolvable(side.Plane)
	}
	if err != nil {
		m.program.Fail("guard %d: %v", len(m.Made), err)
		return m.constant(false)
	}
	info.Side = side
	m.Made = append(m.Made, info)
	m.record(from, info, side.Plane == known)
	g := Guard{m.st.Leaf(ir.Sign, side.Plane), len(m.Made)}
	if !side.Positive {
		g.Formula = m.st.Not(g.Formula)
	}
	return g
}
