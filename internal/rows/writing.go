package rows

import (
	"slices"

	"github.com/facetvi/facet/internal/ir"
)

// Begin adds the columns of n rows, from row first of the block on, to the pattern: at most left more will come. Next are the numbers of the next
// leaves.
func (c *Script) Begin(next Leaves, first, n, left int) {
	c.next = next
	c.st.Patterns[c.Pattern].AddColumns(c.nodes, c.bounds, c, first, n, left)
	for _, x := range c.roots {
		c.st.Touch(x.hashes[first : first+n])
	}
}

// IsNew reports whether no root of row r is a node already.
func (c *Script) IsNew(r int) bool {
	return !slices.ContainsFunc(c.roots, func(x root) bool {
		n := x.at(r)
		_, known := c.st.Known(n, c.st.Slot(n, x.hashes[r]))
		return known
	})
}

// Enter adds row r, the next one of those whose columns there are, to the table of nodes.
func (c *Script) Enter(r int) {
	s := c.st
	start := ir.ID(s.Size)
	for _, x := range c.roots {
		s.Enter(s.Slot(x.at(r), x.hashes[r]), x.hashes[r], start+x.place)
	}
	s.AddRow(c.Pattern, start)
	s.Size += len(c.nodes)
	for k, of := range c.leaves {
		for q, j := range of {
			s.SetLeaf(ir.Kind(k), c.next[k]+q, start+ir.ID(j))
		}
		c.next[k] += len(of)
	}
}

// Operands, Numbers and InHole make a script an ir.Variation.
func (c *Script) Operands(j, k, first, n int) []ir.ID {
	x := &c.nodes[j]
	switch {
	case k == 0 && x.IsLeaf():
		of := c.leaves[x.Kind]
		c.room = c.room[:0]
		for r := range n {
			c.room = append(c.room, ir.ID(c.next[x.Kind]+r*len(of)+slices.Index(of, j)))
		}
		return c.room
	case k < x.Arity():
		return c.InHole([...]ir.ID{x.A, x.B, x.C}[k], first, n)
	}
	return nil
}

func (c *Script) Numbers(j, k, first, n int) (v, err []float64) {
	from, _ := c.NumbersIn(j)
	if x := from.Of(k); x != nil {
		return x.V[first : first+n], x.Err[first : first+n]
	}
	return nil, nil
}

func (c *Script) InHole(id ir.ID, first, n int) []ir.ID {
	if !c.IsHole(id) {
		return nil
	}
	return c.Holes[c.HoleOf[id]].In[first : first+n]
}
