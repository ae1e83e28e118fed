package graph

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/facetvi/facet/graph/internal/kernel"
	"github.com/facetvi/facet/regions"
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
func (m *Model) positiveCurved(id nodeID) Guard {
	c := m.st.combinationIn(id, make([]term, 1))
	if len(c.terms) == 1 && m.isTransform(c.terms[0].atom) {
		return m.positiveTransformed(c)
	}
	m.st.ignoresSources(c)
	if to := m.finite(id); to != id {
		return m.positive(to)
	}
	if to := m.st.splitLogs(id); to != id {
		return m.positiveThere(to)
	}
	switch {
	case len(c.terms) == 1:
		if g, ok := m.positiveAtom(c); ok {
			return g
		}
	case len(c.terms) == 2 && c.v.v == 0 && c.terms[0].coef*c.terms[1].coef < 0:
		if g, ok := m.positiveDifference(c); ok {
			return g
		}
	}
	for _, form := range []func(nodeID) (Guard, bool){m.positiveQuotients, m.positiveFactors, m.positiveOnLine} {
		if g, ok := form(id); ok {
			return g
		}
	}
	return m.positiveFeatures(id)
}

// positiveQuotients is the guard Σ > 0 of a sum with a quotient in it. Where the denominator b is 0 the sign of Σ may jump without
// being 0. So it compares b·Σ, which has no pole there, with 0: Σ > 0 where b > 0 and b·Σ > 0, or b < 0 and b·Σ < 0.
func (m *Model) positiveQuotients(id nodeID) (g Guard, ok bool) {
	s, c := m.st, m.st.expand(id)
	for i, t := range c.terms {
		top, bottom, ok := s.quotient(t.atom)
		if !ok || s.definite(bottom) {
			continue
		}
		scaled := s.sum(t.coef, top, c.v.v, bottom)
		for k, o := range c.terms {
			if k == i {
				continue
			}
			times := s.mul(bottom, o.atom)
			if x, y, ok := s.quotient(o.atom); ok && y == bottom {
				times = x
			} else if ok {
				times = s.div(s.mul(bottom, x), y)
			}
			scaled = s.sum(1, scaled, o.coef, times)
		}
		side := func(sign float64) Guard {
			return And(m.positiveThere(s.scale(sign, bottom)), m.positiveThere(s.scale(sign, scaled)))
		}
		return Or(side(1), side(-1)), true
	}
	return g, false
}

// splitLogs is id with log(a) − log(b) in place of log(a/b), if one of a and b is positive wherever id has a value, and so the
// other one is too. In log b − log(b/(1 − b)) the first term says that b is positive.
func (s *store) splitLogs(id nodeID) nodeID {
	c, edges := s.combination(id), s.domain(id)
	for k, t := range c.terms {
		if len(c.terms) == 1 || !s.isUnary(t.atom, kernel.Log) {
			continue
		}
		by, inner := s.coefficient(s.at(t.atom).a)
		top, bottom, ok := s.quotient(inner)
		if !ok || !(by.v > 0) {
			continue
		}
		positive := func(x nodeID) bool {
			return slices.ContainsFunc(edges, func(e edge) bool { return e.of != t.atom && e.positive == x }) || s.notNegative(x)
		}
		if !positive(top) && !positive(bottom) {
			continue
		}
		log := func(x nodeID) combination { return s.combination(s.unary(kernel.Log, x)) }
		split := combination{v: c.v.plus(by.log().times(c.coef(k)))}
		for i := range c.terms {
			if i != k {
				split.add(c.coef(i), c.terms[i].atom)
			}
		}
		rest := s.sumOf(t.coef, log(top), -t.coef, log(bottom))
		return s.node(s.weighted(rounded{v: 1}, split, rounded{v: 1}, s.combination(rest)))
	}
	return id
}

// quotient is id as top/bottom.
func (s *store) quotient(id nodeID) (top, bottom nodeID, ok bool) {
	switch n := s.at(id); {
	case s.isUnary(id, kernel.Recip):
		return s.constant(1), n.a, true
	case n.kind == kBinary && n.fn == kernel.Div:
		return n.a, n.b, true
	case n.kind == kBinary && n.fn == kernel.Mul:
		if top, bottom, ok = s.quotient(n.a); ok {
			return s.mul(top, n.b), bottom, true
		}
		if top, bottom, ok = s.quotient(n.b); ok {
			return s.mul(n.a, top), bottom, true
		}
	}
	return 0, 0, false
}

