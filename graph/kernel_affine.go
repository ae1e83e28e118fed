package graph

// affine evaluates sparse affine rows in order. Row r is C[r] plus the entries
// From[r] … From[r+1]−1, each a coefficient times a row: of operand 0 if Ref is
// below Base[0], of operand 1 below Base[1], and else of an earlier row of the
// result itself. So a recurrence costs what its steps cost.
type affine struct {
	C    []float64
	From []int32
	Ref  []int32
	Coef []float64
	Base [2]int32 // end of operand 0 and of operand 1 in the numbering of Ref
}

func (k affine) outRows([]int) int { return len(k.C) }

// source returns the row that Ref names.
func (k affine) source(ref int32, out mat, in []mat) []float64 {
	n := out.cols
	switch {
	case ref < k.Base[0]:
		return in[0].v[int(ref)*n : int(ref)*n+n]
	case ref < k.Base[1]:
		at := int(ref - k.Base[0])
		return in[1].v[at*n : at*n+n]
	}
	at := int(ref - k.Base[1])
	return out.v[at*n : at*n+n]
}

func (k affine) eval(out mat, in []mat) {
	n := out.cols
	if n == 1 && k.Base[0] == k.Base[1] {
		k.evalOne(out.v, in[0].v)
		return
	}
	for r, c := range k.C {
		row := out.v[r*n : r*n+n]
		for i := range row {
			row[i] = c
		}
		for e := k.From[r]; e < k.From[r+1]; e++ {
			axpyFlat(row, k.source(k.Ref[e], out, in), k.Coef[e], 0, false)
		}
	}
}

func (k affine) evalOne(out, z []float64) {
	for r, sum := range k.C {
		for e := k.From[r]; e < k.From[r+1]; e++ {
			if ref := k.Ref[e]; ref < k.Base[0] {
				sum += k.Coef[e] * z[ref]
			} else {
				sum += k.Coef[e] * out[ref-k.Base[0]]
			}
		}
		out[r] = sum
	}
}

// diff is for operand 0 only: operand 1 is an input of programs that are never
// differentiated.
func (k affine) diff(int, diffArgs) (kernel, []operandRef) {
	return affineTranspose{A: k}, []operandRef{refGrad}
}

// affineTranspose pulls a gradient back through affine. Its result has the rows
// of operand 0, followed by working rows, the gradients of affine's own rows.
type affineTranspose struct {
	noDiff
	A affine
}

func (k affineTranspose) outRows([]int) int { return int(k.A.Base[1]) + len(k.A.C) }

func (k affineTranspose) eval(out mat, in []mat) {
	n, a := out.cols, k.A
	own := out.v[int(a.Base[1])*n:]
	clear(out.v)
	copy(own, in[0].v)
	for r := len(a.C) - 1; r >= 0; r-- {
		g := own[r*n : r*n+n]
		for e := a.From[r]; e < a.From[r+1]; e++ {
			to := int(a.Ref[e]) * n
			axpyFlat(out.v[to:to+n], g, a.Coef[e], 0, false)
		}
	}
}
