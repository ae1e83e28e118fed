package graph

import (
	"math"
	"slices"

	"github.com/facetvi/facet/regions"
)

// A Guard is the condition of an If: a comparison between affine expressions of
// the latents, or And, Or, Not of guards. Make one with Greater or Less. The
// zero Guard is false.
type Guard struct {
	m    *Model
	cond *cond // nil is false
}

type condOp uint8

const (
	condTrue condOp = iota
	condSign
	condNot
	condAnd
	condOr
)

// A cond is a Boolean formula over the signs of hyperplanes.
type cond struct {
	op    condOp
	sign  nodeID
	plane int // of the sign
	guard int // the comparison of the model that the sign was made for
	kids  []*cond
}

var alwaysTrue = &cond{op: condTrue}

func constantGuard(m *Model, holds bool) Guard {
	if holds {
		return Guard{m, alwaysTrue}
	}
	return Guard{m, nil}
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
	if m == nil {
		return constantGuard(nil, a.v > b.v)
	}
	return m.positive(Sub(a, b).in(m))
}

// positive is the guard id > 0.
func (m *Model) positive(id nodeID) Guard {
	if v, ok := m.st.isConst(id); ok {
		return constantGuard(m, v > 0)
	}
	if !m.st.nodes[id].affine {
		return m.positiveTransformed(id)
	}
	v, terms := m.st.expand(id)
	if len(terms) == 0 {
		return constantGuard(m, v > 0)
	}
	h := regions.Hyperplane{Const: v}
	for _, t := range terms {
		h.Index = append(h.Index, int(m.st.nodes[t.atom].a))
		h.Coef = append(h.Coef, t.coef)
	}
	return m.halfSpace(h)
}

func (m *Model) halfSpace(h regions.Hyperplane) Guard {
	info := GuardInfo{m: m, greater: regions.Hyperplane{Index: slices.Clone(h.Index), Coef: h.Coef, Const: h.Const}, place: here()}
	side, err := m.arr.Add(h)
	if err != nil {
		m.fail("guard %d: %v", len(m.guards), err)
		return Guard{m: m}
	}
	info.Side = side
	c := &cond{op: condSign, sign: m.st.leaf(kSign, side.Plane), plane: side.Plane, guard: len(m.guards)}
	m.guards = append(m.guards, info)
	if !side.Positive {
		c = &cond{op: condNot, kids: []*cond{c}}
	}
	return Guard{m, c}
}

// positiveTransformed is the guard coef·g(u) + c > 0 for the transform g of one
// latent: g is increasing, so it is a guard on u.
func (m *Model) positiveTransformed(id nodeID) Guard {
	v, terms := m.st.parts(id)
	if len(terms) != 1 || !m.isTransform(terms[0].atom) {
		m.fail("guard %d: %s is not affine in the latents: %s", len(m.guards), m.format(id, 4), m.whyNotAffine(id))
		return Guard{m: m}
	}
	g := m.st.nodes[terms[0].atom]
	threshold := -v / terms[0].coef
	sign := math.Copysign(1, terms[0].coef)
	image := imageOf[g.fn]
	switch {
	case threshold <= image.lo: // g(u) > threshold everywhere
		return constantGuard(m, sign > 0)
	case threshold >= image.hi:
		return constantGuard(m, sign < 0)
	}
	bound := image.inverse(image, threshold)
	u := int(m.st.nodes[g.a].a)
	return m.halfSpace(regions.Hyperplane{Index: []int{u}, Coef: []float64{sign}, Const: -sign * bound})
}

// imageOf is the image of the line under the function of a transform.
var imageOf = map[function]support{fnExp: positives, fnSigmoid: unitInterval}

// isTransform reports whether id is exp(u) or sigmoid(u) for a latent that is
// transformed that way.
func (m *Model) isTransform(id nodeID) bool {
	if !m.st.isUnary(id, fnExp) && !m.st.isUnary(id, fnSigmoid) {
		return false
	}
	u := m.st.nodes[m.st.nodes[id].a]
	return u.kind == kLatent && m.latents[u.a].prior.law != nil && m.latents[u.a].prior.law.support.fn == m.st.nodes[id].fn
}

