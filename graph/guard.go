package graph

import (
	"math"
	"slices"

	"github.com/facetvi/facet/graph/kernel"
	"github.com/facetvi/facet/regions"
)

// A Guard is the condition of an If: a comparison between affine expressions of
// the latents, or And, Or, Not of guards. Make one with Greater or Less. The
// zero Guard is false.
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
	return Guard{value: Expr{m: m, id: m.st.constant(v)}}
}

// Greater is the guard a > b. The difference a − b must be affine in the
// unconstrained latents; a comparison of one transformed latent with a number
// is turned into one on its unconstrained coordinate. A comparison that does
// not depend on a latent is simply true or false.
func Greater[A, B Value](a A, b B) Guard { return greater(lift(a), lift(b)) }

// Less is the guard a < b; see Greater.
func Less[A, B Value](a A, b B) Guard { return greater(lift(b), lift(a)) }

func greater(a, b Expr) Guard {
	m := owner(a, b)
	t := m.traces()
	switch {
	case m == nil && (math.IsNaN(a.v) || math.IsNaN(b.v)):
		return Guard{value: Expr{v: math.NaN()}} // an error where it is used
	case m == nil:
		return constantGuard(nil, a.v > b.v)
	case t != nil:
		return t.greater(a, b)
	}
	return m.positive(Sub(a, b).in(m))
}

// positive is the guard id > 0.
func (m *Model) positive(id nodeID) Guard {
	if v, ok := m.st.isConst(id); ok {
		if math.IsNaN(v) {
			m.fail("%v", errNaN)
		}
		return constantGuard(m, v > 0)
	}
	if !m.st.nodes[id].affine {
		return m.positiveTransformed(id)
	}
	c := m.st.expand(id)
	if len(c.terms) == 0 {
		return constantGuard(m, c.v.v > 0)
	}
	h := regions.Hyperplane{Const: c.v.v}
	for _, t := range c.terms {
		h.Index = append(h.Index, int(m.st.nodes[t.atom].a))
		h.Coef = append(h.Coef, t.coef)
	}
	return m.halfSpace(h, regions.Rounding{Coef: c.errs, Const: c.v.err})
}

func (m *Model) halfSpace(h regions.Hyperplane, r regions.Rounding) Guard {
	info := GuardInfo{m: m, greater: regions.Hyperplane{Index: slices.Clone(h.Index), Coef: h.Coef, Const: h.Const}, place: m.here()}
	side, err := m.arr.AddRounded(h, r)
	if err != nil {
		m.fail("guard %d: %v", len(m.guards), err)
		return constantGuard(m, false)
	}
	info.Side = side
	m.guards = append(m.guards, info)
	g := Guard{Expr{m: m, id: m.st.leaf(kSign, side.Plane)}, len(m.guards)}
	if !side.Positive {
		g.value.id = m.st.not(g.value.id)
	}
	return g
}

// positiveTransformed is the guard coef·g(u) + c > 0 for the transform g of one
// latent: g is increasing, so it is a guard on u.
func (m *Model) positiveTransformed(id nodeID) Guard {
	c := m.st.combination(id)
	if len(c.terms) != 1 || !m.isTransform(c.terms[0].atom) {
		m.fail("guard %d: %s is not affine in the latents: %s", len(m.guards), m.format(id, 4), m.whyNotAffine(id))
		return constantGuard(m, false)
	}
	g := m.st.nodes[c.terms[0].atom]
	threshold := rounded{-c.v.v, c.v.err}.over(c.coef(0))
	sign := math.Copysign(1, c.terms[0].coef)
	image := imageOf[g.fn]
	switch {
	case threshold.v <= image.lo: // g(u) > threshold everywhere
		return constantGuard(m, sign > 0)
	case threshold.v >= image.hi:
		return constantGuard(m, sign < 0)
	}
	bound := threshold.mapped(func(x float64) float64 { return image.inverse(image, x) })
	u := int(m.st.nodes[g.a].a)
	return m.halfSpace(regions.Hyperplane{Index: []int{u}, Coef: []float64{sign}, Const: -sign * bound.v}, regions.Rounding{Const: bound.err})
}

// imageOf is the image of the line under the function of a transform.
var imageOf = map[kernel.Function]support{kernel.Exp: positives, kernel.Sigmoid: unitInterval}

// isTransform reports whether id is exp(u) or sigmoid(u) for a latent that is
// transformed that way.
func (m *Model) isTransform(id nodeID) bool {
	if !m.st.isUnary(id, kernel.Exp) && !m.st.isUnary(id, kernel.Sigmoid) {
		return false
	}
	u := m.st.nodes[m.st.nodes[id].a]
	return u.kind == kLatent && m.latents[u.a].prior.law != nil && m.latents[u.a].prior.law.support.fn == m.st.nodes[id].fn
}

func (m *Model) whyNotAffine(id nodeID) string {
	transformed, branch := false, false
	walk(m.st.nodes, id, func(id nodeID) {
		transformed = transformed || m.isTransform(id)
		branch = branch || m.st.nodes[id].kind == kSelect
	})
	switch {
	case transformed:
		return "a guard may compare one transformed latent (positive, or in an interval) with a number, and nothing else about it"
	case branch:
		return "it depends on a branch; where a guard g chooses between a and b, compare both: Or(And(g, a > c), And(Not(g), b > c))"
	}
	return "a guard is a comparison of sums of latents times numbers"
}

// walk visits id and all that it is made of, each once.
func walk(nodes []node, id nodeID, visit func(nodeID)) {
	seen := map[nodeID]bool{}
	var rec func(nodeID)
	rec = func(id nodeID) {
		if seen[id] {
			return
		}
		seen[id] = true
		visit(id)
		nodes[id].operands(rec)
	}
	rec(id)
}
