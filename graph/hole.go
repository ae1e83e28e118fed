package graph

import (
	"cmp"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
)

// An indexing is a call of Index.
type indexing struct {
	p      *Plate
	values []Expr
	at     []int
	nodes  []ir.ID   // what the value in the recorded row is made of
	alike  [][]ir.ID // by value: the same of it; empty if it is not alike, nil while that is not known
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
	if lang.Of(x) == nil {
		r.Spoilt = true
		return
	}
	nodes := m.below(nil, lang.ID(x))
	r.Spoilt = r.Spoilt || nodes == nil
	for k, id := range nodes {
		r.AddHole(ir.Hole{ID: id, Index: len(r.indexings), Place: k})
	}
	r.indexings = append(r.indexings, indexing{p, values, at, nodes, make([][]ir.ID, len(values))})
}

// below appends to list the nodes that id is made of, itself first, and again where they
// come again. It is nil if they are many, or such as may not be in a hole.
func (m *Model) below(list []ir.ID, id ir.ID) []ir.ID {
	n := m.st.Like(id)
	if m.guards.IsDiscrete(id) || len(list) == mostBelow || n.Kind != ir.Const && n.Kind != ir.Latent && (n.Kind < ir.Sum || n.Kind > ir.Ternary) {
		return nil
	}
	list = append(list, id)
	m.st.Operands(id, func(o ir.ID) {
		if list != nil {
			list = m.below(list, o)
		}
	})
	return list
}

// alike reports whether all that is asked of node a has the same answer for b, except for
// their operands, and which latents they are.
func (m *Model) alike(a, b ir.ID) bool {
	x, y := m.st.At(a), m.st.At(b)
	if x.Kind != y.Kind || x.Fn != y.Fn || x.Affine != y.Affine || !ir.SameBits(x.V, y.V) || len(x.Terms) != len(y.Terms) {
		return false
	}
	for i := range x.Terms {
		if !ir.SameBits(x.Terms[i].Coef, y.Terms[i].Coef) {
			return false
		}
	}
	if x.Kind == ir.Latent && !m.latents[x.A].prior.Alike(m.latents[y.A].prior) {
		return false
	}
	p, q := m.st.BoundsOf(a), m.st.BoundsOf(b)
	return ir.SameBits(p.V, q.V) && slices.Equal(p.Coef, q.Coef)
}

// fixed are the nodes outside the row that it knows besides those in holes, ascending; ok is
// false if they are many. A comparison is made of the latents that it compares.
func (c *script) fixedNodes(m *Model) (list []ir.ID, ok bool) {
	seen := map[ir.ID]bool{}
	var visit func(id ir.ID)
	visit = func(id ir.ID) {
		if seen[id] || id >= c.start || len(seen) > mostFixed {
			return
		}
		seen[id] = true
		list = append(list, id)
		if n := m.st.At(id); n.Kind == ir.Sign {
			for _, i := range m.guards.Arr.Latents(int(n.A)) {
				visit(m.st.Leaf(ir.Latent, i))
			}
		}
		m.st.Operands(id, visit)
	}
	for _, id := range c.captured {
		visit(id)
	}
	for j := range c.row {
		c.row[j].Operands(func(o ir.ID) {
			if !c.IsHole(o) {
				visit(o)
			}
		})
	}
	slices.Sort(list)
	return list, len(seen) <= mostFixed
}

// among is where id is among the fixed nodes.
func (c *script) among(id ir.ID) (at int, is bool) { return slices.BinarySearch(c.fixed, id) }

// stays reports whether b may take the place of a among the fixed nodes.
func (c *script) stays(a, b ir.ID) bool {
	i, is := c.among(a)
	j, too := c.among(b)
	return i == j && is == too
}

// take finds what value k of x has for the holes, if that is not known.
func (c *script) take(m *Model, x *indexing, k int) {
	if x.alike[k] != nil {
		return
	}
	x.alike[k] = []ir.ID{}
	if lang.Of(x.values[k]) == nil {
		return
	}
	nodes := m.below(nil, lang.ID(x.values[k]))
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
	for i := range c.Holes {
		x, ids := &c.Holes[i], c.ids[i]
		if x.Index < 0 {
			c.computeFound(m, x, ids, first, end)
			continue
		}
		of := &c.indexings[x.Index]
		for r := first; r < end; r++ {
			if nodes := of.alike[of.at[of.p.atRow(p, c.lo+r)]]; len(nodes) > 0 {
				ids[r] = nodes[x.Place]
			} else {
				c.is[r] = false
			}
		}
	}
	for i := range c.Holes {
		for j := range i {
			if k := c.Holes[i].Index; k >= 0 && k == c.Holes[j].Index {
				continue
			}
			want := cmp.Compare(c.Holes[i].ID, c.Holes[j].ID)
			for r := first; r < end; r++ {
				c.is[r] = c.is[r] && cmp.Compare(c.ids[i][r], c.ids[j][r]) == want
			}
		}
	}
}

// computeFound looks for the node of a hole.
func (c *script) computeFound(m *Model, x *ir.Hole, ids []ir.ID, first, end int) {
	s := m.st
	from := x.From.Operations(len(x.Found.Terms))
	at := c.maker(x.Found, from)
	for r := first; r < end; r++ {
		if !c.is[r] {
			continue
		}
		n := at(r)
		id, known := s.Known(n, s.Slot(n, n.Hash()))
		c.is[r] = known && c.stays(x.ID, id) && c.holds(s, id, from, r)
		ids[r] = id
	}
}

// holds reports whether the bounds of node id hold for a sum with numbers from the given
// operations in row r.
func (c *script) holds(s *ir.Store, id ir.ID, from []int32, r int) bool {
	var b ir.Bounds
	for k, at := range from {
		if at < 0 {
			continue
		}
		if err := c.err[at][r]; k == 0 {
			b.V = err
		} else if err != 0 {
			if b.Coef == nil {
				b.Coef = make([]float64, len(from)-1)
			}
			b.Coef[k-1] = err
		}
	}
	known := s.BoundsOf(id)
	return known.Hold(&b)
}
