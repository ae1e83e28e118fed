package graph

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/facetvi/facet/graph/internal/kernel"
)

// kind says what a node of the expression DAG is.
type kind uint8

const (
	kConst     kind = iota
	kLatent         // unconstrained latent number a
	kData           // observed value number a
	kPoint          // projected coordinate number a: an input of a derived program
	kSign           // sign of guard a: 1 where Φ_a > 0, else 0
	kPointSign      // sign number a at a projected point: an input of a derived program
	kSum            // v + Σ terms[i].coef · terms[i].atom
	kUnary          // fn(a)
	kBinary         // fn(a, b)
	kTernary        // fn(a, b, c)
	kSelect         // b where the formula a is 1, else c
	kNot            // 1 − a for a formula a
	kAnd            // a·b for formulas a and b
	kFlip           // a·b where the sum of formulas a is −1 or 1, and 0 where it is 0: of a derived program
	kForward        // the forward sum of a chain of a states and b steps; see newLayout for its terms
)

// A nodeID names a node; operands always have smaller IDs than their users, so
// ascending IDs are a topological order.
type nodeID int32

type term struct {
	atom nodeID
	coef float64
}

type node struct {
	kind    kind
	affine  bool // affine in the latents and projected coordinates
	steps   bool // a tree of selects over constants
	fn      kernel.Function
	a, b, c nodeID
	v       float64
	terms   []term
}

// store is a hash-consed expression DAG: equal expressions are one node.
//
// A model has a store of its own, and so has each density. Who adds to that of a
// density holds mu; the nodes that it began with are read without.
type store struct {
	mu sync.Mutex
	nodes
	table    []slot             // of nodes by hash, without leaves; see known. At most half full
	entries  int                // in table
	free     int                // of the places that touch read
	leaves   [kSum][]nodeID     // by kind and number: 1 + the leaf's ID, 0 for none
	shared   bool               // table, leaves, errs and zeros are another store's too, and not to be written
	pushed   map[applied]nodeID // functions that were moved into selects
	simple   map[nodeID]bool    // answers of logIsSimple for selects
	extremes map[nodeID]extent  // answers of extremesOf for selects

	kinks map[kink]bool // what is known to be equal on planes
	zeros vanishing     // what is 0 on planes, and is no multiple of their forms

	some [2][4]term // room for what is added

	errs   []*bounds          // by place in the list of nodes; nil, or too short, where a sum is exact
	raised map[nodeID]*bounds // of nodes in rows, where they are larger than there

	evaluators sync.Pool // of *nodeEvaluator
}

func newStore() *store {
	return &store{
		nodes: noNodes(), table: make([]slot, 1<<10), raised: map[nodeID]*bounds{},
		pushed: map[applied]nodeID{}, simple: map[nodeID]bool{}, extremes: map[nodeID]extent{}, kinks: map[kink]bool{},
	}
}

// clone is a copy of s. The two share what neither writes to.
func (s *store) clone() *store {
	s.shared = true
	return &store{
		nodes: s.nodes.clone(), table: s.table, entries: s.entries, leaves: s.leaves, shared: true,
		pushed: maps.Clone(s.pushed), simple: maps.Clone(s.simple), extremes: maps.Clone(s.extremes), kinks: maps.Clone(s.kinks), zeros: s.zeros,
		errs: s.errs, raised: s.raised,
	}
}

// own makes table, leaves, errs and zeros the store's own.
func (s *store) own() {
	if !s.shared {
		return
	}
	s.table, s.errs, s.raised, s.shared = slices.Clone(s.table), slices.Clone(s.errs), maps.Clone(s.raised), false
	s.zeros = slices.Clone(s.zeros)
	for k := range s.leaves {
		s.leaves[k] = slices.Clone(s.leaves[k])
	}
}

