package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

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

// positiveCurved is the guard id > 0 where id is not affine, and has no branches.
func (m *Maker) positiveCurved(id ir.ID) Guard {
	c := m.st.CombinationIn(id, make([]ir.Term, 1))
	if len(c.Terms) == 1 && m.isTransform(c.Terms[0].Atom) {
		return m.positiveTransformed(c)
	}
	m.st.IgnoresSources(c)
	if to := m.finite(id); to != id {
		return m.Positive(to)
	}
	if to := m.st.SplitLogs(id); to != id {
		return m.positiveThere(to)
	}
	switch {
	case len(c.Terms) == 1:
		if g, ok := m.positiveAtom(c); ok {
			return g
		}
	case len(c.Terms) == 2 && c.V.V == 0 && c.Terms[0].Coef*c.Terms[1].Coef < 0:
		if g, ok := m.positiveDifference(c); ok {
			return g
		}
	}
	for _, form := range []func(ir.ID) (Guard, bool){m.positiveQuotients, m.positiveFactors, m.positiveOnLine} {
		if g, ok := form(id); ok {
			return g
		}
	}
	return m.positiveFeatures(id)
}

// positiveQuotients is the guard Σ > 0 of a sum with a quotient in it. Where the denominator b is 0 the sign of Σ may jump without
// being 0. So it compares b·Σ, which has no pole there, with 0: Σ > 0 where b > 0 and b·Σ > 0, or b < 0 and b·Σ < 0.
func (m *Maker) positiveQuotients(id ir.ID) (g Guard, ok bool) {
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
		side := func(sign float64) Guard {
			return m.And(m.positiveThere(s.Scale(sign, bottom)), m.positiveThere(s.Scale(sign, scaled)))
		}
		return m.Or(side(1), side(-1)), true
	}
	return g, false
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

// positiveAtom is the guard coef·x + v > 0 for one x that is not affine.
func (m *Maker) positiveAtom(c ir.Combination) (g Guard, ok bool) {
	s, x, sign := m.st, c.Terms[0].Atom, math.Copysign(1, c.Terms[0].Coef)
	n := s.At(x)
	threshold := ir.Rounded{V: -c.V.V, Err: c.V.Err}.Over(c.Coef(0)) // sign·(x − threshold) > 0
	side := func(id ir.ID, by float64) Guard { return m.positiveThere(s.Scale(by, id)) }
	switch {
	case threshold.V == 0 && n.Kind == ir.Binary && (n.Fn == kernel.Mul || n.Fn == kernel.Div):
		return m.Or(m.And(side(n.A, 1), side(n.B, sign)), m.And(side(n.A, -1), side(n.B, -sign))), true
	case threshold.V == 0 && s.IsUnary(x, kernel.Recip):
		return side(n.A, sign), true
	case n.Kind == ir.Binary && n.Fn == kernel.Div, s.IsUnary(x, kernel.Recip):
		top, bottom := n.A, n.B
		if n.Kind == ir.Unary {
			top, bottom = s.Constant(1), n.A
		}
		scaled := m.st.Sum(1, top, -threshold.V, bottom)
		return m.Or(m.And(side(bottom, 1), side(scaled, sign)), m.And(side(bottom, -1), side(scaled, -sign))), true
	}
	if log, ok := s.PositiveLog(x); ok {
		if threshold.V <= 0 {
			return m.constant(sign > 0), true
		}
		return m.positiveThere(s.Shifted(sign, s.Node(log), -sign, threshold.Log())), true
	}
	if n.Kind != ir.Unary {
		return g, false
	}
	roots, count := n.Fn.Inverse(threshold.V)
	none := math.IsNaN(roots[0]) || math.IsInf(roots[0], 0)
	bound := threshold.Mapped(func(y float64) float64 { r, _ := n.Fn.Inverse(y); return r[0] })
	beyond := func(by, shift float64) Guard { return m.positiveThere(s.Shifted(by, n.A, shift, bound)) }
	switch {
	case count == 2 && none: // an even function, all of whose values are larger
		return m.constant(sign > 0), true
	case count == 2:
		if sign > 0 {
			return m.Or(beyond(1, -1), beyond(-1, -1)), true
		}
		return m.And(beyond(1, 1), beyond(-1, 1)), true
	case !n.Fn.Increasing() || none && n.Fn == kernel.Sqrt:
		return g, false
	case none: // beyond all values
		return m.constant((threshold.V < n.Fn.Value(0)) == (sign > 0)), true
	}
	return beyond(sign, -sign), true
}

// positiveDifference is the guard p·x + q·y > 0 for p and q of different sign.
func (m *Maker) positiveDifference(c ir.Combination) (g Guard, ok bool) {
	s, x, y, p, q := m.st, c.Terms[0], c.Terms[1], c.Coef(0), c.Coef(1)
	if x.Coef < 0 {
		x, y, p, q = y, x, q, p
	}
	logX, okX := s.PositiveLog(x.Atom)
	logY, okY := s.PositiveLog(y.Atom)
	if okX && okY {
		ratio := p.Over(q.Times(ir.Rounded{V: -1})).Log()
		return m.positiveThere(s.Shifted(1, s.SumOf(1, logX, -1, logY), 1, ratio)), true
	}
	nx, ny := s.At(x.Atom), s.At(y.Atom)
	if x.Coef == -y.Coef && nx.Kind == ir.Unary && ny.Kind == ir.Unary && nx.Fn == ny.Fn && nx.Fn.Increasing() {
		return m.positiveThere(s.Sum(1, nx.A, -1, ny.A)), true
	}
	return g, false
}

// positiveFeatures is the guard id > 0 as a sum of latents and features.
func (m *Maker) positiveFeatures(id ir.ID) Guard {
	c := m.st.Expand(id)
	var parts []part
	for i, t := range c.Terms {
		p := part{x: c.Coef(i)}
		switch n := m.st.At(t.Atom); {
		case n.Kind == ir.Latent:
			p.at = int(n.A)
		default:
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

// unsolvable is an error if plane l is a curve of which a part cannot be solved for any
// latent.
func (m *Maker) unsolvable(l int) error {
	c := m.Arr.Curve(l)
	if c == nil {
		return nil
	}
	if slices.ContainsFunc(c.Pivots(), func(k int) bool { return c.Latents()[k] >= m.program.Params() }) {
		return m.missed(l)
	}
	var why []string
	for k, i := range c.Latents() {
		if i < m.program.Params() {
			continue
		}
		why = append(why, fmt.Sprintf("for %s: %s", m.program.Latent(int(i)).Name(), c.WhyNot(k)))
	}
	return fmt.Errorf("%s cannot be solved for any of its latents: %s", m.surface(l).Write("="), strings.Join(why, "; "))
}
