package graph

import (
	"slices"

	"github.com/facetvi/facet/regions"
)

// A script makes rows that are like a recorded one, from their data alone: what a row
// adds to the model, and where in it the numbers and IDs are that differ.
type script struct {
	recording
	results []rounded

	row     []node // as the script last wrote them
	hashes  []uint32
	bounds  []bounds
	ids     []rowID
	numbers []rowNumber
	roots   []int    // nodes that other rows may have
	twins   [][2]int // nodes that differ by their numbers alone
	data    []int    // leaves of observations, by place in the row
	signs   []int    // leaves of guards, by place in the row
	infos   []GuardInfo
	pattern int32

	observed []observation
	terms    []modelTerm
	start    nodeID // of the recorded row
}

// A rowID is an ID in the row: start + offset.
type rowID struct {
	id     *nodeID
	offset nodeID
}

// A rowNumber is the constant (k = 0) or coefficient k−1 of node j of the row.
type rowNumber struct {
	j, k int
	from int32
}

// mostRecorded is how often a plate's rows are recorded.
const mostRecorded = 8

// newScript is that of the row which is being written, of which m had so many
// observations and terms before. ok is false if the recording does not tell all about it.
func newScript(m *Model, obs, terms int) (c *script, ok bool) {
	s := m.st
	c = &script{recording: *s.rec, results: make([]rounded, len(s.rec.operations)), start: s.start}
	if c.spoilt || m.err != nil || s.start == noRow || len(m.obs)-obs != len(c.recording.data) {
		return nil, false
	}
	c.observed, c.terms = append(c.observed, m.obs[obs:]...), append(c.terms, m.terms[terms:]...)
	c.hashes, c.bounds = append(c.hashes, s.hashes...), make([]bounds, len(s.row))
	c.row = append(c.row, s.row...)
	for j := range c.row {
		n := &c.row[j]
		from, has := c.nodes[j]
		switch {
		case n.kind == kData && int(n.a) == obs+len(c.data):
			c.data = append(c.data, j)
		case n.kind == kSign && len(c.signs) < len(c.guards) && int(n.a) == c.guards[len(c.signs)].info.Side.Plane:
			c.signs = append(c.signs, j)
		case n.isLeaf():
			return nil, false
		case n.lastOperand() < s.start && !has: // which later rows would find
			return nil, false
		case n.lastOperand() < s.start:
			c.roots = append(c.roots, j)
		}
		c.findTwins(j)
		n.terms = append([]term(nil), n.terms...)
		for k, id := range [...]*nodeID{&n.a, &n.b, &n.c} {
			if k < n.arity() {
				c.relocate(id)
			}
		}
		for i := range n.terms {
			c.relocate(&n.terms[i].atom)
			if from.coef != nil && from.coef[i] != nil {
				c.numbers = append(c.numbers, rowNumber{j, i + 1, from.coef[i].at})
			}
		}
		if from.v != nil {
			c.numbers = append(c.numbers, rowNumber{j, 0, from.v.at})
		}
		b := s.rowBounds[j]
		c.bounds[j] = bounds{b.v, append([]float64(nil), b.coef...)}
		if has {
			c.bounds[j].coef = make([]float64, len(n.terms))
			copy(c.bounds[j].coef, b.coef)
		}
	}
	for i := range c.observed {
		o := &c.observed[i]
		o.local = c.start
		if o.where.value.m != nil && o.where.value.id >= s.start {
			return nil, false
		}
	}
	c.infos = make([]GuardInfo, len(c.guards))
	return c, len(c.data) == len(c.observed) && len(c.signs) == len(c.guards)
}

func (c *script) relocate(id *nodeID) {
	if *id >= c.start {
		c.ids = append(c.ids, rowID{id, *id - c.start})
	}
}

