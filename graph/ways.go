package graph

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// A comparison of what branches make is one comparison for each value that they make, where they make it. A value that
// many paths lead to is compared once, where any of them is taken:
//
//	x = x + If(on, up, −down), t times   ─▶   t + 1 values, for 2ᵗ paths
//
// A way is one of the values that branches make of an expression. It holds where the formula where does; given are
// formulas of branches that are known there, ascending. Of two ways of one expression, at most one holds.
type way struct {
	value, where nodeID
	given        []literal
}

// A literal is a formula, or its negation.
type literal struct {
	formula nodeID
	holds   bool
}

// What bounds the values that branches make of the expressions that a model compares, and how many curves one comparison of such values is:
// a curve takes milliseconds.
const (
	mostWays   = 1 << 16
	mostCurves = 1 << 8
)

// lifted is the guard id > 0 where id depends on branches.
func (m *Model) lifted(id nodeID) Guard {
	m.st.rec.spoil()
	if known, ok := m.lifts[id]; ok {
		return Guard{value: Expr{m: m, id: known}}
	}
	var guards []Guard
	var where []nodeID // by guard
	curves := 0
	for _, w := range m.ways(id) {
		g := m.positive(w.value)
		if m.err != nil {
			break
		}
		value := g.value.in(m)
		at := slices.IndexFunc(guards, func(o Guard) bool { return o.value.in(m) == value })
		if at >= 0 {
			where[at] = m.st.or(where[at], w.where)
			continue
		}
		guards, where = append(guards, g), append(where, w.where)
		if side, ok := g.Side(); ok && m.arr.Curve(side.Plane) != nil {
			curves++
		}
		if curves > mostCurves {
			m.tooManyWays(id, fmt.Sprintf("%d curves", mostCurves))
			break
		}
	}
	switch {
	case m.err != nil:
		return constantGuard(m, false)
	case len(guards) == 1:
		m.lifts[id] = guards[0].value.in(m)
		return guards[0]
	}
	for k, at := range where {
		guards[k] = both(Guard{value: Expr{m: m, id: at}}, guards[k])
	}
	either := Or(guards...)
	m.lifts[id] = either.value.in(m)
	return either
}

// ways are those of id: all values that it has. Without branches it is one.
func (m *Model) ways(id nodeID) []way {
	cond, branches := m.firstBranch(id)
	if !branches {
		return []way{{value: id, where: m.st.constant(1)}}
	}
	return remembered(m.waysOf, id, func() []way {
		c := collection{m: m, at: map[string][]int{}}
		m.collect(&c, id, cond)
		if m.manyWays += len(c.ways); m.manyWays > mostWays {
			m.tooManyWays(id, fmt.Sprintf("%d comparisons", mostWays))
		}
		return c.ways
	})
}

func (m *Model) tooManyWays(id nodeID, bound string) {
	m.fail("guard %d: %s depends on so many branches that it becomes more than %s; compare a latent of its own, such as the time of a change, and not what the branches make, or a discrete latent of fewer values (Truncated)",
		len(m.guards), m.format(id, 2), bound)
}

// collect adds the ways of id, of whose branches the first one is on cond.
func (m *Model) collect(c *collection, id, cond nodeID) {
	s, n := m.st, m.st.at(id)
	then, otherwise := func() nodeID { return n.b }, func() nodeID { return n.c }
	switch of, more := m.branching(id); {
	case n.kind == kSum:
		m.collectSum(c, id)
		return
	case n.kind == kSelect:
		cond = n.a
	case more:
		then = func() nodeID { return newForcer(m, cond, true).rewrite(id) }
		otherwise = func() nodeID { return newForcer(m, cond, false).rewrite(id) }
	default:
		for _, w := range m.ways(of) {
			w.value = s.operation(n, func(o nodeID) nodeID {
				if o == of {
					return w.value
				}
				return o
			})
			c.add(w)
		}
		return
	}
	one, second := s.constant(1), func(_, value nodeID) nodeID { return value }
	c.addBoth([]way{{one, cond, []literal{{cond, true}}}}, m.ways(then()), second)
	c.addBoth([]way{{one, s.not(cond), []literal{{cond, false}}}}, m.ways(otherwise()), second)
}

// collectSum adds the ways of a sum. Those of the terms with branches are the ways of all of them but the last, with
// those of the last: so the steps of x = x + If(…) go on from each other's.
func (m *Model) collectSum(c *collection, id nodeID) {
	s := m.st
	sum := s.combination(id)
	fixed, rest := combination{v: sum.v}, combination{}
	for k, t := range sum.terms {
		if _, branches := m.firstBranch(t.atom); branches {
			rest.add(sum.coef(k), t.atom)
		} else {
			fixed.add(sum.coef(k), t.atom)
		}
	}
	last, sign := len(rest.terms)-1, math.Copysign(1, rest.terms[0].coef)
	part := func(from, to int) nodeID {
		var x combination
		for k := from; k < to; k++ {
			x.add(rest.coef(k), rest.terms[k].atom)
		}
		return s.node(x)
	}
	switch {
	case sign < 0 || fixed.v.v != 0 || len(fixed.terms) > 0:
		of, by := s.scale(sign, part(0, last+1)), s.node(fixed)
		for _, w := range m.ways(of) {
			w.value = s.sum(sign, w.value, 1, by)
			c.add(w)
		}
	case last == 0:
		for _, w := range m.ways(rest.terms[0].atom) {
			w.value = s.scaleBy(rest.coef(0), w.value)
			c.add(w)
		}
	default:
		c.addBoth(m.ways(part(0, last)), m.ways(part(last, last+1)), func(a, b nodeID) nodeID { return s.sum(1, a, 1, b) })
	}
}

