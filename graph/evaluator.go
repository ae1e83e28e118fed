package graph

import "fmt"

// An evaluator computes expressions of a compiled model at one z, one at a time
// and each once, in its own region. It holds no lock: it reads the nodes that
// Compile left.
type evaluator struct {
	c    *compiled
	z    []float64
	data []float64
	memo []float64
	seen []uint32 // memo[id] holds where seen[id] is run
	run  uint32
	p    []float64
}

// evaluate returns an evaluator at z, which the caller may fill in as it goes,
// as long as no expression is asked for before its latents are there. Release
// it after use.
func (d *Density) evaluate(z []float64) *evaluator {
	if len(z) != d.Dim() {
		panic(fmt.Sprintf("graph: %d coordinates for %d latents", len(z), d.Dim()))
	}
	e, ok := d.evaluators.Get().(*evaluator)
	if !ok {
		e = &evaluator{c: d.compiled, memo: make([]float64, len(d.nodes)), seen: make([]uint32, len(d.nodes))}
	}
	if e.run++; e.run == 0 { // the count has come round
		clear(e.seen)
		e.run = 1
	}
	e.z, e.data = z, d.data
	return e
}

func (e *evaluator) release() {
	e.z, e.data = nil, nil
	e.c.evaluators.Put(e)
}

// expr is the value of x, an expression of the model or a number.
func (e *evaluator) expr(x Expr) float64 {
	if x.m == nil {
		return x.v
	}
	return e.value(x.id)
}

// params are the parameters of d. The slice is used again at the next call.
func (e *evaluator) params(d *Dist) []float64 {
	e.p = e.p[:0]
	for _, x := range d.params {
		e.p = append(e.p, e.expr(x))
	}
	return e.p
}

// reached reports whether all guards of a path hold.
func (e *evaluator) reached(path []Guard) bool {
	for _, g := range path {
		if g.cond == nil || !e.holds(g.cond) {
			return false
		}
	}
	return true
}

func (e *evaluator) holds(c *cond) bool {
	switch c.op {
	case condSign:
		return e.value(c.sign) != 0
	case condNot:
		return !e.holds(c.kids[0])
	case condAnd:
		for _, k := range c.kids {
			if !e.holds(k) {
				return false
			}
		}
	case condOr:
		for _, k := range c.kids {
			if e.holds(k) {
				return true
			}
		}
		return false
	}
	return true
}

func (e *evaluator) value(id nodeID) float64 {
	if e.seen[id] == e.run {
		return e.memo[id]
	}
	v := e.compute(&e.c.nodes[id])
	e.memo[id], e.seen[id] = v, e.run
	return v
}

func (e *evaluator) compute(n *node) float64 {
	switch n.kind {
	case kConst:
		return n.v
	case kLatent:
		return e.z[n.a]
	case kData:
		return e.data[n.a]
	case kSign:
		if e.c.arr.Plane(int(n.a)).At(e.z) > 0 {
			return 1
		}
		return 0
	case kLin:
		sum := n.v
		for _, t := range n.terms {
			sum += t.coef * e.value(t.atom)
		}
		return sum
	case kUnary:
		return n.fn.Value(e.value(n.a))
	case kBinary:
		return n.fn.Value2(e.value(n.a), e.value(n.b))
	case kSelect:
		if e.value(n.a) != 0 {
			return e.value(n.b)
		}
		return e.value(n.c)
	}
	panic("graph: an input of a derived program in a model")
}

// sized is dst, or a new slice of length n if dst is nil. It panics if dst has
// another length.
func sized(dst []float64, n int, what string) []float64 {
	if dst == nil {
		return make([]float64, n)
	}
	if len(dst) != n {
		panic(fmt.Sprintf("graph: a slice of %d for %d %s", len(dst), n, what))
	}
	return dst
}
