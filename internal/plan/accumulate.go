package plan

import (
	"cmp"
	"slices"

	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/internal/vec"
)

// An accumulate is the sum of its parts: what a plan makes of the chains of
// additions, scatters, scalings and gates that gradients go through.
type accumulate struct {
	base  []float64 // row r of the sum starts from base[r]; nil: from 0
	parts []part
}

// A part is one summand, of the operand x: coef[r]·x[r] is added to row first+r
// of the sum, or to row to[r] if to is not nil.
type part struct {
	first int
	to    kernel.RowList
	coef  kernel.Coefs   // nil for 1
	m     *kernel.Sparse // the same as a matrix: if not nil, m·x is added
	gate  *kernel.Gate   // if not nil, what is added is gate(sign, x), of two operands
	// complement is room for 1 − x, or nil: it is then used in place of x.
	complement kernel.Matrix
}

// Eval sets out to the sum.
func (k accumulate) Eval(out kernel.Matrix, in []kernel.Matrix) {
	if k.base == nil {
		clear(out.Data)
	} else {
		out.SetConstant(k.base)
	}
	for j := range k.parts {
		pt := &k.parts[j]
		if pt.gate != nil {
			pt.addGated(out, in[0], in[1])
			in = in[2:]
			continue
		}
		x := in[0]
		if pt.complement.Data != nil {
			vec.Affine(pt.complement.Data, x.Data, -1, 1)
			x = pt.complement
		}
		pt.add(out, x)
		in = in[1:]
	}
}

func (pt *part) add(out, x kernel.Matrix) {
	switch {
	case pt.m != nil:
		pt.m.AddMul(out, x)
	case pt.coef == nil:
		to := out.Data[pt.first*out.Cols:][:len(x.Data)]
		vec.Add(to, to, x.Data)
	default:
		out.Span(pt.first, x.Rows).AddScaled(pt.coef, x)
	}
}

func (pt *part) addGated(out, sign, g kernel.Matrix) {
	n := out.Cols
	if pt.to == nil {
		vec.AddGate(out.Data[pt.first*n:][:len(g.Data)], sign.Data, g.Data, pt.gate.At)
		return
	}
	for r, i := range pt.to {
		vec.AddGate(out.Data[int(i)*n:][:n], sign.Data[r*n:], g.Data[r*n:], pt.gate.At)
	}
}

// row is where row r of the part goes.
func (pt *part) row(r int) int {
	if pt.to == nil {
		return pt.first + r
	}
	return int(pt.to[r])
}

// sorted gives a scattered part without a gate its matrix, with the entries in
// the order of the rows of the sum, which is fastest.
func (pt part) sorted() part {
	if pt.to == nil {
		return pt
	}
	from := kernel.RowRange(0, len(pt.to))
	slices.SortStableFunc(from, func(x, y int32) int { return cmp.Compare(pt.to[x], pt.to[y]) })
	if pt.coef == nil {
		pt.coef = kernel.Coefs{1}
	}
	pt.m = &kernel.Sparse{Row: from.Of(pt.to), Col: from, W: pt.coef.Of(from)}
	return pt
}

// picked lists the rows of the operand that are the given rows of the part, if
// the part is no more than a gather of them.
func (pt *part) picked(rows int) (from kernel.RowList, ok bool) {
	if pt.m == nil || len(pt.m.W) != 1 || pt.m.W[0] != 1 || pt.complement.Data != nil {
		return nil, false
	}
	first, run := pt.m.Row.Run()
	return pt.m.Col, run && first == 0 && len(pt.m.Row) == rows
}

// A summand is a part with its operands: x, and the sign of its gate.
type summand struct {
	part
	sign, x *node
}

// accumulate makes a sum or a scattering of gradients one operation.
func (p *planner) accumulate(n *node) {
	switch n.k.(type) {
	case kernel.Plus, kernel.Scatter:
	default:
		return
	}
	if n.uses == 0 { // it is part of another one
		return
	}
	base, list := p.openGates(n.summands(), n.rows)
	n.in = nil
	k := accumulate{base: base}
	for _, s := range list {
		k.parts = append(k.parts, s.part)
		if s.gate != nil {
			n.in = append(n.in, s.sign)
		}
		n.in = append(n.in, s.x)
	}
	n.k = k
	if from, ok := k.parts[0].picked(n.rows); ok && len(k.parts) == 1 && base == nil {
		n.k = kernel.Gather{Idx: from}
	}
}

// summands lists what n is the sum of, through the sums that lead to n alone.
func (n *node) summands() []summand {
	switch k := n.k.(type) {
	case kernel.Plus:
		var list []summand
		for _, x := range n.in {
			if x.inner() {
				list = append(list, x.summands()...)
				x.uses = 0
			} else {
				list = append(list, newSummand(nil, x))
			}
		}
		return list
	case kernel.Scatter:
		return []summand{newSummand(k.Idx, n.in[0])}
	}
	return []summand{newSummand(nil, n)}
}

// newSummand is x scattered, with the scalings and the gate that lead to it. A
// scaling that others use too is done again, as it costs nothing here.
func newSummand(to kernel.RowList, x *node) summand {
	s := summand{part: part{to: to}, x: x}
	if first, run := to.Run(); run {
		s.first, s.to = first, nil
	}
	for {
		k, ok := s.x.k.(kernel.Scale)
		if !ok {
			break
		}
		s.coef, s.x = k.Coef.Times(s.coef), s.x.in[0]
	}
	if k, ok := s.x.k.(kernel.Gate); ok && s.x.inner() && s.coef == nil {
		s.gate, s.sign, s.x = &k, s.x.in[0], s.x.in[1]
	}
	return s
}
