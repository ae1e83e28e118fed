package compare

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/facetvi/facet/internal/ir"
)

// What bounds the values that branches make of the expressions that a model compares, and how many curves one comparison of such values is:
// a curve takes milliseconds.
const (
	mostWays   = 1 << 16
	mostCurves = 1 << 8
)

// Values are those that branches make of id. Without branches it is one.
func (m *Maker) Values(id ir.ID) (values []ir.ID) {
	for _, w := range m.ways(id) {
		values = append(values, w.value)
	}
	return values
}

// Where is the formula that holds where branches make id the number v.
func (m *Maker) Where(id ir.ID, v float64) ir.ID {
	where := m.st.Constant(0)
	for _, w := range m.ways(id) {
		if x, ok := m.st.IsConst(w.value); ok && x == v {
			where = m.st.Or(where, w.where)
		}
	}
	return where
}

// EqualNumbers is the guard a = b of values that change by branches alone, some of which are infinite or NaN.
func (m *Maker) EqualNumbers(a, b ir.ID) Guard {
	s, where := m.st, m.st.Constant(0)
	for _, x := range m.ways(a) {
		for _, y := range m.ways(b) {
			v, _ := s.IsConst(x.value)
			if w, _ := s.IsConst(y.value); v == w {
				where = s.Or(where, s.And(x.where, y.where))
			}
		}
	}
	return Guard{Formula: where}
}

// ways are those of id: all values that it has. Without branches it is one.
func (m *Maker) ways(id ir.ID) []way {
	cond, branches := m.firstBranch(id)
	if !branches {
		return []way{{value: id, where: m.st.Constant(1)}}
	}
	return ir.Remembered(m.known.ways, id, func() []way {
		c := collection{m: m, at: map[string][]int{}}
		m.collect(&c, id, cond)
		if m.known.manyWays += len(c.ways); m.known.manyWays > mostWays {
			m.tooManyWays(id, fmt.Sprintf("%d comparisons", mostWays))
		}
		return c.ways
	})
}

func (m *Maker) tooManyWays(id ir.ID, bound string) {
	m.program.Fail("guard %d: %s depends on so many branches that it becomes more than %s; compare a latent of its own, such as the time of a change, and not what the branches make, or a discrete latent of fewer values (Truncated)",
		len(m.Made), m.Format(id, 2), bound)
}

// collect adds the ways of id, of whose branches the first one is on cond.
func (m *Maker) collect(c *collection, id, cond ir.ID) {
	s, n := m.st, m.st.At(id)
	then, otherwise := func() ir.ID { return n.B }, func() ir.ID { return n.C }
	switch of, more := m.branching(id); {
	case n.Kind == ir.Sum:
		m.collectSum(c, id)
		return
	case n.Kind == ir.Select:
		cond = n.A
	case more:
		then = func() ir.ID { return ir.NewForcer(s, cond, true).Rewrite(id) }
		otherwise = func() ir.ID { return ir.NewForcer(s, cond, false).Rewrite(id) }
	default:
		for _, w := range m.ways(of) {
			w.value = s.Operation(n, func(o ir.ID) ir.ID {
				if o == of {
					return w.value
				}
				return o
			})
			c.add(w)
		}
		return
	}
	one, second := s.Constant(1), func(_, value ir.ID) ir.ID { return value }
	c.addBoth([]way{{one, cond, []ir.Literal{{Formula: cond, Holds: true}}}}, m.ways(then()), second)
	c.addBoth([]way{{one, s.Not(cond), []ir.Literal{{Formula: cond, Holds: false}}}}, m.ways(otherwise()), second)
}

