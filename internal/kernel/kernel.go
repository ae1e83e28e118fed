package kernel

import "github.com/facetvi/facet/internal/vec"

// A Kernel is the arithmetic of an operation. Its fields are its identity: two
// kernels of one type with equal fields are one, so every field is a number, a
// bool, or a slice or struct of them.
type Kernel interface {
	// Eval fills out from in. All matrices have the columns of out; none is out.
	// It never allocates, panics, or keeps a reference.
	Eval(out Matrix, in []Matrix)
}

// A shaped kernel has a result with another number of rows than operand 0.
type shaped interface {
	outRows(in []int) int // given the rows of the operands
}

// A differentiable kernel has a derivative. Kernels that are themselves
// derivatives need none: a graph is differentiated once.
type differentiable interface {
	// diff is the derivative with respect to operand j, given the rows of the
	// operands.
	diff(j int, rows []int) derivative
}

// A derivative is a kernel with its operands, among them the upstream gradient
// g. It is 0 wherever g is 0. Without a kernel it is g itself.
type derivative struct {
	k  Kernel
	of []operand
}

// An operand of a derivative is operand 0, 1, … of the forward kernel, or one
// of these.
type operand int

const (
	upstream operand = -1 // the upstream gradient
	result   operand = -2 // the result of the forward kernel
)

// Gather picks rows.
type Gather struct{ Idx RowList }

func (k Gather) outRows([]int) int { return len(k.Idx) }

// Eval implements [Kernel].
func (k Gather) Eval(out Matrix, in []Matrix) {
	n, src := out.Cols, in[0].Data
	if first, ok := k.Idx.Run(); ok {
		copy(out.Data, src[first*n:])
		return
	}
	if n == 1 {
		for r, i := range k.Idx {
			out.Data[r] = src[i]
		}
		return
	}
	for r := 0; r < len(k.Idx); { // copy run by run
		end := r + 1
		for end < len(k.Idx) && k.Idx[end] == k.Idx[end-1]+1 {
			end++
		}
		copy(out.Data[r*n:end*n], src[int(k.Idx[r])*n:])
		r = end
	}
}

func (k Gather) diff(_ int, rows []int) derivative {
	return derivative{Scatter{k.Idx, rows[0]}, []operand{upstream}}
}

// Head is the first rows of a result whose other rows are working rows for its derivative.
type Head struct{ Rows int }

func (k Head) outRows([]int) int { return k.Rows }

// Eval implements [Kernel].
func (k Head) Eval(out Matrix, in []Matrix) { copy(out.Data, in[0].Data) }

func (Head) diff(int, []int) derivative { return derivative{} }

// Scatter is the transpose of Gather: row r is added to row Idx[r] of Rows rows.
type Scatter struct {
	Idx  RowList
	Rows int
}

func (k Scatter) outRows([]int) int { return k.Rows }

// Eval implements [Kernel].
func (k Scatter) Eval(out Matrix, in []Matrix) {
	clear(out.Data)
	for r, i := range k.Idx {
		row := out.Row(int(i))
		vec.Add(row, row, in[0].Row(r))
	}
}

// WeightedSum is C + Σ_j Coef[j] ⊙ in[j].
type WeightedSum struct {
	C    Coefs
	Coef []Coefs
}

// Eval implements [Kernel].
func (k WeightedSum) Eval(out Matrix, in []Matrix) {
	if len(in) == 2 {
		k.evalTwo(out, in[0], in[1])
		return
	}
	setAffine(out, in[0], k.Coef[0], k.C)
	for j, x := range in[1:] {
		out.AddScaled(k.Coef[j+1], x)
	}
}

// evalTwo is Eval of two operands, in one pass.
func (k WeightedSum) evalTwo(out, x, y Matrix) {
	a, b := k.Coef[0], k.Coef[1]
	if len(k.C) == 1 && len(a) == 1 && len(b) == 1 {
		vec.Affine2(out.Data, x.Data, y.Data, a[0], b[0], k.C[0])
		return
	}
	if out.Cols == 1 {
		for r := range out.Data {
			out.Data[r] = k.C.At(r) + float64(a.At(r)*x.Data[r]) + float64(b.At(r)*y.Data[r])
		}
		return
	}
	for r := range out.Rows {
		vec.Affine2(out.Row(r), x.Row(r), y.Row(r), a.At(r), b.At(r), k.C.At(r))
	}
}

func (k WeightedSum) diff(j int, _ []int) derivative {
	if len(k.Coef[j]) == 1 && k.Coef[j][0] == 1 {
		return derivative{}
	}
	return derivative{Scale{k.Coef[j]}, []operand{upstream}}
}

// Scale multiplies row r by Coef[r].
type Scale struct{ Coef Coefs }

// Eval implements [Kernel].
func (k Scale) Eval(out Matrix, in []Matrix) { setAffine(out, in[0], k.Coef, Coefs{0}) }

// Plus is Gorgonia's own addition, which gorgonia.Grad sums gradients with.
type Plus struct{}

// Eval implements [Kernel].
func (Plus) Eval(out Matrix, in []Matrix) { vec.Add(out.Data, in[0].Data, in[1].Data) }