// branching is an operand of id that has branches, and whether there are more.
func (m *Model) branching(id nodeID) (of nodeID, more bool) {
	of = -1
	m.st.operands(id, func(o nodeID) {
		if o == of {
			return
		}
		if _, branches := m.firstBranch(o); branches {
			of, more = o, of >= 0
		}
	})
	return of, more
}

// A collection is ways of different values.
type collection struct {
	m    *Model
	ways []way
	at   map[string][]int // by value, as key has it
}

// add adds a way. One whose value is known holds where either does.
func (c *collection) add(w way) {
	s, key := c.m.st, c.key(w.value)
	for _, at := range c.at[key] {
		if o := &c.ways[at]; s.near(o.value, w.value) {
			o.where, o.given = s.or(o.where, w.where), slices.DeleteFunc(slices.Clone(o.given), func(l literal) bool { return !slices.Contains(w.given, l) })
			return
		}
	}
	c.at[key] = append(c.at[key], len(c.ways))
	c.ways = append(c.ways, w)
}

// addBoth adds the ways in which one of a and one of b hold, with what f makes of their values.
func (c *collection) addBoth(a, b []way, f func(a, b nodeID) nodeID) {
	s := c.m.st
	second := make([]*premises, len(b))
	for k, w := range b {
		second[k] = s.suppose(w.given)
	}
	for _, x := range a {
		first := s.suppose(x.given)
		for k, y := range b {
			inX, inY := first.truthOf(y.where), second[k].truthOf(x.where)
			w := way{where: x.where}
			switch {
			case c.m.err != nil || len(c.ways) > mostWays:
				return
			case inX == never || inY == never:
				continue
			case inY == always:
				w.where = y.where
			case inX != always:
				w.where = s.and(x.where, y.where)
			}
			if v, ok := s.isConst(w.where); ok && v == 0 {
				continue
			}
			w.value, w.given = f(x.value, y.value), slices.Concat(x.given, y.given)
			slices.SortFunc(w.given, func(x, y literal) int { return cmp.Compare(x.formula, y.formula) })
			w.given = slices.Compact(w.given)
			c.add(w)
		}
	}
}

// key is the same of near values, but where rounding to 24 bits tells them apart.
func (c *collection) key(id nodeID) string {
	v, terms := c.m.st.parts(id)
	key := binary.AppendUvarint(nil, uint64(math.Float32bits(float32(v))))
	for _, t := range terms {
		key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(t.atom)), uint64(math.Float32bits(float32(t.coef))))
	}
	return string(key)
}

// near reports whether two expressions differ by no more than their rounding.
func (s *store) near(a, b nodeID) bool {
	if a == b {
		return true
	}
	x, y := s.combination(a), s.combination(b)
	if len(x.terms) != len(y.terms) || math.Abs(x.v.v-y.v.v) > x.v.err+y.v.err {
		return false
	}
	for k := range x.terms {
		p, q := x.coef(k), y.coef(k)
		if x.terms[k].atom != y.terms[k].atom || math.Abs(p.v-q.v) > p.err+q.err {
			return false
		}
	}
	return true
}

// premises are what literals say of formulas.
type premises struct {
	s     *store
	known map[nodeID]truth
	first nodeID // of formulas below it nothing is known
}

type truth uint8

const (
	open truth = iota
	always
	never
)

func truthOf(holds bool) truth {
	if holds {
		return always
	}
	return never
}

// suppose returns what follows where all of the literals hold.
func (s *store) suppose(literals []literal) *premises {
	p := &premises{s: s, known: map[nodeID]truth{}, first: noRow}
	var learn func(id nodeID, holds bool)
	learn = func(id nodeID, holds bool) {
		if p.known[id] != open {
			return
		}
		p.known[id], p.first = truthOf(holds), min(p.first, id)
		switch n := s.at(id); {
		case n.kind == kNot:
			learn(n.a, !holds)
		case n.kind == kAnd && holds:
			learn(n.a, true)
			learn(n.b, true)
		}
	}
	for _, l := range literals {
		learn(l.formula, l.holds)
	}
	return p
}

// truthOf says whether the formula id holds.
func (p *premises) truthOf(id nodeID) truth {
	if v, ok := p.s.isConst(id); ok {
		return truthOf(v != 0)
	}
	if id < p.first {
		return open
	}
	return remembered(p.known, id, func() truth {
		switch n := p.s.at(id); n.kind {
		case kNot:
			return [...]truth{open: open, always: never, never: always}[p.truthOf(n.a)]
		case kAnd:
			a, b := p.truthOf(n.a), p.truthOf(n.b)
			switch {
			case a == never || b == never:
				return never
			case a == always && b == always:
				return always
			}
		}
		return open
	})
}

// firstBranch is the formula of the first branch that id depends on.
func (m *Model) firstBranch(id nodeID) (cond nodeID, ok bool) {
	if m.st.like(id).affine {
		return 0, false
	}
	seen := map[nodeID]bool{}
	var visit func(id nodeID)
	visit = func(id nodeID) {
		if seen[id] {
			return
		}
		seen[id] = true
		if m.st.like(id).kind != kSelect {
			m.st.operands(id, visit)
			return
		}
		n := m.st.at(id)
		if !ok || n.a < cond {
			cond, ok = n.a, true
		}
		visit(n.b)
		visit(n.c)
	}
	visit(id)
	return cond, ok
}
