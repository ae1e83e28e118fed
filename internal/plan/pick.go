package plan

import (
	"slices"

	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/internal/vec"
)

// A pick is a select or a product of rows wherever they are: row r is k of the rows of[j][r] of the operands in[j].
type pick struct {
	k  kernel.Kernel
	of [3]kernel.RowList
}

// Eval sets out to the rows.
func (k pick) Eval(out kernel.Matrix, in []kernel.Matrix) {
	if _, is := k.k.(kernel.Select); is && out.Cols == 1 {
		k.selectColumn(out.Data, in)
		return
	}
	n, a, b := out.Cols, k.of[0], k.of[1]
	switch f := k.k.(type) {
	case kernel.Select:
		vec.SelectRows(out.Data, in[0].Data, in[1].Data, in[2].Data, n, a, b, k.of[2])
	case kernel.GradTimes:
		vec.GatedMulRows(out.Data, in[0].Data, in[1].Data, n, a, b, f.C)
	default:
		vec.MulRows(out.Data, in[0].Data, in[1].Data, n, a, b)
	}
}

// selectColumn is Eval of a select of one column.
func (k pick) selectColumn(out []float64, in []kernel.Matrix) {
	for r := range out {
		from, at := in[2].Data, k.of[2][r]
		if in[0].Data[k.of[0][r]] == 1 {
			from, at = in[1].Data, k.of[1][r]
		}
		out[r] = from[at]
	}
}

// pickable reports whether k can be that of a pick for so many columns.
func pickable(k kernel.Kernel, cols int) bool {
	switch k := k.(type) {
	case kernel.Select:
		return true
	case kernel.GradTimes:
		return cols%4 == 0
	case kernel.Elementwise:
		return cols%4 == 0 && k.F == kernel.Mul
	}
	return false
}

// reduceGathers makes a sum of two a reduce, if that can read what a gather copies.
func (n *node) reduceGathers() {
	k, ok := n.k.(kernel.WeightedSum)
	if !ok || len(n.in) != 2 || !slices.ContainsFunc(n.in, (*node).copies) {
		return
	}
	all := kernel.RowRange(0, n.rows)
	n.k = kernel.Reduce{Rows: n.rows, C: k.C, M: []kernel.Sparse{{Row: all, Col: all, W: k.Coef[0]}, {Row: all, Col: all, W: k.Coef[1]}}}
	n.foldReduce()
}

// copies reports whether n is a gather that is no view, which costs nothing.
func (n *node) copies() bool {
	g, is := n.k.(kernel.Gather)
	if !is {
		return false
	}
	_, run := g.Idx.Run()
	return !run
}

// pickRows lets n read what gathers copy, if it can, where that is.
func (n *node) pickRows(cols int) {
	if !pickable(n.k, cols) {
		return
	}
	k := pick{k: n.k}
	in, gathers := slices.Clone(n.in), false
	for j := range in {
		k.of[j] = kernel.RowRange(0, n.rows)
		for {
			g, ok := in[j].k.(kernel.Gather)
			if !ok {
				break
			}
			gathers = gathers || in[j].copies()
			k.of[j], in[j] = k.of[j].Of(g.Idx), in[j].in[0]
		}
	}
	if gathers {
		n.k, n.in = k, in
	}
}
