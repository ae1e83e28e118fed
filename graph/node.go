package graph

import (
	"hash/maphash"
	"math"
	"sync"
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
	kLin            // v + Σ terms[i].coef · terms[i].atom
	kUnary          // fn(a)
	kBinary         // fn(a, b)
	kSelect         // b where sign a is 1, else c
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
	fn      function
	a, b, c nodeID
	v       float64
	terms   []term
	next    nodeID // next node with the same hash, or −1
}

// store is a hash-consed expression DAG: equal expressions are one node.
//
// Building a model has the store to itself. Once the model is compiled, who
// reads nodes or adds some holds mu; but a node never changes, and those that
// Compile found are read without mu from compiled.nodes.
type store struct {
	mu      sync.Mutex
	nodes   []node
	buckets map[uint64]nodeID
	seed    maphash.Seed
	pushed  map[applied]nodeID // functions that were moved into selects
	simple  map[nodeID]bool    // answers of logIsSimple for selects
}

func newStore() *store {
	return &store{
		buckets: map[uint64]nodeID{}, seed: maphash.MakeSeed(),
		pushed: map[applied]nodeID{}, simple: map[nodeID]bool{},
	}
}

func (s *store) hash(n *node) uint64 {
	h := uint64(n.kind)<<56 ^ uint64(n.fn)<<48
	mix := func(x uint64) { h = maphash.Comparable(s.seed, [2]uint64{h, x}) }
	mix(uint64(uint32(n.a))<<32 | uint64(uint32(n.b)))
	mix(uint64(uint32(n.c))<<32 | uint64(len(n.terms)))
	if n.v != 0 {
		mix(math.Float64bits(n.v))
	}
	for _, t := range n.terms {
		mix(uint64(uint32(t.atom)) ^ math.Float64bits(t.coef))
	}
	return h
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

func (s *store) intern(n node) nodeID {
	h := s.hash(&n)
	head, ok := s.buckets[h]
	if !ok {
		head = -1
	}
	for id := head; id >= 0; id = s.nodes[id].next {
		if same(&s.nodes[id], &n) {
			return id
		}
	}
	n.next = head
	id := nodeID(len(s.nodes))
	s.nodes = append(s.nodes, n)
	s.buckets[h] = id
	return id
}

func (s *store) constant(v float64) nodeID {
	if v == 0 {
		v = 0 // one zero: −0 and +0 are the same constant
	}
	return s.intern(node{kind: kConst, v: v, affine: true, steps: true})
}

func (s *store) leaf(k kind, i int) nodeID {
	return s.intern(node{kind: k, a: nodeID(i), affine: k == kLatent || k == kPoint})
}

func (s *store) isConst(id nodeID) (float64, bool) {
	n := &s.nodes[id]
	return n.v, n.kind == kConst
}

// operands calls visit for each operand of id.
func (s *store) operands(id nodeID, visit func(nodeID)) {
	n := &s.nodes[id]
	switch n.kind {
	case kLin:
		for _, t := range n.terms {
			visit(t.atom)
		}
	case kUnary:
		visit(n.a)
	case kBinary:
		visit(n.a)
		visit(n.b)
	case kSelect:
		visit(n.a)
		visit(n.b)
		visit(n.c)
	}
}

// sel is then where the sign node cond is 1, and otherwise where it is 0.
func (s *store) sel(cond, then, otherwise nodeID) nodeID {
	if v, ok := s.isConst(cond); ok {
		if v != 0 {
			return then
		}
		return otherwise
	}
	if n := &s.nodes[then]; n.kind == kSelect && n.a == cond {
		then = n.b
	}
	if n := &s.nodes[otherwise]; n.kind == kSelect && n.a == cond {
		otherwise = n.c
	}
	if then == otherwise {
		return then
	}
	steps := s.nodes[then].steps && s.nodes[otherwise].steps
	return s.intern(node{kind: kSelect, a: cond, b: then, c: otherwise, steps: steps})
}
