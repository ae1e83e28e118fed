package plan

import (
	"slices"

	"github.com/facetvi/facet/internal/kernel"
)

// fuse rewrites the nodes so that fewer numbers are read and written.
func (p *planner) fuse(roots []*root) {
	for _, n := range p.order {
		n.leaveAlone()
		n.scaleByConstant()
		n.foldScales()
		n.foldReduce()
	}
	for _, n := range slices.Backward(p.order) {
		p.accumulate(n)
	}
	for _, n := range p.order {
		if p.cols > 1 {
			n.reduceGathers()
		}
		n.pickRows(p.cols)
	}
	p.prune(roots)
	for _, n := range p.order {
		n.view()
	}
}

// scaleByConstant makes a product with a static factor a scaling. The factor
// must be finite and not 0: products with an upstream gradient or with data are
// 0 where that is 0, even if the other factor is NaN.
func (n *node) scaleByConstant() {
	if len(n.in) != 2 {
		return
	}
	c, x, by := n.in[0], n.in[1], 1.0
	switch k := n.k.(type) {
	case kernel.GradTimes:
		by = k.C
	case kernel.Elementwise:
		if k.F == kernel.Mul && x.static {
			c, x = x, c
		} else if k.F != kernel.Mul && k.F != kernel.MulData {
			return
		}
	default:
		return
	}
	if !c.static || !allFinite(c.val.Data) || slices.Contains(c.val.Data, 0) {
		return
	}
	coef := slices.Clone(c.val.Data)
	for r := range coef {
		coef[r] *= by
	}
	n.k, n.in = kernel.Scale{Coef: kernel.NewCoefs(coef)}, []*node{x}
}

// leaveAlone drops the working rows of a log sum whose derivative is not asked for.
func (n *node) leaveAlone() {
	if _, ok := n.k.(kernel.Head); !ok {
		return
	}
	if x := n.in[0]; x.k == (kernel.LogSum{}) && x.inner() {
		n.k, n.in, x.uses = kernel.LogSum{Alone: true}, x.in, 0
	}
}

// foldScales makes a scaling part of the product with a gradient that it is of, or that is of it, where all rows have one coefficient.
func (n *node) foldScales() {
	switch k := n.k.(type) {
	case kernel.GradTimes:
		for j, s := range n.in {
			c, ok := s.k.(kernel.Scale)
			if !ok || len(c.Coef) != 1 {
				continue
			}
			k.C *= c.Coef[0]
			n.k, n.in[j] = k, s.in[0]
			if s.uses--; s.uses > 0 {
				s.in[0].uses++
			}
		}
	case kernel.Scale:
		x := n.in[0]
		if g, ok := x.k.(kernel.GradTimes); ok && len(k.Coef) == 1 && x.inner() {
			n.k, n.in, x.uses = kernel.GradTimes{C: g.C * k.Coef[0]}, x.in, 0
		}
	}
}

// foldReduce lets a reduce read the operands of nodes that only pick or scale
// rows, and adds what is always the same once.
func (n *node) foldReduce() {
	k, ok := n.k.(kernel.Reduce)
	if !ok {
		return
	}
	folded := kernel.Reduce{Rows: k.Rows, C: k.C}
	in := make([]*node, 0, len(n.in))
	for j, x := range n.in {
		if x.static {
			sum := kernel.NewMatrix(k.Rows, 1)
			sum.SetConstant(folded.C)
			k.M[j].AddMul(sum, x.val)
			folded.C = kernel.NewCoefs(sum.Data)
			continue
		}
		p := product{k.M[j], x}
		for p.fold() {
		}
		folded.M, in = append(folded.M, p.m), append(in, p.x)
	}
	n.k, n.in = folded, in
}

// A product is m·x.
type product struct {
	m kernel.Sparse
	x *node
}

// fold writes m·x, for an x that is computed from one other node y, as a product
// with y, and reports whether it could:
//
//	x = y[idx]             entry e: column idx[col_e]
//	x = c ⊙ y, data ⊙ y    entry e: w_e·c[col_e]
func (p *product) fold() bool {
	x := p.x
	switch k := x.k.(type) {
	case kernel.Gather:
		p.m.Col, p.x = p.m.Col.Of(k.Idx), x.in[0]
		return true
	case kernel.Scale:
		p.m.W, p.x = k.Coef.Of(p.m.Col).Times(p.m.W), x.in[0]
		return true
	case kernel.Elementwise:
		if k.F == kernel.MulData && x.in[0].static {
			data := kernel.Coefs(x.in[0].val.Data)
			p.m.W, p.x = data.Of(p.m.Col).Times(p.m.W), x.in[1]
			p.m = withoutZeros(p.m)
			return true
		}
	}
	return false
}

// withoutZeros is m without the entries of observations that are 0: 0·x is 0
// there, even if x is NaN.
func withoutZeros(m kernel.Sparse) kernel.Sparse {
	var out kernel.Sparse
	var w []float64
	for e := range m.Col {
		if v := m.W.At(e); v != 0 {
			out.Row, out.Col, w = append(out.Row, m.Row[e]), append(out.Col, m.Col[e]), append(w, v)
		}
	}
	out.W = kernel.NewCoefs(w)
	return out
}

// prune counts uses anew and drops nodes without any.
func (p *planner) prune(roots []*root) {
	for _, n := range p.order {
		n.uses = 0
	}
	for _, r := range roots {
		r.n.uses++
	}
	for _, n := range slices.Backward(p.order) {
		if n.uses > 0 {
			for _, x := range n.in {
				x.uses++
			}
			if n.viewed != nil {
				n.viewed.uses++
			}
		}
	}
	p.order = slices.DeleteFunc(p.order, func(n *node) bool { return n.uses == 0 })
}

// view makes neighbouring rows a view, which costs nothing.
func (n *node) view() {
	first, run := 0, false
	switch k := n.k.(type) {
	case kernel.Gather:
		first, run = k.Idx.Run()
	case kernel.Head:
		run = true
	}
	if run {
		n.viewed, n.first, n.k, n.in = n.in[0], first, nil, nil
	}
}
