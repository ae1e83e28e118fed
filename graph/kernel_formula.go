package graph

import "github.com/facetvi/facet/internal/vec"

// formulas is a list of formulas over signs, made in order. Row r is a ∧ b for
// its operands a = A[r] and b = B[r], or ¬a if B[r] is −1. They number the rows
// of operand 0, which end at Base[0], then those of operand 1, which end at
// Base[1], then those of the result itself.
type formulas struct {
	noDiff
	A, B []int32
	Base [2]int32
}

func (k formulas) outRows([]int) int { return len(k.A) }

func (k formulas) eval(out mat, in []mat) {
	n := out.cols
	row := func(i int32) []float64 {
		switch {
		case i < k.Base[0]:
			return in[0].v[int(i)*n:][:n]
		case i < k.Base[1]:
			return in[1].v[int(i-k.Base[0])*n:][:n]
		}
		return out.v[int(i-k.Base[1])*n:][:n]
	}
	for r, a := range k.A {
		to := out.v[r*n:][:n]
		if k.B[r] < 0 {
			vec.Affine(to, row(a), -1, 1)
		} else {
			vec.Mul(to, row(a), row(k.B[r]))
		}
	}
}
