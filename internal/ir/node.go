package ir

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/facetvi/facet/internal/kernel"
)

// Kind says what a node of the expression DAG is.
type Kind uint8

const (
	Const     Kind = iota
	Latent         // unconstrained latent number a
	Data           // observed value number a
	Point          // projected coordinate number a: an input of a derived program
	Sign           // sign of guard a: 1 where Φ_a > 0, else 0
	PointSign      // sign number a at a projected point: an input of a derived program
	Sum            // v + Σ terms[i].coef · terms[i].atom
	Unary          // fn(a)
	Binary         // fn(a, b)
	Ternary        // fn(a, b, c)
	Select         // b where the formula a is 1, else c
	Not            // 1 − a for a formula a
	And            // a·b for formulas a and b
	Flip           // a·b where the sum of formulas a is −1 or 1, and 0 where it is 0: of a derived program
	Forward        // the forward sum of a chain of a states and b steps; see newLayout for its terms
)

// A ID names a node; operands always have smaller IDs than their users, so
// ascending IDs are a topological order.
type ID int32

type Term struct {
	Atom ID
	Coef float64
}

type Node struct {
	Kind    Kind
	Affine  bool // affine in the latents and projected coordinates
	Steps   bool // a tree of selects over constants
	Fn      kernel.Function
	A, B, C ID
	V       float64
	Terms   []Term
}

// Store is a hash-consed expression DAG: equal expressions are one node.
//
// A model has a store of its own, and so has each density. Who adds to that of a
// density holds mu; the nodes that it began with are read without.
type Store struct {
	Mu sync.Mutex
	Nodes
	table    []slot         // of nodes by hash, without leaves; see known. At most half full
	Entries  int            // in table
	free     int            // of the places that touch read
	leaves   [Sum][]ID      // by kind and number: 1 + the leaf's ID, 0 for none
	shared   bool           // table, leaves, errs and zeros are another store's too, and not to be written
	pushed   map[applied]ID // functions that were moved into selects
	simple   map[ID]bool    // answers of LogIsSimple for selects
	extremes map[ID]Extent  // answers of ExtremesOf for selects

	Kinks map[Kink]bool // what is known to be equal on planes
	Zeros vanishing     // what is 0 on planes, and is no multiple of their forms

	Some [2][4]Term // room for what is added

	errs   []*Bounds      // by place in the list of nodes; nil, or too short, where a sum is exact
	raised map[ID]*Bounds // of nodes in rows, where they are larger than there

	evaluators sync.Pool // of *Evaluator
}

func NewStore() *Store {
	return &Store{
		Nodes: noNodes(), table: make([]slot, 1<<10), raised: map[ID]*Bounds{},
		pushed: map[applied]ID{}, simple: map[ID]bool{}, extremes: map[ID]Extent{}, Kinks: map[Kink]bool{},
	}
}

// Clone is a copy of s. The two share what neither writes to.
func (s *Store) Clone() *Store {
	s.shared = true
	return &Store{
		Nodes: s.Nodes.Clone(), table: s.table, Entries: s.Entries, leaves: s.leaves, shared: true,
		pushed: maps.Clone(s.pushed), simple: maps.Clone(s.simple), extremes: maps.Clone(s.extremes), Kinks: maps.Clone(s.Kinks), Zeros: s.Zeros,
		errs: s.errs, raised: s.raised,
	}
}

// Own makes table, leaves, errs and zeros the store's own.
func (s *Store) Own() {
	if !s.shared {
		return
	}
	s.table, s.errs, s.raised, s.shared = slices.Clone(s.table), slices.Clone(s.errs), maps.Clone(s.raised), false
	s.Zeros = slices.Clone(s.Zeros)
	for k := range s.leaves {
		s.leaves[k] = slices.Clone(s.leaves[k])
	}
}