// definite reports whether id has one sign, and is never 0.
func (s *store) definite(id nodeID) bool {
	steps, err := s.steps(id)
	if err != nil {
		return false
	}
	negative, zero, positive := regions.SignsOf(steps)
	return !zero && negative != positive
}

// pole is a part of id that is infinite where another number may be 0, so that it
// changes its sign there.
func (s *store) pole(id nodeID) (part nodeID, found bool) {
	for id := range s.under(id) {
		switch n := s.like(id); {
		case s.isUnary(id, kernel.Tan):
			found = true
		case s.isUnary(id, kernel.Recip):
			found = !s.definite(s.at(id).a)
		case n.kind == kBinary && n.fn == kernel.Div:
			found = !s.definite(s.at(id).b)
		case n.kind == kBinary && n.fn == kernel.Pow && !s.isRoot(id):
			p, _ := s.isConst(s.at(id).b)
			found = p < 0 && !s.definite(s.at(id).a)
		}
		if found {
			return id, true
		}
	}
	return 0, false
}

// positiveTransformed is the guard coef·g(u) + c > 0 for the transform g of one
// latent: g is increasing, so it is a guard on u.
func (m *Model) positiveTransformed(c combination) Guard {
	g, coef := m.st.at(c.terms[0].atom), c.coef(0)
	threshold := c.v.negated().over(coef)
	image, sign := imageOf[g.fn], 1.0
	if coef.is(isNegative) {
		sign = -1
	}
	switch {
	case threshold.is(math.IsNaN):
		return constantGuard(m, false)
	case threshold.is(func(t float64) bool { return t <= image.lo }): // g(u) > threshold everywhere
		return constantGuard(m, sign > 0)
	case threshold.is(func(t float64) bool { return t >= image.hi }):
		return constantGuard(m, sign < 0)
	}
	bound := threshold.mapped(func(x float64) float64 { return image.inverse(image, x) })
	if sign > 0 {
		bound = bound.negated()
	}
	return m.halfSpaceOf([]part{{int(m.st.at(g.a).a), rounded{v: sign}}}, bound)
}

// imageOf is the image of the line under the function of a transform.
var imageOf = map[kernel.Function]support{kernel.Exp: positives, kernel.Sigmoid: unitInterval}

// isTransform reports whether id is exp(u) or sigmoid(u) for a latent that is
// transformed that way.
func (m *Model) isTransform(id nodeID) bool {
	if !m.st.isUnary(id, kernel.Exp) && !m.st.isUnary(id, kernel.Sigmoid) {
		return false
	}
	x := m.st.head(id).a
	if m.st.like(x).kind != kLatent {
		return false
	}
	u := m.st.head(x)
	return m.latents[u.a].support.fn == m.st.like(id).fn
}

