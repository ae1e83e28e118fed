package rows

import (
	"slices"

	"github.com/facetvi/facet/internal/ir"
)

// Leaves are numbers by kind of leaf: of latents, observations and guards.
type Leaves = [ir.Sum]int

// A Script makes rows that are like a recorded one.
type Script struct {
	*ir.Recording
	// Start is the first node of the recorded row.
	Start ir.ID

	block
	st     *ir.Store
	nodes  []ir.Node // as recorded; of a root with the numbers that it had last
	bounds []ir.Bounds
	from   [][]int32     // by place in the row: the sources of the constant and the coefficients; −1 without one
	roots  []int         // nodes that other rows may have
	twins  [][2]int      // nodes that differ by their numbers alone
	leaves [ir.Sum][]int // by kind: places in the row
	next   Leaves        // the number of the next leaf
	fixed  []ir.ID       // the nodes outside that the row knows, ascending
	room   []ir.ID       // for operands
}

// mostFixed are the nodes that a row knows.
const mostFixed = 1 << 12

// New is the script of the row that is being made in s, with the leaves before it. It knows the captured nodes, too, and of a guard the latents that
// it compares. ok is false if the recording does not tell all about the row.
func New(s *ir.Store, rec *ir.Recording, before Leaves, captured []ir.ID, compared func(plane int) []int) (c *Script, ok bool) {
	if rec.Spoilt || len(s.Row) > ir.MostNodes {
		return nil, false
	}
	c = &Script{Recording: rec, st: s, Start: s.Start, next: before}
	c.nodes, c.bounds, c.from = slices.Clone(s.Row), slices.Clone(s.RowBounds), make([][]int32, len(s.Row))
	for j := range c.nodes {
		n := &c.nodes[j]
		from, has := c.Nodes[j]
		switch {
		case n.IsLeaf():
			of := &c.leaves[n.Kind]
			if int(n.A) != c.next[n.Kind]+len(*of) {
				return nil, false
			}
			*of = append(*of, j)
		case n.LastOperand() < s.Start:
			n.Operands(func(o ir.ID) { has = has || c.IsHole(o) })
			if !has { // which later rows would find
				return nil, false
			}
			c.roots = append(c.roots, j)
		}
		c.findTwins(j)
		c.from[j] = from.Operations(len(n.Terms))
	}
	if !c.findFixed(captured, compared) {
		return nil, false
	}
	for _, x := range c.Holes {
		if _, is := c.among(x.ID); is && x.Index < 0 {
			return nil, false
		}
	}
	return c, true
}

// Leaves is how many leaves of a kind the row has.
func (c *Script) Leaves(k ir.Kind) int { return len(c.leaves[k]) }

// LeafOf is the number of a node of the recorded row among its leaves of a kind, if it is one; −1 if it is outside of the row.
func (c *Script) LeafOf(k ir.Kind, id ir.ID) int {
	if id < c.Start {
		return -1
	}
	return slices.Index(c.leaves[k], int(id-c.Start))
}

// findTwins lists the nodes before node j that would be the same but for numbers that
// differ by row.
func (c *Script) findTwins(j int) {
	x := &c.nodes[j]
	_, differs := c.Nodes[j]
	for i := range c.nodes[:j] {
		y := &c.nodes[i]
		if _, too := c.Nodes[i]; !differs && !too || x.Kind != y.Kind || x.Fn != y.Fn || x.A != y.A || x.B != y.B || x.C != y.C {
			continue
		}
		if slices.EqualFunc(x.Terms, y.Terms, func(s, t ir.Term) bool { return s.Atom == t.Atom }) {
			c.twins = append(c.twins, [2]int{i, j})
		}
	}
}

// findFixed finds the nodes outside the row that it knows besides those in holes; it returns false if they are many. A comparison is made of the
// latents that it compares.
func (c *Script) findFixed(captured []ir.ID, compared func(plane int) []int) bool {
	seen := map[ir.ID]bool{}
	var visit func(id ir.ID)
	visit = func(id ir.ID) {
		if seen[id] || id >= c.Start || len(seen) > mostFixed {
			return
		}
		seen[id] = true
		c.fixed = append(c.fixed, id)
		if n := c.st.At(id); n.Kind == ir.Sign {
			for _, i := range compared(int(n.A)) {
				visit(c.st.Leaf(ir.Latent, i))
			}
		}
		c.st.Operands(id, visit)
	}
	for _, id := range captured {
		visit(id)
	}
	for j := range c.nodes {
		c.nodes[j].Operands(func(o ir.ID) {
			if !c.IsHole(o) {
				visit(o)
			}
		})
	}
	slices.Sort(c.fixed)
	return len(seen) <= mostFixed
}

// among is where id is among the fixed nodes.
func (c *Script) among(id ir.ID) (at int, is bool) { return slices.BinarySearch(c.fixed, id) }

// Stays reports whether b may take the place of a among the fixed nodes.
func (c *Script) Stays(a, b ir.ID) bool {
	i, is := c.among(a)
	j, too := c.among(b)
	return i == j && is == too
}

// Differs reports whether node id is another one in each row, or in some.
func (c *Script) Differs(id ir.ID) bool { return id >= c.Start || c.IsHole(id) }

// Moved is what node id of the recorded row is in row r of the block, which begins at start.
func (c *Script) Moved(id ir.ID, r int, start ir.ID) ir.ID {
	if id >= c.Start {
		return id + start - c.Start
	}
	if at, is := c.HoleOf[id]; is {
		return c.ids[at][r]
	}
	return id
}

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
