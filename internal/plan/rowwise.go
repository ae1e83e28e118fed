package plan

import (
	"slices"

	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/internal/vec"
)

// A rowwise is a reduce of one or two operands, or a spread, that makes its rows one after another, so that each is written once.
type rowwise struct {
	c         kernel.Coefs // by row
	from, ref []int32      // entries from[r] … from[r+1]−1 are of row r; ref numbers the rows of both operands
	w         []float64
	split     int32 // rows of the first operand
}

// byRows is k, or what computes the same of the operands row by row.
func byRows(k kernel.Kernel, in []kernel.Matrix) kernel.Kernel {
	switch k := k.(type) {
	case kernel.Reduce:
		if len(in) == 1 || len(in) == 2 {
			return newRowwise(k, in[0].Rows)
		}
	case kernel.Spread:
		return newRowwise(kernel.Reduce{Rows: k.Rows, C: kernel.Coefs{0}, M: []kernel.Sparse{k.M}}, in[0].Rows)
	}
	return k
}

// newRowwise is k of a first operand with so many rows.
func newRowwise(k kernel.Reduce, rows int) rowwise {
	r := rowwise{from: make([]int32, k.Rows+1), split: int32(rows)}
	for i := range k.Rows {
		r.c = append(r.c, k.C.At(i))
	}
	for _, m := range k.M {
		for _, row := range m.Row {
			r.from[row+1]++
		}
	}
	for i := range k.Rows {
		r.from[i+1] += r.from[i]
	}
	next := slices.Clone(r.from)
	r.ref, r.w = make([]int32, r.from[k.Rows]), make([]float64, r.from[k.Rows])
	for j, m := range k.M {
		for e, row := range m.Row {
			at := next[row]
			next[row]++
			r.ref[at], r.w[at] = m.Col[e]+int32(j*rows), m.W.At(e)
		}
	}
	return r
}

// Eval implements [kernel.Kernel].
func (k rowwise) Eval(out kernel.Matrix, in []kernel.Matrix) {
	m := vec.Rows{A: in[0].Data, Split: k.split}
	if len(in) == 2 {
		m.B = in[1].Data
	}
	m.Sparse(out.Data, out.Cols, k.c, k.from, k.ref, k.w)
}