// Hash is a hash of what same compares, by wide products as in wyhash.
func (n *Node) Hash() uint32 {
	h := (uint64(n.Kind)<<8 | uint64(n.Fn) + 1) * 0xa0761d6478bd642f // all bits: a and b are wide
	mix := func(x uint64) {
		hi, lo := bits.Mul64(h^x, 0xe7037ed1a0b428db)
		h = hi ^ lo
	}
	mix(uint64(uint32(n.A))<<32 | uint64(uint32(n.B)))
	mix(uint64(uint32(n.C))<<32 | uint64(len(n.Terms)))
	if n.V != 0 {
		mix(math.Float64bits(n.V))
	}
	for _, t := range n.Terms {
		mix(uint64(uint32(t.Atom)))
		mix(math.Float64bits(t.Coef))
	}
	h = (h ^ h>>32) * 0x9e3779b97f4a7c15 // rows of numbers leave runs
	return uint32(h ^ h>>29)
}

func Same(x, y *Node) bool {
	if x.Kind != y.Kind || x.Fn != y.Fn || x.A != y.A || x.B != y.B || x.C != y.C ||
		math.Float64bits(x.V+0) != math.Float64bits(y.V+0) || len(x.Terms) != len(y.Terms) {
		return false
	}
	for i, t := range x.Terms {
		if t != y.Terms[i] {
			return false
		}
	}
	return true
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
	l, in := s.likeNode(id)
	if l == nil {
		return Same(s.Like(id), n)
	}
	return l.same(n, in)
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

// Arity is how many of a, b and c are operands.
func (n *Node) Arity() int {
	switch n.Kind {
	case Unary, Not:
		return 1
	case Binary, And, Flip:
		return 2
	case Select, Ternary:
		return 3
	}
	return 0
}

// Operands calls visit for each operand of n.
func (n *Node) Operands(visit func(ID)) {
	var some [8]ID
	for _, o := range n.AppendOperands(some[:0]) {
		visit(o)
	}
}

// AppendOperands appends the operands of n to list.
func (n *Node) AppendOperands(list []ID) []ID {
	for _, t := range n.Terms {
		list = append(list, t.Atom)
	}
	return append(list, []ID{n.A, n.B, n.C}[:n.Arity()]...)
}

// LastOperand is the operand of n with the largest ID, or −1 without any. The terms of a
// sum ascend.
func (n *Node) LastOperand() ID {
	switch n.Kind {
	case Sum:
		return n.Terms[len(n.Terms)-1].Atom
	case Unary, Not:
		return n.A
	case Binary, And, Flip:
		return max(n.A, n.B)
	case Select, Ternary:
		return max(n.A, n.B, n.C)
	case Forward:
		return slices.MaxFunc(n.Terms, func(x, y Term) int { return cmp.Compare(x.Atom, y.Atom) }).Atom
	}
	return -1
}

// Remembered is the answer that is known for key, or else the one that find gives.
func Remembered[K comparable, V any](known map[K]V, key K, find func() V) V {
	v, ok := known[key]
	if !ok {
		v = find()
		known[key] = v
	}
	return v
}

// Needed marks the nodes that roots are made of, roots included.
func Needed(nodes *Nodes, roots []ID) []bool {
	marked := make([]bool, nodes.Len())
	for _, id := range roots {
		marked[id] = true
	}
	for id, is := range slices.Backward(marked) { // users come after their operands
		if is {
			nodes.Operands(ID(id), func(o ID) { marked[o] = true })
		}
	}
	return marked
}

// Sel is then where the formula cond is 1, and otherwise where it is 0.
func (s *Store) Sel(cond, then, otherwise ID) ID {
	if v, ok := s.IsConst(cond); ok {
		if v != 0 {
			return then
		}
		return otherwise
	}
	if s.Like(cond).Kind == Not {
		return s.Sel(s.Head(cond).A, otherwise, then)
	}
	if s.Like(then).Kind == Select {
		if n := s.Head(then); n.A == cond {
			then = n.B
		}
	}
	if s.Like(otherwise).Kind == Select {
		if n := s.Head(otherwise); n.A == cond {
			otherwise = n.C
		}
	}
	if then == otherwise {
		return then
	}
	steps := s.Like(then).Steps && s.Like(otherwise).Steps
	return s.Intern(Node{Kind: Select, A: cond, B: then, C: otherwise, Steps: steps})
}
