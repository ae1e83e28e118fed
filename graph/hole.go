package graph

import (
	"cmp"
	"slices"
)

// A hole of a recording is a node outside the row that may be another one in other rows:
//
//	effects[group] ─▶ what Index gives, and what that is made of
//	slope·x        ─▶ what is there already, for a number or for what is in a hole
//
// Rows are alike whose nodes in holes are alike, and in the same order among each other and
// among all other nodes that the row knows.
type hole struct {
	id    nodeID // in the recorded row
	index int    // number of the Index call, −1 for what was found
	place int    // in the list of what that gives
	found node   // what was looked for, with the recorded IDs
	from  sources
}

// An indexing is a call of Index.
type indexing struct {
	p      *Plate
	values []Expr
	at     []int
	nodes  []nodeID   // what the value in the recorded row is made of
	alike  [][]nodeID // by value: the same of it; empty if it is not alike, nil while that is not known
}

const (
	mostBelow = 16      // nodes that a value of Index is made of
	mostFixed = 1 << 12 // nodes that a row knows
)

// indexes notes what Index gives in the recorded row; r may be nil.
func (r *rowRecording) indexes(m *Model, p *Plate, values []Expr, at []int) {
	if r == nil {
		return
	}
	for _, x := range r.indexings {
		if x.p == p && &x.values[0] == &values[0] && len(x.values) == len(values) && &x.at[0] == &at[0] {
			return
		}
	}
	x := values[at[p.at()]]
	if x.m == nil {
		r.spoilt = true
		return
	}
	nodes := m.below(nil, x.id)
	r.spoilt = r.spoilt || nodes == nil
	for k, id := range nodes {
		r.addHole(hole{id: id, index: len(r.indexings), place: k})
	}
	r.indexings = append(r.indexings, indexing{p, values, at, nodes, make([][]nodeID, len(values))})
}

func (r *recording) addHole(s hole) {
	if _, known := r.holeOf[s.id]; !known {
		r.holeOf[s.id] = len(r.holes)
	}
	r.holes = append(r.holes, s)
}

// isHole reports whether id is in a hole.
func (r *recording) isHole(id nodeID) bool {
	_, is := r.holeOf[id]
	return is
}

// findsOutside is called where node n of the row turns out to be a node outside it.
func (r *recording) findsOutside(s *store, n *node, id nodeID) {
	depends := r.node != nil
	n.operands(func(o nodeID) { depends = depends || r.isHole(o) })
	if !depends {
		return
	}
	x := hole{id: id, index: -1, found: *n}
	if r.node != nil {
		x.from = *r.node
		r.spoilt = r.spoilt || id < s.plain
	}
	if at, known := r.holeOf[id]; known {
		y := &r.holes[at]
		r.spoilt = r.spoilt || y.index >= 0 || !same(&y.found, n) || y.from.v != x.from.v || !slices.Equal(y.from.coef, x.from.coef)
		return
	}
	r.addHole(x)
}

// sourcesOf are the sources of the numbers of node id.
func (s *store) sourcesOf(id nodeID) sources {
	if id >= s.start {
		return s.rec.nodes[int(id-s.start)]
	}
	if at, is := s.rec.holeOf[id]; is {
		return s.rec.holes[at].from
	}
	return sources{}
}

// below appends to list the nodes that id is made of, itself first, and again where they
// come again. It is nil if they are many, or such as may not be in a hole.
func (m *Model) below(list []nodeID, id nodeID) []nodeID {
	n := m.st.like(id)
	_, discrete := m.discrete[id]
	if discrete || len(list) == mostBelow || n.kind != kConst && n.kind != kLatent && (n.kind < kSum || n.kind > kTernary) {
		return nil
	}
	list = append(list, id)
	m.st.operands(id, func(o nodeID) {
		if list != nil {
			list = m.below(list, o)
		}
	})
	return list
}

// alike reports whether all that is asked of node a has the same answer for b, except for
// their operands, and which latents they are.
func (m *Model) alike(a, b nodeID) bool {
	x, y := m.st.at(a), m.st.at(b)
	if x.kind != y.kind || x.fn != y.fn || x.affine != y.affine || !sameBits(x.v, y.v) || len(x.terms) != len(y.terms) {
		return false
	}
	for i := range x.terms {
		if !sameBits(x.terms[i].coef, y.terms[i].coef) {
			return false
		}
	}
	if x.kind == kLatent && !m.latents[x.a].prior.alike(m.latents[y.a].prior) {
		return false
	}
	p, q := m.st.boundsOf(a), m.st.boundsOf(b)
	return sameBits(p.v, q.v) && slices.Equal(p.coef, q.coef)
}

