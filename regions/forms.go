package regions

import "github.com/facetvi/facet/internal/vec"

// Forms are affine forms side by side, as one sparse matrix: form k is Φ_k(z) = Const[k] + Σ_e Coef[e]·z[Index[e]] over the entries
// From[k] ≤ e < From[k+1], in the order of its hyperplane's.
type Forms struct {
	Const, Coef []float64
	From, Index []int32
}

// Add appends the form of h.
func (f *Forms) Add(h Hyperplane) {
	if f.From == nil {
		f.From = []int32{0}
	}
	for _, i := range h.Index {
		f.Index = append(f.Index, int32(i))
	}
	f.Const, f.Coef, f.From = append(f.Const, h.Const), append(f.Coef, h.Coef...), append(f.From, int32(len(f.Index)))
}

// AtBatch writes Φ at n points to dst, forms × n. The points are the columns of z, coordinates × n. Each number is that of
// [Hyperplane.At], bit for bit.
func (f *Forms) AtBatch(dst, z []float64, n int) {
	if len(f.Const) > 0 {
		vec.Rows{A: z, Split: int32(len(z) / n)}.Sparse(dst, n, f.Const, f.From, f.Index, f.Coef)
	}
}