// hash is a hash of what same compares, by wide products as in wyhash.
func (n *node) hash() uint32 {
	h := (uint64(n.kind)<<8 | uint64(n.fn) + 1) * 0xa0761d6478bd642f // all bits: a and b are wide
	mix := func(x uint64) {
		hi, lo := bits.Mul64(h^x, 0xe7037ed1a0b428db)
		h = hi ^ lo
	}
	mix(uint64(uint32(n.a))<<32 | uint64(uint32(n.b)))
	mix(uint64(uint32(n.c))<<32 | uint64(len(n.terms)))
	if n.v != 0 {
		mix(math.Float64bits(n.v))
	}
	for _, t := range n.terms {
		mix(uint64(uint32(t.atom)))
		mix(math.Float64bits(t.coef))
	}
	h = (h ^ h>>32) * 0x9e3779b97f4a7c15 // rows of numbers leave runs
	return uint32(h ^ h>>29)
}

func same(x, y *node) bool {
	if x.kind != y.kind || x.fn != y.fn || x.a != y.a || x.b != y.b || x.c != y.c ||
		math.Float64bits(x.v+0) != math.Float64bits(y.v+0) || len(x.terms) != len(y.terms) {
		return false
	}
	for i, t := range x.terms {
		if t != y.terms[i] {
			return false
		}
	}
	return true
}

// A slot is a place for a node in the table: 1 + its ID, 0 if the place is free,
// and its hash, so that few nodes need be looked at.
type slot struct {
	hash uint32
	node nodeID
}

// find returns the node that is the same as n, if there is one.
func (s *store) find(n node) (nodeID, bool) {
	at := s.slot(&n, n.hash())
	return s.known(&n, at)
}

// known is the node that is the same as n, where at is its slot. The table has the nodes
// of the list, and of those in rows the ones whose operands are outside the row. Others
// are in the row of their last operand.
func (s *store) known(n *node, at *slot) (nodeID, bool) {
	if at.node > 0 {
		return at.node - 1, true
	}
	if last := n.lastOperand(); last >= s.plain && last < s.start {
		return s.sameInRow(n, last)
	}
	return 0, false
}

// slot is the place in the table of the node that is the same as n, or where it
// would be.
func (s *store) slot(n *node, hash uint32) *slot {
	mask := len(s.table) - 1
	for i := int(hash) & mask; ; i = (i + 1) & mask {
		at := &s.table[i]
		if at.node == 0 || at.hash == hash && s.isSame(at.node-1, n) {
			return at
		}
	}
}

func (s *store) isSame(id nodeID, n *node) bool {
	if id < s.plain {
		return same(&s.list[id], n)
	}
	l, in := s.likeNode(id)
	if l == nil {
		return same(s.like(id), n)
	}
	return l.same(n, in)
}

func (s *store) intern(n node) nodeID {
	hash := n.hash()
	if s.start != noRow {
		return s.internInRow(n, hash)
	}
	at := s.slot(&n, hash)
	if id, ok := s.known(&n, at); ok {
		return id
	}
	if s.shared {
		s.own()
		at = s.slot(&n, hash)
	}
	id := s.add(n)
	s.enter(at, hash, id)
	return id
}

// enter fills a free slot.
func (s *store) enter(at *slot, hash uint32, id nodeID) {
	*at = slot{hash, id + 1}
	if s.entries++; 2*s.entries > len(s.table) {
		s.resize(2 * len(s.table))
	}
}

// touch reads the places of hashes in the table, so that the processor fetches many at once.
func (s *store) touch(hashes []uint32) { s.free = s.freeOf(hashes) }

// freeOf is how many of the places of hashes are free.
func (s *store) freeOf(hashes []uint32) (free int) {
	mask := len(s.table) - 1
	for _, h := range hashes {
		if s.table[int(h)&mask].node == 0 {
			free++
		}
	}
	return free
}

// reserve makes room for n more entries.
func (s *store) reserve(n int) {
	s.own()
	size := len(s.table)
	for 2*(s.entries+n) > size {
		size *= 2
	}
	if size > len(s.table) {
		s.resize(size)
	}
}

