package graph

import (
	"fmt"

	"github.com/facetvi/facet/regions"
)

// A nodeEvaluator computes nodes, one at a time and each once: at
// one z in z's own region, or formulas in a region. It holds no lock.
type nodeEvaluator struct {
	st     *store
	nodes  *nodes
	z      []float64
	data   []float64
	arr    *regions.Arrangement // gives the signs at z; nil in a region
	region regions.Signs
	memo   []float64
	seen   []uint32 // memo[id] holds where seen[id] is run
	run    uint32
	room   []float64 // for the parameters of a law
}

// An evaluator computes expressions of a model.
type evaluator struct {
	*nodeEvaluator
}

// evaluator returns an evaluator of nodes, the first ones of s. Release it after
// use.
func (s *store) evaluator(nodes *nodes) *nodeEvaluator {
	e, ok := s.evaluators.Get().(*nodeEvaluator)
	if !ok || len(e.memo) < nodes.len() {
		e = &nodeEvaluator{st: s, memo: make([]float64, nodes.len()), seen: make([]uint32, nodes.len())}
	}
	if e.run++; e.run == 0 { // the count has come round
		clear(e.seen)
		e.run = 1
	}
	e.nodes = nodes
	return e
}

// evaluate returns an evaluator at z, which the caller may fill in as it goes,
// as long as no expression is asked for before its latents are there. Release
// it after use. It panics unless len(z) is Dim().
func (d *Density) evaluate(z []float64) evaluator {
	d.checkLen(z)
	e := d.st.evaluator(&d.nodes)
	e.z, e.data, e.arr = z, d.data, d.arr
	return evaluator{e}
}

func (e *nodeEvaluator) release() {
	e.nodes, e.z, e.data, e.arr, e.region = nil, nil, nil, nil, regions.Signs{}
	e.st.evaluators.Put(e)
}

// expr is the value of x, an expression of the model or a number.
func (e evaluator) expr(x Expr) float64 {
	if x.m == nil {
		return x.v
	}
	return e.value(x.id)
}

// params are the parameters of d. The slice is used again at the next call.
func (e evaluator) params(d Dist) []float64 {
	p := e.room[:0]
	for _, x := range d.params {
		p = append(p, e.expr(x))
	}
	e.room = p
	return p
}

// holds reports whether g does.
func (e evaluator) holds(g Guard) bool { return e.expr(g.value) != 0 }

func (e *nodeEvaluator) value(id nodeID) float64 {
	if e.seen[id] == e.run {
		return e.memo[id]
	}
	n := e.nodes.at(id)
	v := n.compute(e)
	e.memo[id], e.seen[id] = v, e.run
	return v
}

func (e *nodeEvaluator) latent(i int) float64 { return e.z[i] }
func (e *nodeEvaluator) datum(i int) float64  { return e.data[i] }

func (e *nodeEvaluator) positive(plane int) bool {
	if e.arr == nil {
		return e.region.Positive(plane)
	}
	return e.arr.At(plane, e.z) > 0
}

// inputs are what the value of a node follows from.
type inputs interface {
	latent(i int) float64
	datum(i int) float64
	positive(plane int) bool
	value(operand nodeID) float64
}

// compute is the value of n.
func (n *node) compute(in inputs) float64 {
	switch n.kind {
	case kConst:
		return n.v
	case kLatent:
		return in.latent(int(n.a))
	case kData:
		return in.datum(int(n.a))
	case kSign:
		return indicator(in.positive(int(n.a)))
	case kSum:
		sum := n.v
		for _, t := range n.terms {
			sum += t.coef * in.value(t.atom)
		}
		return sum
	case kUnary:
		return n.fn.Value(in.value(n.a))
	case kBinary:
		return n.fn.Value2(in.value(n.a), in.value(n.b))
	case kTernary:
		return n.fn.Value3(in.value(n.a), in.value(n.b), in.value(n.c))
	case kSelect:
		if in.value(n.a) != 0 {
			return in.value(n.b)
		}
		return in.value(n.c)
	case kNot:
		return 1 - in.value(n.a)
	case kAnd:
		return in.value(n.a) * in.value(n.b)
	case kFlip:
		if sign := in.value(n.a); sign != 0 {
			return sign * in.value(n.b)
		}
		return 0
	case kForward:
		x := make([]float64, len(n.terms))
		for i, t := range n.terms {
			x[i] = in.value(t.atom)
		}
		return forwardValue(int(n.a), int(n.b), x)
	}
	panic("graph: an input that has no value of its own")
}

// sized is dst, or a new slice of length n if dst is nil. It panics if dst has
// another length.
func sized[T any](dst []T, n int, what string) []T {
	if dst == nil {
		return make([]T, n)
	}
	if len(dst) != n {
		panic(fmt.Sprintf("graph: a slice of %d for %d %s", len(dst), n, what))
	}
	return dst
}
