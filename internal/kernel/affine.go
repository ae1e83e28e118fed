package kernel

import "github.com/facetvi/facet/internal/vec"

// Affine is a list of sparse affine rows, made in order:
//
//	row r = C[r] + Σ_e Coef[e]·(row Ref[e]),    e = From[r] … From[r+1]−1
//
// Ref numbers the rows of operand 0, which end at Base[0], then those of operand
// 1, which end at Base[1], then those of the result itself, of which a row may
// use earlier ones. So a recurrence costs what its steps cost.
type Affine struct {
	C    []float64
	From []int32
	Ref  []int32
	Coef []float64
	Base [2]int32
	// Apart says that there are two operands, and no row uses one of the result.
	Apart bool
}

func (k Affine) outRows([]int) int { return len(k.C) }

// Eval implements [Kernel].
func (k Affine) Eval(out Matrix, in []Matrix) {
	switch {
	case k.Apart:
		vec.Rows{A: in[0].Data, B: in[1].Data, Split: k.Base[0]}.Sparse(out.Data, out.Cols, k.C, k.From, k.Ref, k.Coef)
	case k.Base[0] < k.Base[1]:
		k.evalTwo(out, in)
	case out.Cols == 1:
		k.evalColumn(out.Data, in[0].Data)
	default:
		vec.Rows{A: in[0].Data, B: out.Data, Split: k.Base[0]}.Sparse(out.Data, out.Cols, k.C, k.From, k.Ref, k.Coef)
	}
}

// evalTwo is Eval of two operands.
func (k Affine) evalTwo(out Matrix, in []Matrix) {
	x := operandsOf(out, in, k.Base)
	for r, c := range k.C {
		row := out.Row(r)
		for i := range row {
			row[i] = c
		}
		for e := k.From[r]; e < k.From[r+1]; e++ {
			vec.AddScaled(row, k.Coef[e], x.rows(k.Ref[e], 1))
		}
	}
}

// operands are the rows of two operands, whose numbers end at base, and of the result.
type operands struct {
	data [3][]float64
	base [2]int32
	cols int
}

func operandsOf(out Matrix, in []Matrix, base [2]int32) (x operands) {
	x = operands{base: base, cols: out.Cols}
	for i, m := range in {
		x.data[i] = m.Data
	}
	x.data[2] = out.Data
	return x
}

// rows are n rows from number ref on.
func (x *operands) rows(ref int32, n int) []float64 {
	k := 0
	if ref >= x.base[1] {
		k, ref = 2, ref-x.base[1]
	} else if ref >= x.base[0] {
		k, ref = 1, ref-x.base[0]
	}
	return x.data[k][int(ref)*x.cols:][:n*x.cols]
}

// evalColumn is Eval of one operand and one column.
func (k Affine) evalColumn(out, x []float64) {
	from := int32(0)
	for r, sum := range k.C {
		to := k.From[r+1]
		refs, coef := k.Ref[from:to], k.Coef[from:to]
		for e, ref := range refs {
			if ref < k.Base[0] {
				sum += float64(coef[e] * x[ref])
			} else {
				sum += float64(coef[e] * out[ref-k.Base[0]])
			}
		}
		out[r] = sum
		from = to
	}
}

// diff is for operand 0 only: operand 1 never depends on the latents. The
// gradient of operand 0 is the last rows of the result.
func (k Affine) diff(int, []int) derivative { return derivative{k.transpose(), []operand{upstream}} }

// transpose pulls a gradient g of the rows of k back to operand 0. The whole
// gradient of row r, through the later rows s that use it too, is
//
//	ḡ_r = g_r + Σ_s coef_sr·ḡ_s
//
// and that of row i of operand 0 is Σ_s coef_si·ḡ_s. So transpose is affine in
// g: working rows for the ḡ_r that differ from g_r, from the last to the first,
// and then the rows of operand 0.
func (k Affine) transpose() Affine {
	m := len(k.C)
	next := make([]int32, int(k.Base[1])+m) // how many users each row has, which are rows of k, and then where the next one goes
	for _, ref := range k.Ref {
		next[ref]++
	}
	used := 0 // rows of k by others
	for _, users := range next[k.Base[1]:] {
		if users > 0 {
			used++
		}
	}
	rows, entries := used+int(k.Base[0]), int32(0)
	t := Affine{C: make([]float64, rows), From: make([]int32, 1, rows+1), Base: [2]int32{int32(m), int32(m)}}
	add := func(ref, own int) {
		users := next[ref]
		next[ref] = entries + int32(own)
		entries = next[ref] + users
		t.From = append(t.From, entries)
	}
	whole := make([]int32, m) // where ḡ_r is
	for r := m - 1; r >= 0; r-- {
		whole[r] = int32(r)
		if ref := int(k.Base[1]) + r; next[ref] > 0 {
			whole[r] = int32(m + len(t.From) - 1)
			add(ref, 1)
		}
	}
	for ref := range int(k.Base[0]) {
		add(ref, 0)
	}
	t.Ref, t.Coef = make([]int32, entries), make([]float64, entries)
	for r, at := range whole {
		if at != int32(r) {
			first := t.From[at-int32(m)]
			t.Ref[first], t.Coef[first] = int32(r), 1
		}
		for e := k.From[r]; e < k.From[r+1]; e++ {
			if ref := k.Ref[e]; ref < k.Base[0] || ref >= k.Base[1] {
				t.Ref[next[ref]], t.Coef[next[ref]] = at, k.Coef[e]
				next[ref]++
			}
		}
	}
	return t
}
