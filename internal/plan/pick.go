package plan

import (
	"slices"

	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/internal/vec"
)

// A pick is a select, a product or a sum of two of rows wherever they are: row r is k of the rows of[j][r] of the operands in[j].
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
	a, b := k.of[0], k.of[1]
	switch f := k.k.(type) {
	case kernel.Select:
		for r, s := range a {
			vec.Select(out.Row(r), in[0].Row(int(s)), in[1].Row(int(b[r])), in[2].Row(int(k.of[2][r])))
		}
	case kernel.GradTimes:
		for r, g := range a {
			vec.GatedMul(out.Row(r), in[0].Row(int(g)), in[1].Row(int(b[r])), f.C)
		}
	case kernel.WeightedSum:
		for r, x := range a {
			vec.Affine2(out.Row(r), in[0].Row(int(x)), in[1].Row(int(b[r])), f.Coef[0].At(r), f.Coef[1].At(r), f.C.At(r))
		}
	default:
		for r, x := range a {
			vec.Mul(out.Row(r), in[0].Row(int(x)), in[1].Row(int(b[r])))
		}
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

// pickable reports whether k can be that of a pick for so many columns and operands.
func pickable(k kernel.Kernel, cols, operands int) bool {
	switch k := k.(type) {
	case kernel.Select:
		return true
	case kernel.GradTimes:
		return cols > 1
	case kernel.WeightedSum:
		return cols > 1 && operands == 2
	case kernel.Elementwise:
		return cols > 1 && k.F == kernel.Mul
	}
	return false
}

// pickRows lets n read what gathers copy, if it can, where that is.
func (n *node) pickRows(cols int) {
	if !pickable(n.k, cols, len(n.in)) {
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
			_, run := g.Idx.Run() // which is a view, and costs nothing
			gathers = gathers || !run
			k.of[j], in[j] = k.of[j].Of(g.Idx), in[j].in[0]
		}
	}
	if gathers {
		n.k, n.in = k, in
	}
}