// positiveAtom is the guard coef·x + v > 0 for one x that is not affine.
func (m *Model) positiveAtom(c combination) (g Guard, ok bool) {
	s, x, sign := m.st, c.terms[0].atom, math.Copysign(1, c.terms[0].coef)
	n := s.at(x)
	threshold := rounded{v: -c.v.v, err: c.v.err}.over(c.coef(0)) // sign·(x − threshold) > 0
	side := func(id nodeID, by float64) Guard { return m.positiveThere(s.scale(by, id)) }
	switch {
	case threshold.v == 0 && n.kind == kBinary && (n.fn == kernel.Mul || n.fn == kernel.Div):
		return Or(And(side(n.a, 1), side(n.b, sign)), And(side(n.a, -1), side(n.b, -sign))), true
	case threshold.v == 0 && s.isUnary(x, kernel.Recip):
		return side(n.a, sign), true
	case n.kind == kBinary && n.fn == kernel.Div, s.isUnary(x, kernel.Recip):
		top, bottom := n.a, n.b
		if n.kind == kUnary {
			top, bottom = s.constant(1), n.a
		}
		scaled := m.st.sum(1, top, -threshold.v, bottom)
		return Or(And(side(bottom, 1), side(scaled, sign)), And(side(bottom, -1), side(scaled, -sign))), true
	}
	if log, ok := s.positiveLog(x); ok {
		if threshold.v <= 0 {
			return constantGuard(m, sign > 0), true
		}
		return m.positiveThere(s.shifted(sign, s.node(log), -sign, threshold.log())), true
	}
	if n.kind != kUnary {
		return g, false
	}
	roots, count := n.fn.Inverse(threshold.v)
	none := math.IsNaN(roots[0]) || math.IsInf(roots[0], 0)
	bound := threshold.mapped(func(y float64) float64 { r, _ := n.fn.Inverse(y); return r[0] })
	beyond := func(by, shift float64) Guard { return m.positiveThere(s.shifted(by, n.a, shift, bound)) }
	switch {
	case count == 2 && none: // an even function, all of whose values are larger
		return constantGuard(m, sign > 0), true
	case count == 2:
		if sign > 0 {
			return Or(beyond(1, -1), beyond(-1, -1)), true
		}
		return And(beyond(1, 1), beyond(-1, 1)), true
	case !n.fn.Increasing() || none && n.fn == kernel.Sqrt:
		return g, false
	case none: // beyond all values
		return constantGuard(m, (threshold.v < n.fn.Value(0)) == (sign > 0)), true
	}
	return beyond(sign, -sign), true
}

// shifted is by·id + shift·bound.
func (s *store) shifted(by float64, id nodeID, shift float64, bound rounded) nodeID {
	return s.node(s.weighted(rounded{v: by}, s.combination(id), rounded{v: shift}, combination{v: bound}))
}

// positiveDifference is the guard p·x + q·y > 0 for p and q of different sign.
func (m *Model) positiveDifference(c combination) (g Guard, ok bool) {
	s, x, y, p, q := m.st, c.terms[0], c.terms[1], c.coef(0), c.coef(1)
	if x.coef < 0 {
		x, y, p, q = y, x, q, p
	}
	logX, okX := s.positiveLog(x.atom)
	logY, okY := s.positiveLog(y.atom)
	if okX && okY {
		ratio := p.over(q.times(rounded{v: -1})).log()
		return m.positiveThere(s.shifted(1, s.sumOf(1, logX, -1, logY), 1, ratio)), true
	}
	nx, ny := s.at(x.atom), s.at(y.atom)
	if x.coef == -y.coef && nx.kind == kUnary && ny.kind == kUnary && nx.fn == ny.fn && nx.fn.Increasing() {
		return m.positiveThere(s.sum(1, nx.a, -1, ny.a)), true
	}
	return g, false
}

// positiveLog is log(id) for an expression that is always positive, made of
// exponentials by products, quotients and powers.
func (s *store) positiveLog(id nodeID) (log combination, ok bool) {
	c, inner := s.coefficient(id)
	n := s.at(inner)
	pair := func(ca float64, a nodeID, cb float64, b nodeID) (log combination, ok bool) {
		x, okX := s.positiveLog(a)
		y, okY := s.positiveLog(b)
		if !okX || !okY {
			return log, false
		}
		return s.combination(s.sumOf(ca, x, cb, y)), true
	}
	one := func(by float64, a nodeID) (combination, bool) { return pair(by, a, 0, s.constant(1)) }
	switch v, exponent := s.isConst(n.b); {
	case !(c.v > 0):
		return log, false
	case n.kind == kConst:
		return combination{v: s.number(inner).log()}, n.v > 0
	case s.isUnary(inner, kernel.Exp):
		log, ok = s.combination(n.a), true
	case s.isUnary(inner, kernel.Recip):
		log, ok = one(-1, n.a)
	case s.isUnary(inner, kernel.Sqrt):
		log, ok = one(0.5, n.a)
	case s.isUnary(inner, kernel.Square):
		log, ok = one(2, n.a)
	case n.kind == kBinary && n.fn == kernel.Mul:
		log, ok = pair(1, n.a, 1, n.b)
	case n.kind == kBinary && n.fn == kernel.Div:
		log, ok = pair(1, n.a, -1, n.b)
	case n.kind == kBinary && n.fn == kernel.Pow && exponent:
		log, ok = one(v, n.a)
	}
	if ok {
		log.v = log.v.plus(c.log())
	}
	return log, ok
}

