package kernel

import "github.com/facetvi/facet/internal/vec"

// Formulas is a list of formulas over signs, made in order. Row r is a ∧ b for
// its operands a = A[r] and b = B[r], or ¬a if B[r] is −1. They number the rows
// of operand 0, which end at Base[0], then those of operand 1, which end at
// Base[1], then those of the result itself.
type Formulas struct {
	A, B []int32
	Base [2]int32
}

func (k Formulas) outRows([]int) int { return len(k.A) }

// Eval implements [Kernel].
func (k Formulas) Eval(out Matrix, in []Matrix) {
	for r, a := range k.A {
		if k.B[r] < 0 {
			vec.Affine(out.Row(r), rowOf(a, k.Base, out, in), -1, 1)
		} else {
			vec.Mul(out.Row(r), rowOf(a, k.Base, out, in), rowOf(k.B[r], k.Base, out, in))
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
