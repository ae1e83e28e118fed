package compare

import (
	"fmt"
	"math"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// A comparison that is not affine in the latents is made so where it can be:
//
//	g(x) > t                ─▶ x > g⁻¹(t), for increasing g
//	x² > t                  ─▶ x > √t or x < −√t
//	a·b > 0, a/b > 0        ─▶ both have one sign
//	a/b > t                 ─▶ a > t·b where b > 0, a < t·b where b < 0
//	c·Πpᵢ > d·Πqᵢ           ─▶ log c + Σ log pᵢ > log d + Σ log qᵢ, for positive pᵢ and qᵢ
//	g(x) > g(y)             ─▶ x > y
//	x² − y² > 0             ─▶ x − y and x + y have one sign
//	x + eˣ > t              ─▶ x > its root
//
// So forms with one zero set become one guard. What stays curved is affine in
// features, functions of the latents, and a regions.Curve.

// quotients is the claim Σ > 0 of a sum with a quotient in it. Where the denominator b is 0 the sign of Σ may jump without
// being 0. So it compares b·Σ, which has no pole there, with 0: Σ > 0 where b and b·Σ have one sign.
func (m *Maker) quotients(id ir.ID) (x claim, ok bool) {
	s, c := m.st, m.st.Expand(id)
	for i, t := range c.Terms {
		top, bottom, ok := s.Quotient(t.Atom)
		if !ok || s.Definite(bottom) {
			continue
		}
		scaled := s.Sum(t.Coef, top, c.V.V, bottom)
		for k, o := range c.Terms {
			if k == i {
				continue
			}
			times := s.Mul(bottom, o.Atom)
			if x, y, ok := s.Quotient(o.Atom); ok && y == bottom {
				times = x
			} else if ok {
				times = s.Div(s.Mul(bottom, x), y)
			}
			scaled = s.Sum(1, scaled, o.Coef, times)
		}
		return oneSign(bottom, scaled, 1), true
	}
	return x, false
}

// atom is the claim coef·x + v > 0 for one x that is not affine.
func (m *Maker) atom(id ir.ID) (x claim, ok bool) {
	s, c := m.st, m.st.Combination(id)
	if len(c.Terms) != 1 {
		return x, false
	}
	at, sign := c.Terms[0].Atom, math.Copysign(1, c.Terms[0].Coef)
	n := s.At(at)
	threshold := ir.Rounded{V: -c.V.V, Err: c.V.Err}.Over(c.Coef(0)) // sign·(x − threshold) > 0
	top, bottom, quotient := n.A, n.B, n.Kind == ir.Binary && n.Fn == kernel.Div
	if s.IsUnary(at, kernel.Recip) {
		top, bottom, quotient = s.Constant(1), n.A, true
	}
	switch {
	case threshold.V == 0 && n.Kind == ir.Binary && (n.Fn == kernel.Mul || n.Fn == kernel.Div):
		return oneSign(n.A, n.B, sign), true
	case threshold.V == 0 && quotient:
		return positive(sign, bottom), true
	case quotient:
		return oneSign(bottom, s.Sum(1, top, -threshold.V, bottom), sign), true
	}
	switch log, ok := s.PositiveLog(at); {
	case ok && threshold.V <= 0:
		return is(m.constant(sign > 0)), true
	case ok:
		return positive(1, s.Shifted(sign, s.Node(log), -sign, threshold.Log())), true
	case n.Kind == ir.Unary:
		return m.function(n, threshold, sign)
	}
	return x, false
}

// function is the claim sign·(f(a) − threshold) > 0 for a function n, f(a).
func (m *Maker) function(n ir.Node, threshold ir.Rounded, sign float64) (x claim, ok bool) {
	roots, count := n.Fn.Inverse(threshold.V)
	none := math.IsNaN(roots[0]) || math.IsInf(roots[0], 0)
	bound := threshold.Mapped(func(y float64) float64 { r, _ := n.Fn.Inverse(y); return r[0] })
	beyond := func(by, shift float64) claim { return positive(1, m.st.Shifted(by, n.A, shift, bound)) }
	switch {
	case count == 2 && none: // an even function, all of whose values are larger
		return is(m.constant(sign > 0)), true
	case count == 2 && sign > 0:
		return anyOf(beyond(1, -1), beyond(-1, -1)), true
	case count == 2:
		return allOf(beyond(1, 1), beyond(-1, 1)), true
	case !n.Fn.Increasing() || none && n.Fn == kernel.Sqrt:
		return x, false
	case none: // beyond all values
		return is(m.constant((threshold.V < n.Fn.Value(0)) == (sign > 0))), true
	}
	return beyond(sign, -sign), true
}

// difference is the claim p·x + q·y > 0 for p and q of different sign.
func (m *Maker) difference(id ir.ID) (is claim, ok bool) {
	s, c := m.st, m.st.Combination(id)
	if len(c.Terms) != 2 || c.V.V != 0 || !(c.Terms[0].Coef*c.Terms[1].Coef < 0) {
		return is, false
	}
	x, y, p, q := c.Terms[0], c.Terms[1], c.Coef(0), c.Coef(1)
	if x.Coef < 0 {
		x, y, p, q = y, x, q, p
	}
	logX, okX := s.PositiveLog(x.Atom)
	logY, okY := s.PositiveLog(y.Atom)
	if okX && okY {
		ratio := p.Over(q.Times(ir.Rounded{V: -1})).Log()
		return positive(1, s.Shifted(1, s.SumOf(1, logX, -1, logY), 1, ratio)), true
	}
	nx, ny := s.At(x.Atom), s.At(y.Atom)
	if x.Coef == -y.Coef && nx.Kind == ir.Unary && ny.Kind == ir.Unary && nx.Fn == ny.Fn && nx.Fn.Increasing() {
		return positive(1, s.Sum(1, nx.A, -1, ny.A)), true
	}
	return is, false
}

// ofFeatures is the guard id > 0 as a sum of latents and features.
func (m *Maker) ofFeatures(id ir.ID) Guard {
	c := m.st.Expand(id)
	var parts []part
	for i, t := range c.Terms {
		p := part{x: c.Coef(i)}
		if n := m.st.At(t.Atom); n.Kind == ir.Latent {
			p.at = int(n.A)
		} else {
			at, err := m.feature(t.Atom)
			if err != nil {
				m.program.Fail("guard %d: %s: %v", len(m.Made), m.Format(id, 4), err)
				return m.constant(false)
			}
			p.at = at
		}
		parts = append(parts, p)
	}
	return m.halfSpaceOf(parts, c.V)
}

// feature is the coordinate of m.Arr that stands for a node.
func (m *Maker) feature(id ir.ID) (coordinate int, err error) {
	if at, known := m.features[id]; known {
		return at, nil
	}
	if part, found := m.st.Pole(id); found {
		return 0, fmt.Errorf("%s may jump from one sign to the other through a pole, which is no zero of what is compared: multiply by the denominator, or compare on either side of it",
			m.Format(part, 4))
	}
	steps, err := m.st.Steps(id)
	if err != nil {
		return 0, err
	}
	at := m.Arr.AddFeature(steps)
	m.features[id] = at
	m.featureNodes = append(m.featureNodes, id)
	return at, nil
}
