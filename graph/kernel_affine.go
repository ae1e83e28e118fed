package graph

import (
	"slices"

	"github.com/facetvi/facet/internal/vec"
)

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

// add appends a row.
func (k *affine) add(c float64, entries []entry) {
	if len(k.From) == 0 {
		k.From = []int32{0}
	}
	k.C = append(k.C, c)
	for _, e := range entries {
		k.Ref, k.Coef = append(k.Ref, e.ref), append(k.Coef, e.coef)
	}
	k.From = append(k.From, int32(len(k.Ref)))
}

// An entry is one summand of an affine row.
type entry struct {
	ref  int32
	coef float64
}

func (k affine) outRows([]int) int { return len(k.C) }

// source returns the row that Ref names.
func (k *affine) source(ref int32, out mat, in []mat) []float64 {
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
	if k.Base[0] < k.Base[1] {
		k.evalThree(out, in)
		return
	}
	if n == 1 {
		k.evalOne(out.v, in[0].v)
		return
	}
	vec.Rows{A: in[0].v, B: out.v, Split: k.Base[0]}.Sparse(out.v, n, k.C, k.From, k.Ref, k.Coef)
}

// evalThree is eval with rows of operand 1.
func (k affine) evalThree(out mat, in []mat) {
	n := out.cols
	for r, c := range k.C {
		row := out.v[r*n : r*n+n]
		for i := range row {
			row[i] = c
		}
		for e := k.From[r]; e < k.From[r+1]; e++ {
			vec.AddScaled(row, k.Coef[e], k.source(k.Ref[e], out, in))
		}
	}
}

func (k affine) evalOne(out, z []float64) {
	from := int32(0)
	for r, sum := range k.C {
		to := k.From[r+1]
		refs, coef := k.Ref[from:to], k.Coef[from:to]
		for e, ref := range refs {
			if ref < k.Base[0] {
				sum += coef[e] * z[ref]
			} else {
				sum += coef[e] * out[ref-k.Base[0]]
			}
		}
		out[r] = sum
		from = to
	}
}

// diff is for operand 0 only: operand 1 is an input of programs that are never
// differentiated. The gradient of operand 0 is the last rows of the result.
func (k affine) diff(int, diffArgs) (kernel, []operandRef) {
	return k.transpose(), []operandRef{refGrad}
}

// transpose pulls the gradient of the rows of k back to operand 0. It is affine
// in the gradient, from the last row of k to the first: working rows for the
// rows of k that others use, and then those of operand 0.
func (k affine) transpose() affine {
	m := len(k.C)
	users := make([][]entry, int(k.Base[1])+m) // of each row, as rows of k
	for r := range m {
		for e := k.From[r]; e < k.From[r+1]; e++ {
			users[k.Ref[e]] = append(users[k.Ref[e]], entry{int32(r), k.Coef[e]})
		}
	}
	t := affine{Base: [2]int32{int32(m), int32(m)}}
	at := make([]int32, m) // the whole gradient of row r of k
	renumber := func(list []entry) []entry {
		for i := range list {
			list[i].ref = at[list[i].ref]
		}
		return list
	}
	for r := m - 1; r >= 0; r-- {
		at[r] = int32(r) // the upstream gradient itself
		if own := users[int(k.Base[1])+r]; len(own) > 0 {
			t.add(0, slices.Insert(renumber(own), 0, entry{int32(r), 1}))
			at[r] = int32(m + len(t.C) - 1)
		}
	}
	for i := range k.Base[0] {
		t.add(0, renumber(users[i]))
	}
	return t
}