// collectSum adds the ways of a sum. Those of the terms with branches are the ways of all of them but the last, with
// those of the last: so the steps of x = x + If(…) go on from each other's.
func (m *Maker) collectSum(c *collection, id ir.ID) {
	s := m.st
	sum := s.Combination(id)
	fixed, rest := ir.Combination{V: sum.V}, ir.Combination{}
	for k, t := range sum.Terms {
		if _, branches := m.firstBranch(t.Atom); branches {
			rest.Add(sum.Coef(k), t.Atom)
		} else {
			fixed.Add(sum.Coef(k), t.Atom)
		}
	}
	last, sign := len(rest.Terms)-1, math.Copysign(1, rest.Terms[0].Coef)
	part := func(from, to int) ir.ID {
		var x ir.Combination
		for k := from; k < to; k++ {
			x.Add(rest.Coef(k), rest.Terms[k].Atom)
		}
		return s.Node(x)
	}
	switch {
	case sign < 0 || fixed.V.V != 0 || len(fixed.Terms) > 0:
		of, by := s.Scale(sign, part(0, last+1)), s.Node(fixed)
		for _, w := range m.ways(of) {
			w.value = s.Sum(sign, w.value, 1, by)
			c.add(w)
		}
	case last == 0:
		for _, w := range m.ways(rest.Terms[0].Atom) {
			w.value = s.ScaleBy(rest.Coef(0), w.value)
			c.add(w)
		}
	default:
		c.addBoth(m.ways(part(0, last)), m.ways(part(last, last+1)), func(a, b ir.ID) ir.ID { return s.Sum(1, a, 1, b) })
	}
}

// branching is an operand of id that has branches, and whether there are more.
func (m *Maker) branching(id ir.ID) (of ir.ID, more bool) {
	of = -1
	m.st.Operands(id, func(o ir.ID) {
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
	m    *Maker
	ways []way
	at   map[string][]int // by value, as key has it
}

// add adds a way. One whose value is known holds where either does.
func (c *collection) add(w way) {
	s, key := c.m.st, c.key(w.value)
	for _, at := range c.at[key] {
		if o := &c.ways[at]; s.Near(o.value, w.value) {
			o.where, o.given = s.Or(o.where, w.where), slices.DeleteFunc(slices.Clone(o.given), func(l ir.Literal) bool { return !slices.Contains(w.given, l) })
			return
		}
	}
	c.at[key] = append(c.at[key], len(c.ways))
	c.ways = append(c.ways, w)
}

// addBoth adds the ways in which one of a and one of b hold, with what f makes of their values.
func (c *collection) addBoth(a, b []way, f func(a, b ir.ID) ir.ID) {
	s := c.m.st
	second := make([]*ir.Premises, len(b))
	for k, w := range b {
		second[k] = s.Suppose(w.given)
	}
	for _, x := range a {
		first := s.Suppose(x.given)
		for k, y := range b {
			inX, inY := first.TruthOf(y.where), second[k].TruthOf(x.where)
			w := way{where: x.where}
			switch {
			case c.m.failed() || len(c.ways) > mostWays:
				return
			case inX == ir.Never || inY == ir.Never:
				continue
			case inY == ir.Always:
				w.where = y.where
			case inX != ir.Always:
				w.where = s.And(x.where, y.where)
			}
			if v, ok := s.IsConst(w.where); ok && v == 0 {
				continue
			}
			w.value, w.given = f(x.value, y.value), slices.Concat(x.given, y.given)
			slices.SortFunc(w.given, func(x, y ir.Literal) int { return cmp.Compare(x.Formula, y.Formula) })
			w.given = slices.Compact(w.given)
			c.add(w)
		}
	}
}

// key is the same of near values, but where rounding to 24 bits tells them apart.
func (c *collection) key(id ir.ID) string {
	v, terms := c.m.st.Parts(id)
	key := binary.AppendUvarint(nil, uint64(math.Float32bits(float32(v))))
	for _, t := range terms {
		key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(t.Atom)), uint64(math.Float32bits(float32(t.Coef))))
	}
	return string(key)
}

// firstBranch is the formula of the first branch that id depends on.
func (m *Maker) firstBranch(id ir.ID) (cond ir.ID, ok bool) {
	if m.st.Like(id).Affine {
		return 0, false
	}
	seen := map[ir.ID]bool{}
	var visit func(id ir.ID)
	visit = func(id ir.ID) {
		if seen[id] {
			return
		}
		seen[id] = true
		if m.st.Like(id).Kind != ir.Select {
			m.st.Operands(id, visit)
			return
		}
		n := m.st.At(id)
		if !ok || n.A < cond {
			cond, ok = n.A, true
		}
		visit(n.B)
		visit(n.C)
	}
	visit(id)
	return cond, ok
}
