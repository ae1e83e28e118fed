package graph

import (
	"fmt"

	"github.com/facetvi/facet/internal/vec"
)

// A mat is a matrix of rows × cols numbers, row-major: a row is one scalar
// expression, a column one sample. A matrix that is the same for all samples
// is static: it has one column, and kernels receive it spread to full width.
type mat struct {
	v          []float64
	rows, cols int
}

// A kernel is the arithmetic of a Gorgonia operation of this package. Its
// fields are its identity: two kernels of one type with equal fields are one, so
// every field is a number, a bool, or slices of them.
//
// eval fills out from in; all matrices have the columns of out. It never
// allocates, panics, or keeps a reference. Derivative kernels give 0 wherever
// the upstream gradient is 0, whatever else they would multiply it with: that
// keeps NaN and Inf of an untaken branch out of the gradient.
type kernel interface {
	eval(out mat, in []mat)
	outRows(in []int) int
	// diff returns the kernel and operands of the derivative with respect to
	// operand j, given the upstream gradient. A nil kernel stands for the
	// gradient itself.
	diff(j int, x diffArgs) (kernel, []operandRef)
}

// diffArgs tells diff the number of rows of each operand.
type diffArgs struct{ rows []int }

// An operandRef names an operand of a derivative kernel.
type operandRef int

const (
	refGrad operandRef = -1
	refOut  operandRef = -2
	// 0, 1, … are the operands of the forward kernel.
)

// noDiff is embedded by kernels that are never differentiated.
type noDiff struct{}

func (noDiff) diff(int, diffArgs) (kernel, []operandRef) {
	panic("graph: kernel without derivative")
}

// gather picks whole rows.
type gather struct{ Idx rowList }

func (k gather) outRows([]int) int { return len(k.Idx) }
func (k gather) eval(out mat, in []mat) {
	n := out.cols
	if first, ok := k.Idx.run(); ok {
		copy(out.v, in[0].v[first*n:])
		return
	}
	src := in[0].v
	if n == 1 {
		for r, i := range k.Idx {
			out.v[r] = src[i]
		}
		return
	}
	for r := 0; r < len(k.Idx); { // copy run by run
		end := r + 1
		for end < len(k.Idx) && k.Idx[end] == k.Idx[end-1]+1 {
			end++
		}
		copy(out.v[r*n:end*n], src[int(k.Idx[r])*n:])
		r = end
	}
}
func (k gather) diff(_ int, x diffArgs) (kernel, []operandRef) {
	return scatter{k.Idx, x.rows[0]}, []operandRef{refGrad}
}

// scatter is the transpose of gather: rows that were picked twice are summed.
type scatter struct {
	Idx  rowList
	Rows int
}

func (k scatter) outRows([]int) int { return k.Rows }
func (k scatter) eval(out mat, in []mat) {
	n := out.cols
	clear(out.v)
	for r, i := range k.Idx {
		row := out.v[int(i)*n:][:n]
		vec.Add(row, row, in[0].v[r*n:])
	}
}
func (k scatter) diff(int, diffArgs) (kernel, []operandRef) {
	return gather{k.Idx}, []operandRef{refGrad}
}

// A rowList is a list of row numbers.
type rowList []int32

// run reports whether the list is first, first+1, first+2, ….
func (l rowList) run() (first int, ok bool) {
	for i, r := range l {
		if r != l[0]+int32(i) {
			return 0, false
		}
	}
	if len(l) == 0 {
		return 0, true
	}
	return int(l[0]), true
}

// of is the list of the rows l of rows.
func (l rowList) of(rows rowList) rowList {
	out := make(rowList, len(l))
	for i, r := range l {
		out[i] = rows[r]
	}
	return out
}

// shift adds by to every row number, in place, and returns the list.
func (l rowList) shift(by int) rowList {
	for i := range l {
		l[i] += int32(by)
	}
	return l
}

// coefs are numbers for the rows of an operand: one for all rows, or one each.
type coefs []float64

func makeCoefs(v []float64) coefs {
	for _, x := range v {
		if x != v[0] {
			return v
		}
	}
	if len(v) == 0 {
		return coefs{0}
	}
	return v[:1:1]
}

func (c coefs) at(row int) float64 {
	if len(c) == 1 {
		return c[0]
	}
	return c[row]
}

// of are the numbers of the given rows.
func (c coefs) of(rows rowList) coefs {
	if len(c) == 1 {
		return c
	}
	out := make(coefs, len(rows))
	for i, r := range rows {
		out[i] = c[r]
	}
	return out
}

// span are the numbers of rows from … to−1.
func (c coefs) span(from, to int) coefs {
	if len(c) == 1 {
		return c
	}
	return c[from:to]
}

// times is the product row by row; nil is 1.
func (c coefs) times(d coefs) coefs {
	if d == nil {
		return c
	}
	out := make(coefs, max(len(c), len(d)))
	for r := range out {
		out[r] = c.at(r) * d.at(r)
	}
	return out
}

// lin is C + Σ_j Coef[j] ⊙ in[j].
type lin struct {
	C    coefs
	Coef []coefs
	K    int
}

