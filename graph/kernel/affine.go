package kernel

import (
	"slices"

	"github.com/facetvi/facet/internal/vec"
)

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
}

// An Entry is one summand of an affine row.
type Entry struct {
	Ref  int32
	Coef float64
}

// Grow makes room for more rows with so many summands together.
func (k *Affine) Grow(rows, entries int) {
	k.C, k.From = slices.Grow(k.C, rows), slices.Grow(k.From, rows+1)
	k.Ref, k.Coef = slices.Grow(k.Ref, entries), slices.Grow(k.Coef, entries)
}

// Add appends a row.
func (k *Affine) Add(c float64, entries []Entry) {
	if len(k.From) == 0 {
		k.From = append(k.From, 0)
	}
	k.C = append(k.C, c)
	for _, e := range entries {
		k.Ref, k.Coef = append(k.Ref, e.Ref), append(k.Coef, e.Coef)
	}
	k.From = append(k.From, int32(len(k.Ref)))
}

func (k Affine) outRows([]int) int { return len(k.C) }

// Eval implements [Kernel].
func (k Affine) Eval(out Matrix, in []Matrix) {
	switch {
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
	for r, c := range k.C {
		row := out.Row(r)
		for i := range row {
			row[i] = c
		}
		for e := k.From[r]; e < k.From[r+1]; e++ {
			vec.AddScaled(row, k.Coef[e], k.source(k.Ref[e], out, in))
		}
	}
}

// source is the row that ref names.
func (k *Affine) source(ref int32, out Matrix, in []Matrix) []float64 {
	switch {
	case ref < k.Base[0]:
		return in[0].Row(int(ref))
	case ref < k.Base[1]:
		return in[1].Row(int(ref - k.Base[0]))
	}
	return out.Row(int(ref - k.Base[1]))
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
	first := make([]int32, int(k.Base[1])+m+1) // of each row's users, which are rows of k
	for _, ref := range k.Ref {
		first[ref+1]++
	}
	for i := range len(first) - 1 {
		first[i+1] += first[i]
	}
	users, next := make([]Entry, len(k.Ref)), slices.Clone(first)
	for r := range m {
		for e := k.From[r]; e < k.From[r+1]; e++ {
			ref := k.Ref[e]
			users[next[ref]] = Entry{int32(r), k.Coef[e]}
			next[ref]++
		}
	}
	used := 0 // rows of k by others
	for own := int(k.Base[1]); own < len(first)-1; own++ {
		if first[own] < first[own+1] {
			used++
		}
	}
	t := Affine{Base: [2]int32{int32(m), int32(m)}}
	t.Grow(used+int(k.Base[0]), used+len(k.Ref))
	whole := make([]int32, m) // where ḡ_r is
	var entries []Entry
	pull := func(ref int) {
		for _, u := range users[first[ref]:first[ref+1]] {
			entries = append(entries, Entry{whole[u.Ref], u.Coef})
		}
		t.Add(0, entries)
		entries = entries[:0]
	}
	for r := m - 1; r >= 0; r-- {
		whole[r] = int32(r)
		if own := int(k.Base[1]) + r; first[own] < first[own+1] {
			entries = append(entries, Entry{int32(r), 1})
			pull(own)
			whole[r] = int32(m + len(t.C) - 1)
		}
	}
	for i := range int(k.Base[0]) {
		pull(i)
	}
	return t
}
