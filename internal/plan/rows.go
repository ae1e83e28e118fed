package plan

import (
	"slices"

	"github.com/facetvi/facet/internal/kernel"
)

// byRows is k, or if that is a reduce of one or two operands, or a spread, what computes it row by row, so that each row is written once.
func byRows(k kernel.Kernel, in []kernel.Matrix) kernel.Kernel {
	switch k := k.(type) {
	case kernel.Reduce:
		if len(in) == 1 || len(in) == 2 {
			return affineRows(k, in)
		}
	case kernel.Spread:
		return affineRows(kernel.Reduce{Rows: k.Rows, C: kernel.Coefs{0}, M: []kernel.Sparse{k.M}}, in)
	}
	return k
}

// affineRows is k with the entries of each row side by side, those of the first operand first.
func affineRows(k kernel.Reduce, in []kernel.Matrix) kernel.Affine {
	first := int32(in[0].Rows)
	rows := kernel.Affine{From: make([]int32, k.Rows+1), Base: [2]int32{first, first}}
	if len(in) == 2 {
		rows.Base[1] += int32(in[1].Rows)
		rows.Apart = true
	}
	for i := range k.Rows {
		rows.C = append(rows.C, k.C.At(i))
	}
	for _, m := range k.M {
		for _, row := range m.Row {
			rows.From[row+1]++
		}
	}
	for i := range k.Rows {
		rows.From[i+1] += rows.From[i]
	}
	next := slices.Clone(rows.From)
	rows.Ref, rows.Coef = make([]int32, rows.From[k.Rows]), make([]float64, rows.From[k.Rows])
	for j, m := range k.M {
		for e, row := range m.Row {
			at := next[row]
			next[row]++
			rows.Ref[at], rows.Coef[at] = m.Col[e]+int32(j)*first, m.W.At(e)
		}
	}
	return rows
}
