package rows

import (
	"slices"

	"github.com/facetvi/facet/internal/ir"
)

// Begin adds n rows of the block, from its row first on, to a pattern of the store: at most left more will come. It returns what AddRow adds them
// with; next are the numbers of the next leaves.
func (c *Script) Begin(pattern int32, next Leaves, first, n, left int) *Writing {
	w := &Writing{c: c, pattern: pattern, before: c.st.Patterns[pattern].Rows, start: ir.ID(c.st.Size), first: first}
	c.next = next
	c.st.Patterns[pattern].AddRows(c.nodes, c.bounds, c, first, n, left)
	for _, hashes := range c.hashes {
		c.st.Touch(hashes[first : first+n])
	}
	w.roots = make([]func(r int) *ir.Node, len(c.roots))
	for k, j := range c.roots {
		w.roots[k] = c.nodeAt(j)
	}
	return w
}

// A Writing adds rows of a block to the table of nodes, one by one.
type Writing struct {
	c       *Script
	pattern int32
	before  int // rows of the pattern
	start   ir.ID
	first   int
	roots   []func(r int) *ir.Node
}

// IsNew reports whether no root of row r is a node already.
func (w *Writing) IsNew(r int) bool {
	s := w.c.st
	for k, root := range w.roots {
		n := root(r)
		if _, known := s.Known(n, s.Slot(n, w.c.hashes[k][r])); known {
			return false
		}
	}
	return true
}

// Enter adds row r, whose first leaves have the numbers next.
func (w *Writing) Enter(r int, next Leaves) {
	c, s := w.c, w.c.st
	start := ir.ID(s.Size)
	for k, root := range w.roots {
		s.Enter(s.Slot(root(r), c.hashes[k][r]), c.hashes[k][r], start+ir.ID(c.roots[k]))
	}
	s.Size += len(c.nodes)
	for k, of := range c.leaves {
		for q, j := range of {
			s.SetLeaf(ir.Kind(k), next[k]+q, start+ir.ID(j))
		}
	}
	if r == w.first {
		s.AddRows(w.pattern, w.start, w.before)
	}
}

// End says how many rows were added.
func (w *Writing) End(n int) { w.c.st.Patterns[w.pattern].Rows = w.before + n }

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
	if c.from[j][k] < 0 {
		return nil, nil
	}
	at := c.from[j][k]
	return c.v[at][first : first+n], c.err[at][first : first+n]
}

func (c *Script) InHole(id ir.ID, first, n int) []ir.ID {
	if !c.IsHole(id) {
		return nil
	}
	return c.ids[c.HoleOf[id]][first : first+n]
}