func (m *Model) whyNotAffine(id nodeID) string {
	transformed, branch := false, false
	m.st.walk(id, func(id nodeID) {
		transformed = transformed || m.isTransform(id)
		branch = branch || m.st.nodes[id].kind == kSelect
	})
	switch {
	case transformed:
		return "a guard may compare one transformed latent (positive, or in an interval) with a number, and nothing else about it"
	case branch:
		return "it depends on a branch; write the comparison inside each side of that branch"
	}
	return "a guard is a comparison of sums of latents times numbers"
}

// walk visits id and all that it is made of, each once.
func (s *store) walk(id nodeID, visit func(nodeID)) {
	seen := map[nodeID]bool{}
	var rec func(nodeID)
	rec = func(id nodeID) {
		if seen[id] {
			return
		}
		seen[id] = true
		visit(id)
		s.nodes[id].operands(rec)
	}
	rec(id)
}

// Not holds where g does not.
func Not(g Guard) Guard {
	switch {
	case g.cond == nil:
		return Guard{g.m, alwaysTrue}
	case g.cond == alwaysTrue:
		return Guard{g.m, nil}
	case g.cond.op == condNot:
		return Guard{g.m, g.cond.kids[0]}
	}
	return Guard{g.m, &cond{op: condNot, kids: []*cond{g.cond}}}
}

// And holds where all of gs do; without any it is true.
func And(gs ...Guard) Guard { return combine(condAnd, nil, alwaysTrue, gs) }

// Or holds where at least one of gs does; without any it is false.
func Or(gs ...Guard) Guard { return combine(condOr, alwaysTrue, nil, gs) }

// combine joins guards by op; absorbing decides all, neutral is left out.
func combine(op condOp, absorbing, neutral *cond, gs []Guard) Guard {
	var m *Model
	out := &cond{op: op}
	absorbed := false
	for _, g := range gs {
		if g.m != nil {
			if m == nil {
				m = g.m
			}
			if !m.own(g) {
				return Guard{m: m} // of the first model, so that no other takes it
			}
		}
		switch g.cond {
		case absorbing:
			absorbed = true
		case neutral:
		default:
			out.kids = append(out.kids, g.cond)
		}
	}
	switch {
	case absorbed:
		return Guard{m, absorbing}
	case len(out.kids) == 0:
		return Guard{m, neutral}
	case len(out.kids) == 1:
		return Guard{m, out.kids[0]}
	}
	return Guard{m, out}
}

// If is then where g holds, and otherwise where it does not. The side that is
// not taken reaches neither the value nor the gradient, not even as NaN.
func If[A, B Value](g Guard, then A, otherwise B) Expr {
	a, b := lift(then), lift(otherwise)
	m := g.m
	if m == nil {
		m = owner(a, b)
	}
	if m == nil {
		if g.cond != nil {
			return a
		}
		return b
	}
	m.own(g)
	return Expr{m: m, id: m.branch(g.cond, a.in(m), b.in(m))}
}

func (m *Model) own(g Guard) bool {
	if g.m != nil && g.m != m {
		m.fail("a guard of another model is used here")
		return false
	}
	return true
}

// branch turns a formula into selects on single signs.
func (m *Model) branch(c *cond, then, otherwise nodeID) nodeID {
	if c == nil {
		return otherwise
	}
	switch c.op {
	case condSign:
		return m.st.sel(c.sign, then, otherwise)
	case condNot:
		return m.branch(c.kids[0], otherwise, then)
	case condAnd:
		for i := len(c.kids) - 1; i >= 0; i-- {
			then = m.branch(c.kids[i], then, otherwise)
		}
		return then
	case condOr:
		for i := len(c.kids) - 1; i >= 0; i-- {
			otherwise = m.branch(c.kids[i], then, otherwise)
		}
		return otherwise
	}
	return then
}
