package rows

import (
	"cmp"
	"slices"

	"github.com/facetvi/facet/internal/ir"
)

// Leaves are numbers by kind of leaf: of latents, observations and guards.
type Leaves = [ir.Sum]int

// A Script makes the rows of a block after the first one.
type Script struct {
	*ir.Block
	Start   ir.ID // the first node of the first row
	Pattern int32 // of the rows

	st     *ir.Store
	nodes  []ir.Node // as in the first row; of a root with the numbers that it had last
	bounds []ir.Bounds
	roots  []root        // nodes that other rows may have
	leaves [ir.Sum][]int // by kind: places in the row
	next   Leaves        // the number of the next leaf
	fixed  []ir.ID       // the nodes outside that the row knows, ascending
	room   []ir.ID       // for operands of all rows
}

// A root is a node all of whose operands are outside the row.
type root struct {
	place  ir.ID // in the row
	at     func(r int) *ir.Node
	hashes []uint32 // by row
}

// mostFixed are the nodes that a row knows.
const mostFixed = 1 << 12

// New is the script of the block whose first row is being made in s, with the leaves before it. It knows the captured nodes, too, and of a guard the
// latents that it compares. ok is false if other rows do not follow from the first.
func New(s *ir.Store, before Leaves, captured []ir.ID, compared func(plane int) []int) (c *Script, ok bool) {
	if s.Block.Spoilt || len(s.Row) > ir.MostNodes {
		return nil, false
	}
	c = &Script{Block: s.Block, st: s, Start: s.Start, next: before, nodes: slices.Clone(s.Row), bounds: slices.Clone(s.RowBounds)}
	for j := range c.nodes {
		n := &c.nodes[j]
		switch _, differs := c.NumbersIn(j); {
		case n.IsLeaf():
			of := &c.leaves[n.Kind]
			if int(n.A) != c.next[n.Kind]+len(*of) {
				return nil, false
			}
			*of = append(*of, j)
		case n.LastOperand() < s.Start:
			n.Operands(func(o ir.ID) { differs = differs || c.IsHole(o) })
			if !differs { // which later rows would find
				return nil, false
			}
			c.roots = append(c.roots, root{place: ir.ID(j)})
		}
	}
	if !c.findFixed(captured, compared) {
		return nil, false
	}
	for k := range c.Holes {
		x := &c.Holes[k]
		if _, is := c.among(x.ID); is && x.Index < 0 {
			return nil, false
		}
		c.fill(x)
		c.keepOrder(k)
	}
	for j := range c.nodes {
		c.keepFromTwins(j)
	}
	for k := range c.roots {
		x := &c.roots[k]
		x.at, x.hashes = c.nodeAt(int(x.place)), c.Room.Hashes.Column(len(c.Alike))
		c.Keep(func(r int) bool { x.hashes[r] = x.at(r).Hash(); return true })
	}
	c.room = c.Room.IDs.Column(len(c.Alike))
	return c, true
}

// Leaves is how many leaves of a kind the row has.
func (c *Script) Leaves(k ir.Kind) int { return len(c.leaves[k]) }

// LeafOf is the number of a node of the first row among its leaves of a kind, if it is one; −1 if it is outside of the row.
func (c *Script) LeafOf(k ir.Kind, id ir.ID) int {
	if id < c.Start {
		return -1
	}
	return slices.Index(c.leaves[k], int(id-c.Start))
}

// keepFromTwins keeps the rows in which node j is none of the nodes before it that differ from it by their numbers alone.
func (c *Script) keepFromTwins(j int) {
	x := &c.nodes[j]
	_, differs := c.NumbersIn(j)
	for i := range c.nodes[:j] {
		y := &c.nodes[i]
		if x.Kind != y.Kind || x.Fn != y.Fn || x.A != y.A || x.B != y.B || x.C != y.C ||
			!slices.EqualFunc(x.Terms, y.Terms, func(s, t ir.Term) bool { return s.Atom == t.Atom }) {
			continue
		}
		if _, too := c.NumbersIn(i); differs || too {
			a, b := c.nodeAt(i), c.nodeAt(j)
			c.Keep(func(r int) bool { return !ir.Same(a(r), b(r)) })
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

// fill looks for the node of a hole in all rows, and keeps those where it may take the place of the first one among the fixed nodes.
func (c *Script) fill(x *ir.Hole) {
	found := c.maker(x.Found, x.From)
	at, is := c.among(x.ID)
	c.Keep(func(r int) bool {
		if x.Index < 0 {
			n := found(r)
			id, known := c.st.Known(n, c.st.Slot(n, n.Hash()))
			if !known || !c.holds(id, x, r) {
				return false
			}
			x.In[r] = id
		}
		i, too := c.among(x.In[r])
		return i == at && too == is
	})
}

// holds reports whether the bounds of node id, which is found for a hole in row r, hold there.
func (c *Script) holds(id ir.ID, x *ir.Hole, r int) bool {
	known := c.st.BoundsOf(id)
	for k := range 1 + len(x.Found.Terms) {
		if of := x.From.Of(k); of != nil && of.Err[r] > known.Of(k) {
			return false
		}
	}
	return true
}

// keepOrder keeps the rows with the order of the first one between hole k and those before it.
func (c *Script) keepOrder(k int) {
	x := &c.Holes[k]
	for i := range c.Holes[:k] {
		if y := &c.Holes[i]; x.Index < 0 || x.Index != y.Index {
			want := cmp.Compare(x.ID, y.ID)
			c.Keep(func(r int) bool { return cmp.Compare(x.In[r], y.In[r]) == want })
		}
	}
}

// nodeAt returns node j in a row of the block; see maker.
func (c *Script) nodeAt(j int) func(r int) *ir.Node {
	from, _ := c.NumbersIn(j)
	return c.maker(c.nodes[j], from)
}

// maker returns a node in a row of the block: n with the given numbers, and with what is in holes. A call changes what the last one returned.
func (c *Script) maker(n ir.Node, from ir.Numbers) func(r int) *ir.Node {
	n.Terms = slices.Clone(n.Terms)
	type place struct {
		id *ir.ID
		in []ir.ID
	}
	var holes []place
	add := func(id *ir.ID) {
		if at, is := c.HoleOf[*id]; is {
			holes = append(holes, place{id, c.Holes[at].In})
		}
	}
	out := &n
	for i, id := range []*ir.ID{&n.A, &n.B, &n.C} {
		if i < n.Arity() {
			add(id)
		}
	}
	for i := range n.Terms {
		add(&n.Terms[i].Atom)
	}
	return func(r int) *ir.Node {
		if x := from.Of(0); x != nil {
			out.V = x.V[r]
		}
		for k := range out.Terms {
			if x := from.Of(k + 1); x != nil {
				out.Terms[k].Coef = x.V[r]
			}
		}
		for _, x := range holes {
			*x.id = x.in[r]
		}
		return out
	}
}

// Differs reports whether node id is another one in each row, or in some.
func (c *Script) Differs(id ir.ID) bool { return id >= c.Start || c.IsHole(id) }

// Moved is what node id of the first row is in row r of the block, which begins at start.
func (c *Script) Moved(id ir.ID, r int, start ir.ID) ir.ID {
	if id >= c.Start {
		return id + start - c.Start
	}
	if at, is := c.HoleOf[id]; is {
		return c.Holes[at].In[r]
	}
	return id
}