func (k lin) outRows([]int) int { return k.K }
func (k lin) eval(out mat, in []mat) {
	if len(in) == 2 {
		k.evalTwo(out, in[0], in[1])
		return
	}
	for j, x := range in {
		c := coefs{0}
		if j == 0 {
			c = k.C
		}
		axpy(out, x, k.Coef[j], c, j == 0)
	}
}

// evalTwo is eval of two operands, in one pass.
func (k lin) evalTwo(out, x, y mat) {
	a, b := k.Coef[0], k.Coef[1]
	if len(k.C) == 1 && len(a) == 1 && len(b) == 1 {
		vec.Affine2(out.v, x.v, y.v, a[0], b[0], k.C[0])
		return
	}
	n := out.cols
	if n == 1 {
		for r := range out.v {
			out.v[r] = k.C.at(r) + a.at(r)*x.v[r] + b.at(r)*y.v[r]
		}
		return
	}
	for r := range out.rows {
		vec.Affine2(out.v[r*n:r*n+n], x.v[r*n:], y.v[r*n:], a.at(r), b.at(r), k.C.at(r))
	}
}

// axpy is out = c + a⊙x if first, else out += a⊙x.
func axpy(out, x mat, a, c coefs, first bool) {
	if len(a) == 1 && len(c) == 1 {
		axpyFlat(out.v, x.v, a[0], c[0], first)
		return
	}
	n := out.cols
	if n == 1 {
		for r := range out.v {
			if first {
				out.v[r] = c.at(r) + a.at(r)*x.v[r]
			} else {
				out.v[r] += a.at(r) * x.v[r]
			}
		}
		return
	}
	for r := range out.rows {
		axpyFlat(out.v[r*n:r*n+n], x.v[r*n:r*n+n], a.at(r), c.at(r), first)
	}
}

func axpyFlat(out, x []float64, a, c float64, first bool) {
	if first {
		vec.Affine(out, x, a, c)
	} else {
		vec.AddScaled(out, a, x)
	}
}

func (k lin) diff(j int, _ diffArgs) (kernel, []operandRef) {
	if len(k.Coef[j]) == 1 && k.Coef[j][0] == 1 {
		return nil, nil
	}
	return scale{k.Coef[j]}, []operandRef{refGrad}
}

// scale multiplies rows by numbers.
type scale struct{ Coef coefs }

func (k scale) outRows(in []int) int   { return in[0] }
func (k scale) eval(out mat, in []mat) { axpy(out, in[0], k.Coef, coefs{0}, true) }
func (k scale) diff(int, diffArgs) (kernel, []operandRef) {
	return k, []operandRef{refGrad}
}

// sel is in[1] where the sign in[0] is 1, else in[2].
type sel struct{}

func (sel) outRows(in []int) int { return in[1] }
func (sel) eval(out mat, in []mat) {
	vec.Select(out.v, in[0].v, in[1].v, in[2].v)
}

func (sel) diff(j int, _ diffArgs) (kernel, []operandRef) {
	return gate{At: float64(2 - j)}, []operandRef{0, refGrad}
}

// gate passes in[1] where the sign in[0] is At, 1 or 0; else it is 0.
type gate struct{ At float64 }

func (gate) outRows(in []int) int { return in[1] }
func (k gate) eval(out mat, in []mat) {
	vec.Gate(out.v, in[0].v, in[1].v, k.At)
}

func (k gate) diff(int, diffArgs) (kernel, []operandRef) {
	return k, []operandRef{0, refGrad}
}

// table looks up a number by the signs in: entry Σ_j sign_j·2ʲ of the table,
// which all rows share (len 2^m) or which each row has for itself.
type table struct {
	noDiff
	T []float64
	M int
}

func (k table) outRows(in []int) int { return in[0] }
func (k table) eval(out mat, in []mat) {
	size := 1 << k.M
	if len(k.T) == size {
		k.lookup(out.v, in, 0, k.T)
		return
	}
	n := out.cols
	for r := range out.rows {
		k.lookup(out.v[r*n:r*n+n], in, r*n, k.T[r*size:r*size+size])
	}
}

func (k table) lookup(out []float64, in []mat, from int, t []float64) {
	var signs [maxTableSigns][]float64
	for j, s := range in {
		signs[j] = s.v[from:][:len(out)]
	}
	vec.Lookup(out, signs[:len(in)], t)
}

// total is the sum of all numbers of a matrix: a scalar.
type total struct{}

func (total) outRows([]int) int { return 1 }
func (total) eval(out mat, in []mat) {
	out.v[0] = vec.Sum(in[0].v)
}
func (total) diff(_ int, x diffArgs) (kernel, []operandRef) {
	return fill{Rows: x.rows[0]}, []operandRef{refGrad, 0}
}

// fill is a matrix of the shape of in[1] with the scalar in[0] everywhere.
type fill struct {
	noDiff
	Rows int
}

func (k fill) outRows([]int) int { return k.Rows }
func (k fill) eval(out mat, in []mat) {
	for i := range out.v {
		out.v[i] = in[0].v[0]
	}
}

// plus is Gorgonia's own addition of gradients.
type plus struct{ noDiff }

func (plus) outRows(in []int) int { return in[0] }
func (plus) eval(out mat, in []mat) {
	vec.Add(out.v, in[0].v, in[1].v)
}

func kernelName(k kernel) string {
	name := fmt.Sprintf("%T", k)
	return name[len("graph."):]
}
