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

// A block is the results of a script in n rows.
type block struct {
	n      int
	v, err [][]float64 // by operation
	is     []bool      // by row: all questions have the answers that they had
	ids    [][]ir.ID   // by hole
	hashes [][]uint32  // by root
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
