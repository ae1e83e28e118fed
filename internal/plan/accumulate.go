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
