package graph

import (
	"math"
	"slices"
)

// fuse turns gathers of neighbouring rows into views, products with constant
// gradients into scalings, and sums of scattered gradients into one
// accumulation.
func (p *planner) fuse(roots []*planNode) {
	for _, n := range p.order {
		n.scaleByConstant()
		n.foldReduce()
		if g, ok := n.k.(gather); ok && !n.static && !n.in[0].static {
			if first, ok := g.Idx.run(); ok {
				n.k, n.view = nil, first
			}
		}
	}
	for _, n := range slices.Backward(p.order) {
		if n.static || n.uses == 0 {
			continue
		}
		a := accumulate{}
		var in []*planNode
		switch n.k.(type) {
		case plus:
			a.collect(n, &in)
		case scatter:
			a.add(&planNode{k: n.k, in: n.in, uses: 1}, &in)
		default:
			continue
		}
		n.k, n.in = a, in
	}
	p.prune(roots)
}

// scaleByConstant simplifies a product whose first factor, an upstream gradient
// or observations, is the same in each run. It must not be 0 (which would stop
// NaN) or infinite.
func (n *planNode) scaleByConstant() {
	if b, ok := n.k.(binary); ok && b.F == fnMul && len(n.in) == 2 && n.in[1].static {
		n.in = []*planNode{n.in[1], n.in[0]}
	}
	if n.static || len(n.in) != 2 || !n.in[0].static {
		return
	}
	c := slices.Clone(n.in[0].val.v)
	for r, g := range c {
		if g == 0 || math.IsInf(g, 0) || math.IsNaN(g) {
			return
		}
		if _, ok := n.k.(slopeSquare); ok {
			c[r] = 2 * g
		}
	}
	switch k := n.k.(type) {
	case slopeSquare, times2:
		n.k, n.in = scale{makeCoefs(c)}, n.in[1:]
	case binary:
		if k.F == fnMul || k.F == fnMulData {
			n.k, n.in = scale{makeCoefs(c)}, n.in[1:]
		}
	}
}

// foldReduce lets a reduce read through scalings and gathers.
func (n *planNode) foldReduce() {
	r, ok := n.k.(reduce)
	if !ok || n.static {
		return
	}
	folded := reduce{Rows: r.Rows, C: r.C}
	in := slices.Clone(n.in)
	for j, x := range in {
		src, owner, w := r.Src[j], r.Owner[j], r.W[j]
		for !x.static {
			if k, ok := x.k.(binary); ok && k.F == fnMulData && x.in[0].static {
				src, owner, w = dropZeros(src, owner, coefs(x.in[0].val.v).of(src).times(w))
				x = x.in[1]
				continue
			}
			if len(x.in) != 1 {
				break
			}
			if k, ok := x.k.(gather); ok {
				src = src.of(k.Idx)
			} else if k, ok := x.k.(scale); ok {
				w = k.Coef.of(src).times(w)
			} else if x.k == nil {
				src = src.of(firstRows(x.rows).shift(x.view))
			} else {
				break
			}
			x = x.in[0]
		}
		in[j] = x
		folded.Src, folded.Owner, folded.W = append(folded.Src, src), append(folded.Owner, owner), append(folded.W, w)
		folded.K = append(folded.K, x.rows)
	}
	n.k, n.in = folded, in
}

// dropZeros drops the entries of observations that are 0, which stop even NaN.
func dropZeros(src, owner rowList, w coefs) (rowList, rowList, coefs) {
	var s, o rowList
	var c []float64
	for e := range src {
		if v := w.at(e); v != 0 {
			s, o, c = append(s, src[e]), append(o, owner[e]), append(c, v)
		}
	}
	return s, o, makeCoefs(c)
}

// prune counts uses anew and drops nodes without any.
func (p *planner) prune(roots []*planNode) {
	for _, n := range p.order {
		n.uses = 0
	}
	for _, r := range roots {
		if r != nil {
			r.uses++
		}
	}
	var live []*planNode
	for _, n := range slices.Backward(p.order) {
		if n.uses == 0 {
			continue
		}
		live = append(live, n)
		for _, k := range n.in {
			k.uses++
		}
	}
	slices.Reverse(live)
	p.order = live
}