// alike reports whether d and e have the same support.
func (d Dist) alike(e Dist) bool {
	return d.law == e.law && slices.EqualFunc(d.params, e.params, func(x, y Expr) bool { return (x.m == nil) == (y.m == nil) && sameBits(x.v, y.v) })
}

// fixed are the nodes outside the row that it knows besides those in holes, ascending; ok is
// false if they are many. A comparison is made of the latents that it compares.
func (c *script) fixedNodes(m *Model) (list []nodeID, ok bool) {
	seen := map[nodeID]bool{}
	var visit func(id nodeID)
	visit = func(id nodeID) {
		if seen[id] || id >= c.start || len(seen) > mostFixed {
			return
		}
		seen[id] = true
		list = append(list, id)
		if n := m.st.at(id); n.kind == kSign {
			for _, i := range m.arr.Latents(int(n.a)) {
				visit(m.st.leaf(kLatent, i))
			}
		}
		m.st.operands(id, visit)
	}
	for _, id := range c.captured {
		visit(id)
	}
	for j := range c.row {
		c.row[j].operands(func(o nodeID) {
			if !c.isHole(o) {
				visit(o)
			}
		})
	}
	slices.Sort(list)
	return list, len(seen) <= mostFixed
}

// among is where id is among the fixed nodes.
func (c *script) among(id nodeID) (at int, is bool) { return slices.BinarySearch(c.fixed, id) }

// stays reports whether b may take the place of a among the fixed nodes.
func (c *script) stays(a, b nodeID) bool {
	i, is := c.among(a)
	j, too := c.among(b)
	return i == j && is == too
}

// take finds what value k of x has for the holes, if that is not known.
func (c *script) take(m *Model, x *indexing, k int) {
	if x.alike[k] != nil {
		return
	}
	x.alike[k] = []nodeID{}
	if x.values[k].m == nil {
		return
	}
	nodes := m.below(nil, x.values[k].id)
	if len(nodes) != len(x.nodes) {
		return
	}
	for i, id := range nodes {
		if !c.stays(x.nodes[i], id) || !m.alike(x.nodes[i], id) {
			return
		}
		for j := range i {
			if cmp.Compare(x.nodes[i], x.nodes[j]) != cmp.Compare(id, nodes[j]) {
				return
			}
		}
	}
	x.alike[k] = nodes
}

// computeHoles computes what is in holes in rows first … end−1 of the block.
func (c *script) computeHoles(m *Model, p *Plate, first, end int) {
	for i := range c.holes {
		x, ids := &c.holes[i], c.ids[i]
		if x.index < 0 {
			c.computeFound(m, x, ids, first, end)
			continue
		}
		of := &c.indexings[x.index]
		for r := first; r < end; r++ {
			if nodes := of.alike[of.at[of.p.atRow(p, c.lo+r)]]; len(nodes) > 0 {
				ids[r] = nodes[x.place]
			} else {
				c.is[r] = false
			}
		}
	}
	for i := range c.holes {
		for j := range i {
			if k := c.holes[i].index; k >= 0 && k == c.holes[j].index {
				continue
			}
			want := cmp.Compare(c.holes[i].id, c.holes[j].id)
			for r := first; r < end; r++ {
				c.is[r] = c.is[r] && cmp.Compare(c.ids[i][r], c.ids[j][r]) == want
			}
		}
	}
}

// computeFound looks for the node of a hole.
func (c *script) computeFound(m *Model, x *hole, ids []nodeID, first, end int) {
	s := m.st
	from := x.from.operations(len(x.found.terms))
	at := c.maker(x.found, from)
	for r := first; r < end; r++ {
		if !c.is[r] {
			continue
		}
		n := at(r)
		id, known := s.known(n, s.slot(n, n.hash()))
		c.is[r] = known && c.stays(x.id, id) && c.holds(s, id, from, r)
		ids[r] = id
	}
}

// holds reports whether the bounds of node id hold for a sum with numbers from the given
// operations in row r.
func (c *script) holds(s *store, id nodeID, from []int32, r int) bool {
	var b bounds
	for k, at := range from {
		if at < 0 {
			continue
		}
		if err := c.err[at][r]; k == 0 {
			b.v = err
		} else if err != 0 {
			if b.coef == nil {
				b.coef = make([]float64, len(from)-1)
			}
			b.coef[k-1] = err
		}
	}
	known := s.boundsOf(id)
	return known.hold(&b)
}

// operations are the numbers of the operations that make the constant and n coefficients; −1
// for a number.
func (x sources) operations(n int) []int32 {
	from := slices.Repeat([]int32{-1}, 1+n)
	for k, x := range x.coef {
		if x != nil {
			from[k+1] = x.at
		}
	}
	if x.v != nil {
		from[0] = x.v.at
	}
	return from
}
