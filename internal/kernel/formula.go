package kernel

import "github.com/facetvi/facet/internal/vec"

// Formulas is a list of formulas over signs, made in order. Row r is the product of the rows Ref[e] for
// e = From[r] … From[r+1]−1, or 1 − x for the row x of number −1 − Ref[e], if that is negative: such a row has no other factor.
// References number the rows of operand 0, which end at Base[0], then those of operand 1, which end at
// Base[1], then those of the result itself.
type Formulas struct {
	From, Ref []int32
	Base      [2]int32
}

func (k Formulas) outRows([]int) int { return len(k.From) - 1 }

// Eval implements [Kernel].
func (k Formulas) Eval(out Matrix, in []Matrix) {
	for r := range out.Rows {
		row, refs := out.Row(r), k.Ref[k.From[r]:k.From[r+1]]
		if refs[0] < 0 {
			vec.Affine(row, rowOf(-1-refs[0], k.Base, out, in), -1, 1)
			continue
		}
		vec.Mul(row, rowOf(refs[0], k.Base, out, in), rowOf(refs[1], k.Base, out, in))
		for _, ref := range refs[2:] {
			vec.Mul(row, row, rowOf(ref, k.Base, out, in))
		}
	}
}

// Flip is a list of rows, made in order:
//
//	row r = s·(x + Σ_e Coef[e]·(row Ref[e])),    e = From[r] … From[r+1]−1
//
// for row r of operand 0, s, which is −1, 0 or 1, and row r of operand 1, x. The
// result is exactly 0 where s is. Ref are earlier rows.
type Flip struct {
	From, Ref []int32
	Coef      []float64
}

// Eval implements [Kernel].
func (k Flip) Eval(out Matrix, in []Matrix) {
	copy(out.Data, in[1].Data)
	for r := range out.Rows {
		row := out.Row(r)
		for e := k.From[r]; e < k.From[r+1]; e++ {
			vec.AddScaled(row, k.Coef[e], out.Row(int(k.Ref[e])))
		}
		for i, s := range in[0].Row(r) {
			if s == 0 {
				row[i] = 0
			} else {
				row[i] *= s
			}
		}
	}
}
