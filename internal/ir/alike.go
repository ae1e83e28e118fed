package ir

import (
	"cmp"
	"slices"
)

// Leaves are numbers by kind of leaf: of latents, observations and guards.
type Leaves = [Sum]int

// A root is a node all of whose operands are outside the row.
type root struct {
	place  ID // in the row
	at     func(r int) *Node
	hashes []uint32 // by row
}

// mostFixed are the nodes that a row knows.
const mostFixed = 1 << 12

// Follow finds what other rows of the block need, whose first one is being made, after the leaves before it: which nodes are in holes, and which
// rows are alike. The row knows the captured nodes, too, and of a guard the latents that it compares. It is false if other rows do not follow from
// the first.
func (b *Block) Follow(before Leaves, captured []ID, compared func(plane int) []int) bool {
	s := b.st
	if b.Spoilt || len(s.Row) > MostNodes {
		return false
	}
	b.Start, b.next, b.nodes, b.bounds = s.Start, before, slices.Clone(s.Row), slices.Clone(s.RowBounds)
	for j := range b.nodes {
		n := &b.nodes[j]
		switch _, differs := b.numbers[j]; {
		case n.IsLeaf():
			of := &b.leaves[n.Kind]
			if int(n.A) != b.next[n.Kind]+len(*of) {
				return false
			}
			*of = append(*of, j)
		case n.LastOperand() < s.Start:
			n.Operands(func(o ID) { differs = differs || b.IsHole(o) })
			if !differs { // which later rows would find
				return false
			}
			b.roots = append(b.roots, root{place: ID(j)})
		}
	}
	fixed := b.fixed(captured, compared)
	for k := range b.Holes {
		x := &b.Holes[k]
		if _, is := slices.BinarySearch(fixed, x.ID); is && x.Index < 0 {
			return false
		}
		b.fill(x, fixed)
		b.keepOrder(k)
	}
	for j := range b.nodes {
		b.keepFromTwins(j)
	}
	for k := range b.roots {
		x := &b.roots[k]
		x.at, x.hashes = b.nodeAt(int(x.place)), b.Room.Hashes.Column(len(b.Alike))
		b.Keep(func(r int) bool { x.hashes[r] = x.at(r).Hash(); return true })
	}
	return len(fixed) <= mostFixed
}

// Leaves is how many leaves of a kind the row has.
func (b *Block) Leaves(k Kind) int { return len(b.leaves[k]) }

// LeafOf is the number of a node of the first row among its leaves of a kind, if it is one; −1 if it is outside of the row.
func (b *Block) LeafOf(k Kind, id ID) int {
	if id < b.Start {
		return -1
	}
	return slices.Index(b.leaves[k], int(id-b.Start))
}

// keepFromTwins keeps the rows in which node j is none of the nodes before it that differ from it by their numbers alone.
func (b *Block) keepFromTwins(j int) {
	x := &b.nodes[j]
	_, differs := b.numbers[j]
	for i := range b.nodes[:j] {
		y := &b.nodes[i]
		if x.Kind != y.Kind || x.Fn != y.Fn || x.A != y.A || x.B != y.B || x.C != y.C ||
			!slices.EqualFunc(x.Terms, y.Terms, func(s, t Term) bool { return s.Atom == t.Atom }) {
			continue
		}
		if _, too := b.numbers[i]; differs || too {
			this, that := b.nodeAt(i), b.nodeAt(j)
			b.Keep(func(r int) bool { return !Same(this(r), that(r)) })
		}
	}
}

// fixed are the nodes outside the row that it knows besides those in holes, ascending; more than mostFixed if they are many. A comparison is made
// of the latents that it compares.
func (b *Block) fixed(captured []ID, compared func(plane int) []int) (list []ID) {
	seen := map[ID]bool{}
	var visit func(id ID)
	visit = func(id ID) {
		if seen[id] || id >= b.Start || len(seen) > mostFixed {
			return
		}
		seen[id] = true
		list = append(list, id)
		if n := b.st.At(id); n.Kind == Sign {
			for _, i := range compared(int(n.A)) {
				visit(b.st.Leaf(Latent, i))
			}
		}
		b.st.Operands(id, visit)
	}
	for _, id := range captured {
		visit(id)
	}
	for j := range b.nodes {
		b.nodes[j].Operands(func(o ID) {
			if !b.IsHole(o) {
				visit(o)
			}
		})
	}
	slices.Sort(list)
	return list
}

// fill looks for the node of a hole in all rows, and keeps those where it may take the place of the first one among the fixed nodes.
func (b *Block) fill(x *Hole, fixed []ID) {
	found := b.maker(x.Found, x.From)
	at, is := slices.BinarySearch(fixed, x.ID)
	b.Keep(func(r int) bool {
		if x.Index < 0 {
			n := found(r)
			id, known := b.st.Known(n, b.st.Slot(n, n.Hash()))
			if !known || !b.holds(id, x, r) {
				return false
			}
			x.In[r] = id
		}
		i, too := slices.BinarySearch(fixed, x.In[r])
		return i == at && too == is
	})
}

// holds reports whether the bounds of node id, which is found for a hole in row r, hold there.
func (b *Block) holds(id ID, x *Hole, r int) bool {
	known := b.st.BoundsOf(id)
	for k := range 1 + len(x.Found.Terms) {
		if of := x.From.Of(k); of != nil && of.Err[r] > known.Of(k) {
			return false
		}
	}
	return true
}

// keepOrder keeps the rows with the order of the first one between hole k and those before it.
func (b *Block) keepOrder(k int) {
	x := &b.Holes[k]
	for i := range b.Holes[:k] {
		if y := &b.Holes[i]; x.Index < 0 || x.Index != y.Index {
			want := cmp.Compare(x.ID, y.ID)
			b.Keep(func(r int) bool { return cmp.Compare(x.In[r], y.In[r]) == want })
		}
	}
}

// nodeAt returns node j in a row of the block; see maker.
func (b *Block) nodeAt(j int) func(r int) *Node {
	from, _ := b.numbers[j]
	return b.maker(b.nodes[j], from)
}

// maker returns a node in a row of the block: n with the given numbers, and with what is in holes. A call changes what the last one returned.
func (b *Block) maker(n Node, from Numbers) func(r int) *Node {
	n.Terms = slices.Clone(n.Terms)
	type place struct {
		id *ID
		in []ID
	}
	var holes []place
	add := func(id *ID) {
		if at, is := b.HoleOf[*id]; is {
			holes = append(holes, place{id, b.Holes[at].In})
		}
	}
	out := &n
	for i, id := range []*ID{&n.A, &n.B, &n.C} {
		if i < n.Arity() {
			add(id)
		}
	}
	for i := range n.Terms {
		add(&n.Terms[i].Atom)
	}
	return func(r int) *Node {
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
func (b *Block) Differs(id ID) bool { return id >= b.Start || b.IsHole(id) }

// Moved is what node id of the first row is in row r of the block, which begins at start.
func (b *Block) Moved(id ID, r int, start ID) ID {
	if id >= b.Start {
		return id + start - b.Start
	}
	if at, is := b.HoleOf[id]; is {
		return b.Holes[at].In[r]
	}
	return id
}