// findTwins lists the nodes before node j that would be the same but for numbers that
// differ by row.
func (c *script) findTwins(j int) {
	x := &c.row[j]
	_, differs := c.nodes[j]
	for i := range c.row[:j] {
		y := &c.row[i]
		if _, too := c.nodes[i]; !differs && !too || x.kind != y.kind || x.fn != y.fn || x.a != y.a || x.b != y.b || x.c != y.c {
			continue
		}
		if slices.EqualFunc(x.terms, y.terms, func(s, t term) bool { return s.atom == t.atom }) {
			c.twins = append(c.twins, [2]int{i, j})
		}
	}
}

// write makes a row by the script, of which at most left more will come. It does nothing
// and returns false if the row is another one.
func (c *script) write(m *Model, left int) bool {
	s := m.st
	for i := range c.operations {
		o := &c.operations[i]
		c.results[i] = o.make(o.x.of(c.results), o.y.of(c.results))
	}
	for i := range c.questions {
		q := &c.questions[i]
		if q.ask(q.of.of(c.results).v) != q.answer {
			return false
		}
	}
	for i, from := range c.recording.data {
		if c.observed[i].as.check(c.results[from.at].v) != nil {
			return false
		}
	}
	start := nodeID(s.size)
	for _, x := range c.ids {
		*x.id = start + x.offset
	}
	for q, j := range c.data {
		c.row[j].a = nodeID(len(m.obs) + q)
	}
	for _, x := range c.numbers {
		n, b, v := &c.row[x.j], &c.bounds[x.j], c.results[x.from]
		if x.k == 0 {
			n.v, b.v = v.v, v.err
		} else {
			n.terms[x.k-1].coef, b.coef[x.k-1] = v.v, v.err
		}
	}
	for _, x := range c.twins {
		if same(&c.row[x[0]], &c.row[x[1]]) {
			return false
		}
	}
	for _, j := range c.roots {
		n := &c.row[j]
		c.hashes[j] = n.hash()
		if _, known := s.known(n, s.slot(n, c.hashes[j])); known {
			return false
		}
	}
	if !c.addPlanes(m) {
		return false
	}
	own, hashes, bounds := s.row, s.hashes, s.rowBounds
	s.row, s.hashes, s.rowBounds, s.start = c.row, c.hashes, c.bounds, start
	s.commit(c.pattern, left)
	s.row, s.hashes, s.rowBounds = own, hashes, bounds
	for q, j := range c.data {
		s.setLeaf(kData, len(m.obs), start+nodeID(j))
		o := c.observed[q]
		m.obs = append(m.obs, observation{o.observed, start - o.local, c.results[c.recording.data[q].at].v})
	}
	for q, j := range c.signs {
		s.setLeaf(kSign, c.infos[q].Side.Plane, start+nodeID(j))
	}
	m.guards = append(m.guards, c.infos...)
	moved := func(x Expr) Expr {
		if x.m != nil && x.id >= c.start {
			x.id += start - c.start
		}
		return x
	}
	for _, f := range c.firsts {
		for i, x := range f.params {
			f.params[i] = moved(x)
		}
		m.firsts[f.sharing] = moved(f.x)
	}
	for _, t := range c.terms {
		if t.id >= c.start {
			t.id += start - c.start
		}
		m.terms = append(m.terms, t)
	}
	return true
}

// addPlanes adds those of the row's comparisons. It returns false if one is not a plane
// of its own, or the other side of it.
func (c *script) addPlanes(m *Model) bool {
	for q := range c.guards {
		g := &c.guards[q]
		info := g.info
		constant := g.constant.of(c.results)
		info.greater.Coef, info.greater.Const = make([]float64, len(g.coef)), constant.v
		r := regions.Rounding{Coef: make([]float64, len(g.coef)), Const: constant.err}
		for k := range g.coef {
			x := g.coef[k].of(c.results)
			info.greater.Coef[k], r.Coef[k] = x.v, x.err
		}
		planes := m.arr.Len()
		side, err := m.arr.AddRounded(info.greater, r)
		if err != nil || m.arr.Len() == planes || side.Positive != info.Side.Positive {
			return false
		}
		info.Side = side
		c.infos[q], c.row[c.signs[q]].a = info, nodeID(side.Plane)
	}
	return true
}
