package graph

import "github.com/facetvi/facet/internal/vec"

// flip is a list of rows, made in order:
//
//	row r = s·(x + Σ_e Coef[e]·(row Ref[e])),    e = From[r] … From[r+1]−1
//
// for row r of operand 0, s, which is −1, 0 or 1, and row r of operand 1, x. The
// result is exactly 0 where s is. Ref are earlier rows.
type flip struct {
	noDiff
	From, Ref []int32
	Coef      []float64
}

func (k flip) outRows(in []int) int { return in[0] }

func (k flip) eval(out mat, in []mat) {
	n := out.cols
	copy(out.v, in[1].v)
	for r := range out.rows {
		row, s := out.v[r*n:][:n], in[0].v[r*n:][:n]
		for e := k.From[r]; e < k.From[r+1]; e++ {
			vec.AddScaled(row, k.Coef[e], out.v[int(k.Ref[e])*n:][:n])
		}
		for i, sign := range s {
			if sign == 0 {
				row[i] = 0
			} else {
				row[i] *= sign
			}
		}
	}
}
