package ir

import (
	"maps"
	"slices"
	"sync"

	"github.com/facetvi/facet/internal/kernel"
)

// Store is a hash-consed expression DAG: equal expressions are one node.
//
// A model has a store of its own, and so has each density. Who adds to that of a
// density holds mu; the nodes that it began with are read without.
type Store struct {
	Mu sync.Mutex
	Nodes
	table   []slot    // of nodes by hash, without leaves; see known. At most half full
	Entries int       // in table
	free    int       // of the places that touch read
	leaves  [Sum][]ID // by kind and number: 1 + the leaf's ID, 0 for none
	shared  bool      // table, leaves, errs and zeros are another store's too, and not to be written
	selects memos

	Kinks map[Kink]bool // what is known to be equal on planes
	Zeros vanishing     // what is 0 on planes, and is no multiple of their forms

	Some [2][4]Term // room for what is added

	errs nodeBounds

	evaluators sync.Pool // of *Evaluator
}

func NewStore() *Store {
	return &Store{
		Nodes: noNodes(), table: make([]slot, 1<<10), errs: nodeBounds{raised: map[ID]*Bounds{}},
		selects: memos{map[applied]ID{}, map[ID]bool{}, map[ID]Extent{}}, Kinks: map[Kink]bool{},
	}
}

// Clone is a copy of s. The two share what neither writes to.
func (s *Store) Clone() *Store {
	s.shared = true
	return &Store{
		Nodes: s.Nodes.Clone(), table: s.table, Entries: s.Entries, leaves: s.leaves, shared: true,
		selects: s.selects.clone(), Kinks: maps.Clone(s.Kinks), Zeros: s.Zeros, errs: s.errs,
	}
}

// Own makes table, leaves, errs and zeros the store's own.
func (s *Store) Own() {
	if !s.shared {
		return
	}
	s.table, s.errs, s.shared = slices.Clone(s.table), s.errs.clone(), false
	s.Zeros = slices.Clone(s.Zeros)
	for k := range s.leaves {
		s.leaves[k] = slices.Clone(s.leaves[k])
	}
}

// memos are answers for selects, whose sides are shared: each is found once.
type memos struct {
	pushed   map[applied]ID // functions that were moved into them
	simple   map[ID]bool    // of LogIsSimple
	extremes map[ID]Extent  // of ExtremesOf
}

// applied is a function of a node.
type applied struct {
	f kernel.Function
	a ID
}

func (m *memos) clone() memos {
	return memos{maps.Clone(m.pushed), maps.Clone(m.simple), maps.Clone(m.extremes)}
}

// A slot is a place for a node in the table: 1 + its ID, 0 if the place is free,
// and its hash, so that few nodes need be looked at.
type slot struct {
	hash uint32
	node ID
}

// Find returns the node that is the same as n, if there is one.
func (s *Store) Find(n Node) (ID, bool) {
	at := s.Slot(&n, n.Hash())
	return s.Known(&n, at)
}

// Known is the node that is the same as n, where at is its slot. The table has the nodes
// of the list, and of those in rows the ones whose operands are outside the row. Others
// are in the row of their last operand.
func (s *Store) Known(n *Node, at *slot) (ID, bool) {
	if at.node > 0 {
		return at.node - 1, true
	}
	if last := n.LastOperand(); last >= s.plain && last < s.Start {
		return s.sameInRow(n, last)
	}
	return 0, false
}

// Slot is the place in the table of the node that is the same as n, or where it
// would be.
func (s *Store) Slot(n *Node, hash uint32) *slot {
	mask := len(s.table) - 1
	for i := int(hash) & mask; ; i = (i + 1) & mask {
		at := &s.table[i]
		if at.node == 0 || at.hash == hash && s.isSame(at.node-1, n) {
			return at
		}
	}
}

func (s *Store) isSame(id ID, n *Node) bool {
	if id < s.plain {
		return Same(&s.list[id], n)
	}
	v := s.viewInRow(id)
	if v.Like == nil {
		return Same(v.Node, n)
	}
	return v.Like.same(n, v.Row)
}

func (s *Store) Intern(n Node) ID {
	hash := n.Hash()
	if s.Start != NoRow {
		return s.internInRow(n, hash)
	}
	at := s.Slot(&n, hash)
	if id, ok := s.Known(&n, at); ok {
		return id
	}
	if s.shared {
		s.Own()
		at = s.Slot(&n, hash)
	}
	id := s.add(n)
	s.Enter(at, hash, id)
	return id
}

