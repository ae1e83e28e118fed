package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/regions"
)

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
	h, r := formOf(parts, c, nil)
	return m.halfSpace(h, r, &RowGuard{parts: parts, c: c})
}

// formOf is the sum of parts, which ascend, and c, with index where it has these coordinates.
func formOf(parts []part, c ir.Rounded, index []int) (h regions.Hyperplane, r regions.Rounding) {
	h, r = regions.Hyperplane{Index: index, Coef: make([]float64, len(parts)), Const: c.V}, regions.Rounding{Const: c.Err}
	if !slices.EqualFunc(index, parts, func(i int, p part) bool { return i == p.at }) {
		h.Index = make([]int, len(parts))
		for k, p := range parts {
			h.Index[k] = p.at
		}
	}
	for k, p := range parts {
		h.Coef[k] = p.x.V
		if p.x.Err != 0 && r.Coef == nil {
			r.Coef = make([]float64, len(parts))
		}
		if r.Coef != nil {
			r.Coef[k] = p.x.Err
		}
	}
	return h, r
}

// halfSpace is the guard that h is positive. Of the first row of a block from has the columns of its
// numbers; nil if rows may differ in more.
func (m *Maker) halfSpace(h regions.Hyperplane, r regions.Rounding, from *RowGuard) Guard {
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
	m.addToRow(from, info, side.Plane == known)
	g := Guard{m.st.Leaf(ir.Sign, side.Plane), len(m.Made)}
	if !side.Positive {
		g.Formula = m.st.Not(g.Formula)
	}
	return g
}

// positiveTransformed is the guard coef·g(u) + c > 0 for the transform g of one
// latent: g is increasing, so it is a guard on u.
func (m *Maker) positiveTransformed(c ir.Combination) Guard {
	g, coef := m.st.At(c.Terms[0].Atom), c.Coef(0)
	threshold := c.V.Negated().Over(coef)
	image, sign := imageOf[g.Fn], 1.0
	if coef.Is(ir.IsNegative) {
		sign = -1
	}
	switch {
	case threshold.Is(math.IsNaN):
		return m.constant(false)
	case threshold.Is(func(t float64) bool { return t <= image.lo }): // g(u) > threshold everywhere
		return m.constant(sign > 0)
	case threshold.Is(func(t float64) bool { return t >= image.hi }):
		return m.constant(sign < 0)
	}
	bound := threshold.Mapped(image.inverse)
	if sign > 0 {
		bound = bound.Negated()
	}
	return m.halfSpaceOf([]part{{int(m.st.At(g.A).A), ir.Rounded{V: sign}}}, bound)
}

// imageOf is the image of the line under the function of a transform, and its inverse there.
var imageOf = map[kernel.Function]struct {
	lo, hi  float64
	inverse func(x float64) float64
}{
	kernel.Exp:     {0, math.Inf(1), math.Log},
	kernel.Sigmoid: {0, 1, func(x float64) float64 { return math.Log(x) - math.Log1p(-x) }},
}

// isTransform reports whether id is exp(u) or sigmoid(u) for a latent that is
// transformed that way.
func (m *Maker) isTransform(id ir.ID) bool {
	if !m.st.IsUnary(id, kernel.Exp) && !m.st.IsUnary(id, kernel.Sigmoid) {
		return false
	}
	x := m.st.Head(id).A
	if m.st.Like(x).Kind != ir.Latent {
		return false
	}
	u := m.st.Head(x)
	return m.program.Latent(int(u.A)).Transform() == m.st.Like(id).Fn
}
