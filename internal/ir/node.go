package ir

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

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

// IsLeaf reports whether n is known by its number, and not by the table.
func (n *Node) IsLeaf() bool { return n.Kind < Sum && n.Kind != Const }