// Enter fills a free slot.
func (s *Store) Enter(at *slot, hash uint32, id ID) {
	*at = slot{hash, id + 1}
	if s.Entries++; 2*s.Entries > len(s.table) {
		s.resize(2 * len(s.table))
	}
}

// Touch reads the places of hashes in the table, so that the processor fetches many at once.
func (s *Store) Touch(hashes []uint32) { s.free = s.FreeOf(hashes) }

// FreeOf is how many of the places of hashes are free.
func (s *Store) FreeOf(hashes []uint32) (free int) {
	mask := len(s.table) - 1
	for _, h := range hashes {
		if s.table[int(h)&mask].node == 0 {
			free++
		}
	}
	return free
}

// Reserve makes room for n more entries.
func (s *Store) Reserve(n int) {
	s.Own()
	size := len(s.table)
	for 2*(s.Entries+n) > size {
		size *= 2
	}
	if size > len(s.table) {
		s.resize(size)
	}
}

// resize makes the table larger.
func (s *Store) resize(size int) {
	old := s.table
	s.table = make([]slot, size)
	mask := len(s.table) - 1
	for _, x := range old {
		if x.node == 0 {
			continue
		}
		i := int(x.hash) & mask
		for s.table[i].node != 0 {
			i = (i + 1) & mask
		}
		s.table[i] = x
	}
}

func (s *Store) Constant(v float64) ID {
	if v == 0 {
		v = 0 // one zero: −0 and +0 are the same constant
	}
	return s.Intern(Node{Kind: Const, V: v, Affine: true, Steps: true})
}

// Leaf is leaf number i of a kind.
func (s *Store) Leaf(k Kind, i int) ID {
	if i < len(s.leaves[k]) && s.leaves[k][i] > 0 {
		return s.leaves[k][i] - 1
	}
	n := Node{Kind: k, A: ID(i), Affine: k == Latent || k == Point}
	var id ID
	if s.Start != NoRow {
		id = s.addToRow(n, 0)
	} else {
		id = s.add(n)
	}
	s.SetLeaf(k, i, id)
	return id
}

func (s *Store) SetLeaf(k Kind, i int, id ID) {
	s.Own()
	if n := len(s.leaves[k]); n == cap(s.leaves[k]) { // append would copy more often
		s.leaves[k] = slices.Grow(s.leaves[k], max(n, 8))
	}
	for i >= len(s.leaves[k]) {
		s.leaves[k] = append(s.leaves[k], 0)
	}
	s.leaves[k][i] = id + 1
}

func (s *Store) IsConst(id ID) (float64, bool) {
	if s.Like(id).Kind != Const {
		return 0, false
	}
	return s.Head(id).V, true
}

// BoundsOf are those of the errors of node id.
func (s *Store) BoundsOf(id ID) Bounds {
	switch at, ok := s.inList(id); {
	case ok:
		return s.errs.of(at)
	case id >= s.Start:
		return s.RowBounds[id-s.Start]
	}
	if b := s.errs.raised[id]; b != nil {
		return *b
	}
	v := s.viewInRow(id)
	return v.Like.boundsIn(v.Row)
}

func (s *Store) setBounds(id ID, b Bounds) {
	if id >= s.Start {
		s.RowBounds[id-s.Start] = b
		return
	}
	s.Own()
	own := new(Bounds)
	*own = b
	at, ok := s.inList(id)
	if !ok {
		s.errs.raised[id] = own
		return
	}
	if n := len(s.errs.listed); n <= at {
		s.errs.listed = slices.Grow(s.errs.listed, cap(s.list)-n)[:len(s.list)]
	}
	s.errs.listed[at] = own
}

// MakeRoom counts the latents from number at on up by one.
func (s *Store) MakeRoom(at int) {
	count := func(n *Node, number *ID) {
		if n.Kind == Latent && int(*number) >= at {
			*number++
		}
	}
	for i := range s.list {
		count(&s.list[i], &s.list[i].A)
	}
	for _, p := range s.patterns {
		for j := range p.like {
			l := &p.like[j]
			count(&l.Node, &l.A.id)
			for row := range l.A.col {
				count(&l.Node, &l.A.col[row])
			}
		}
	}
	s.Own()
	if have := s.leaves[Latent]; at < len(have) {
		s.leaves[Latent] = slices.Insert(have, at, 0)
	}
}
