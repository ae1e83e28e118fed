package kernel

import "github.com/facetvi/facet/internal/vec"

// A Matrix is Rows × Cols numbers, row-major: a row is one scalar expression, a
// column one sample. A matrix that is the same for all samples has one column;
// kernels receive it spread to all of them.
type Matrix struct {
	Data       []float64
	Rows, Cols int
}

// NewMatrix returns a matrix of zeros.
func NewMatrix(rows, cols int) Matrix { return Matrix{make([]float64, rows*cols), rows, cols} }

// Column is the matrix of one column with the numbers v.
func Column(v []float64) Matrix { return Matrix{v, len(v), 1} }

// Row is row r.
func (m Matrix) Row(r int) []float64 { return m.Data[r*m.Cols : r*m.Cols+m.Cols] }

// Span are the n rows from row first on.
func (m Matrix) Span(first, n int) Matrix {
	return Matrix{m.Data[first*m.Cols : (first+n)*m.Cols], n, m.Cols}
}

// SetConstant sets each number of a row to its coefficient.
func (m Matrix) SetConstant(c Coefs) {
	if m.Cols == 1 && len(c) == m.Rows {
		copy(m.Data, c)
		return
	}
	for r := range m.Rows {
		vec.Fill(m.Row(r), c.At(r))
	}
}

// AddScaled is m += a ⊙ x.
func (m Matrix) AddScaled(a Coefs, x Matrix) {
	switch {
	case len(a) == 1:
		vec.AddScaled(m.Data, a[0], x.Data)
	case m.Cols == 1:
		for r := range m.Data {
			m.Data[r] += float64(a[r] * x.Data[r])
		}
	default:
		for r := range m.Rows {
			vec.AddScaled(m.Row(r), a[r], x.Row(r))
		}
	}
}

// setAffine is out = c + a ⊙ x.
func setAffine(out, x Matrix, a, c Coefs) {
	switch {
	case len(a) == 1 && len(c) == 1:
		vec.Affine(out.Data, x.Data, a[0], c[0])
	case out.Cols == 1:
		for r := range out.Data {
			out.Data[r] = c.At(r) + float64(a.At(r)*x.Data[r])
		}
	default:
		for r := range out.Rows {
			vec.Affine(out.Row(r), x.Row(r), a.At(r), c.At(r))
		}
	}
}

// A RowList is a list of row numbers.
type RowList []int32

// RowRange lists the n rows from first on.
func RowRange(first, n int) RowList {
	l := make(RowList, n)
	for i := range l {
		l[i] = int32(first + i)
	}
	return l
}

// Run reports whether the list is first, first+1, first+2, ….
func (l RowList) Run() (first int, ok bool) {
	if len(l) == 0 {
		return 0, true
	}
	for i, r := range l {
		if r != l[0]+int32(i) {
			return 0, false
		}
	}
	return int(l[0]), true
}

// Of lists rows[l[0]], rows[l[1]], ….
func (l RowList) Of(rows RowList) RowList {
	out := make(RowList, len(l))
	for i, r := range l {
		out[i] = rows[r]
	}
	return out
}

// Coefs are the coefficients of rows: one for all rows, or one each.
type Coefs []float64

// NewCoefs returns the coefficients v, as one if they are equal. None are 0.
func NewCoefs(v []float64) Coefs {
	if len(v) == 0 {
		return Coefs{0}
	}
	for _, x := range v {
		if x != v[0] {
			return v
		}
	}
	return v[:1:1]
}

// At is the coefficient of a row.
func (c Coefs) At(row int) float64 {
	if len(c) == 1 {
		return c[0]
	}
	return c[row]
}

// Of are the coefficients of the given rows.
func (c Coefs) Of(rows RowList) Coefs {
	if len(c) == 1 {
		return c
	}
	out := make(Coefs, len(rows))
	for i, r := range rows {
		out[i] = c[r]
	}
	return out
}

// Times is the product row by row. A nil d is 1.
func (c Coefs) Times(d Coefs) Coefs {
	if d == nil {
		return c
	}
	out := make(Coefs, max(len(c), len(d)))
	for r := range out {
		out[r] = c.At(r) * d.At(r)
	}
	return out
}

// part is how many columns a kernel has room for at a time.
const part = 64