// resize makes the table larger.
func (s *store) resize(size int) {
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

func (s *store) constant(v float64) nodeID {
	if v == 0 {
		v = 0 // one zero: −0 and +0 are the same constant
	}
	return s.intern(node{kind: kConst, v: v, affine: true, steps: true})
}

// leaf is leaf number i of a kind.
func (s *store) leaf(k kind, i int) nodeID {
	if i < len(s.leaves[k]) && s.leaves[k][i] > 0 {
		return s.leaves[k][i] - 1
	}
	n := node{kind: k, a: nodeID(i), affine: k == kLatent || k == kPoint}
	var id nodeID
	if s.start != noRow {
		id = s.addToRow(n, 0)
	} else {
		id = s.add(n)
	}
	s.setLeaf(k, i, id)
	return id
}

func (s *store) setLeaf(k kind, i int, id nodeID) {
	s.own()
	if n := len(s.leaves[k]); n == cap(s.leaves[k]) { // append would copy more often
		s.leaves[k] = slices.Grow(s.leaves[k], max(n, 8))
	}
	for i >= len(s.leaves[k]) {
		s.leaves[k] = append(s.leaves[k], 0)
	}
	s.leaves[k][i] = id + 1
}

func (s *store) isConst(id nodeID) (float64, bool) {
	if s.like(id).kind != kConst {
		return 0, false
	}
	return s.head(id).v, true
}

// arity is how many of a, b and c are operands.
func (n *node) arity() int {
	switch n.kind {
	case kUnary, kNot:
		return 1
	case kBinary, kAnd, kFlip:
		return 2
	case kSelect, kTernary:
		return 3
	}
	return 0
}

// operands calls visit for each operand of n.
func (n *node) operands(visit func(nodeID)) {
	var some [8]nodeID
	for _, o := range n.appendOperands(some[:0]) {
		visit(o)
	}
}

// appendOperands appends the operands of n to list.
func (n *node) appendOperands(list []nodeID) []nodeID {
	for _, t := range n.terms {
		list = append(list, t.atom)
	}
	return append(list, []nodeID{n.a, n.b, n.c}[:n.arity()]...)
}

// lastOperand is the operand of n with the largest ID, or −1 without any. The terms of a
// sum ascend.
func (n *node) lastOperand() nodeID {
	switch n.kind {
	case kSum:
		return n.terms[len(n.terms)-1].atom
	case kUnary, kNot:
		return n.a
	case kBinary, kAnd, kFlip:
		return max(n.a, n.b)
	case kSelect, kTernary:
		return max(n.a, n.b, n.c)
	case kForward:
		return slices.MaxFunc(n.terms, func(x, y term) int { return cmp.Compare(x.atom, y.atom) }).atom
	}
	return -1
}

// remembered is the answer that is known for key, or else the one that find gives.
func remembered[K comparable, V any](known map[K]V, key K, find func() V) V {
	v, ok := known[key]
	if !ok {
		v = find()
		known[key] = v
	}
	return v
}

// needed marks the nodes that roots are made of, roots included.
func needed(nodes *nodes, roots []nodeID) []bool {
	marked := make([]bool, nodes.len())
	for _, id := range roots {
		marked[id] = true
	}
	for id, is := range slices.Backward(marked) { // users come after their operands
		if is {
			nodes.operands(nodeID(id), func(o nodeID) { marked[o] = true })
		}
	}
	return marked
}

// sel is then where the formula cond is 1, and otherwise where it is 0.
func (s *store) sel(cond, then, otherwise nodeID) nodeID {
	if v, ok := s.isConst(cond); ok {
		if v != 0 {
			return then
		}
		return otherwise
	}
	if s.like(cond).kind == kNot {
		return s.sel(s.head(cond).a, otherwise, then)
	}
	if s.like(then).kind == kSelect {
		if n := s.head(then); n.a == cond {
			then = n.b
		}
	}
	if s.like(otherwise).kind == kSelect {
		if n := s.head(otherwise); n.a == cond {
			otherwise = n.c
		}
	}
	if then == otherwise {
		return then
	}
	steps := s.like(then).steps && s.like(otherwise).steps
	return s.intern(node{kind: kSelect, a: cond, b: then, c: otherwise, steps: steps})
}