// positiveFeatures is the guard id > 0 as a sum of latents and features.
func (m *Model) positiveFeatures(id nodeID) Guard {
	c := m.st.expand(id)
	var parts []part
	for i, t := range c.terms {
		p := part{x: c.coef(i)}
		switch n := m.st.at(t.atom); {
		case n.kind == kLatent:
			p.at = int(n.a)
		default:
			at, err := m.feature(t.atom)
			if err != nil {
				m.fail("guard %d: %s: %v", len(m.guards), m.format(id, 4), err)
				return constantGuard(m, false)
			}
			p.at = at
		}
		parts = append(parts, p)
	}
	return m.halfSpaceOf(parts, c.v)
}

// feature is the coordinate of m.arr that stands for a node.
func (m *Model) feature(id nodeID) (coordinate int, err error) {
	if at, known := m.features[id]; known {
		return at, nil
	}
	if part, found := m.st.pole(id); found {
		return 0, fmt.Errorf("%s may jump from one sign to the other through a pole, which is no zero of what is compared: multiply by the denominator, or compare on either side of it",
			m.format(part, 4))
	}
	steps, err := m.st.steps(id)
	if err != nil {
		return 0, err
	}
	at := m.arr.AddFeature(steps)
	m.features[id] = at
	m.featureNodes = append(m.featureNodes, id)
	return at, nil
}

// steps are the node as a list of operations on the latents' coordinates.
func (s *store) steps(id nodeID) (steps []regions.Step, err error) {
	at := map[nodeID]int{}
	var visit func(id nodeID) int
	visit = func(id nodeID) int {
		if k, known := at[id]; known {
			return k
		}
		var x regions.Step
		switch n := s.at(id); {
		case n.kind == kConst:
			x = regions.Step{Kind: regions.Affine, Const: n.v}
		case n.kind == kLatent:
			x = regions.Step{Kind: regions.Coordinate, A: int(n.a)}
		case n.kind == kSum:
			x = regions.Step{Kind: regions.Affine, Const: n.v}
			for _, t := range n.terms {
				x.Terms = append(x.Terms, regions.Term{Of: visit(t.atom), Coef: t.coef})
			}
		case n.kind == kUnary:
			x = regions.Step{Kind: regions.Apply, F: limited(n.fn), A: visit(n.a)}
		case s.isRoot(id):
			steps = append(steps, regions.Step{Kind: regions.Apply, F: base{}, A: visit(n.a)})
			a := len(steps) - 1
			x = regions.Step{Kind: regions.Power, A: a, B: visit(n.b)}
		case n.kind == kBinary && stepKinds[n.fn] != 0:
			x = regions.Step{Kind: stepKinds[n.fn], A: visit(n.a), B: visit(n.b)}
		case n.kind == kBinary:
			x = regions.Step{Kind: regions.Call, Call: n.fn, Args: []int{visit(n.a), visit(n.b)}}
		case n.kind == kTernary:
			x = regions.Step{Kind: regions.Call, Call: n.fn, Args: []int{visit(n.a), visit(n.b), visit(n.c)}}
		default:
			err = fmt.Errorf("a guard cannot compare %v", n.fn)
		}
		at[id] = len(steps)
		steps = append(steps, x)
		return at[id]
	}
	visit(id)
	return steps, err
}

var stepKinds = map[kernel.Function]regions.StepKind{kernel.Mul: regions.Times, kernel.Div: regions.Over, kernel.Pow: regions.Power}

// unsolvable is an error if plane l is a curve of which a part cannot be solved for any
// latent.
func (m *Model) unsolvable(l int) error {
	c := m.arr.Curve(l)
	if c == nil {
		return nil
	}
	if slices.ContainsFunc(c.Pivots(), func(k int) bool { return c.Latents()[k] >= m.params }) {
		return m.missed(l)
	}
	var why []string
	for k, i := range c.Latents() {
		if i < m.params {
			continue
		}
		why = append(why, fmt.Sprintf("for %s: %s", m.latents[i].name, c.WhyNot(k)))
	}
	return fmt.Errorf("%s cannot be solved for any of its latents: %s", GuardInfo{m: m, greater: m.arr.Plane(l)}.write("="), strings.Join(why, "; "))
}
