package vec

import "unsafe"

// Rows are the rows of one or two matrices of equal width, numbered through: the
// first Split are those of A, the others those of B.
type Rows struct {
	A, B  []float64
	Split int32
}

// Sparse is a sparse matrix times m: row r of dst, of n numbers, is c[r] plus
// w[e]·row ref[e] for the entries e from from[r] to from[r+1]−1, in order. Rows
// are made one after another, so m may hold those of dst that come before. That
// the rows exist is not checked.
func (m Rows) Sparse(dst []float64, n int, c []float64, from, ref []int32, w []float64) {
	dst, from, w = dst[:len(c)*n], from[:len(c)+1], w[:len(ref)]
	if useAVX2 && n > 0 && n%4 == 0 && len(c) > 0 {
		_ = ref[:from[len(c)]]
		sparseAVX2(&dst[0], unsafe.SliceData(m.A), unsafe.SliceData(m.B), int(m.Split), n, len(c),
			&c[0], &from[0], unsafe.SliceData(ref), unsafe.SliceData(w))
		return
	}
	for r, v := range c {
		m.combine(dst[r*n:][:n], false, v, ref[from[r]:from[r+1]], w[from[r]:from[r+1]])
	}
}

// AddCombine is dst += Σ_e w[e]·row ref[e], summed in order. w has a number for
// each entry, or one for all. Rows have the length of dst, which must not be
// one of them. That the rows exist is not checked.
func (m Rows) AddCombine(dst []float64, ref []int32, w []float64) {
	m.combine(dst, true, 0, ref, w)
}

// combine is AddCombine if add, and else sets dst to c + Σ_e w[e]·row ref[e].
func (m Rows) combine(dst []float64, add bool, c float64, ref []int32, w []float64) {
	if len(ref) == 0 {
		if !add {
			Fill(dst, c)
		}
		return
	}
	n, step := len(dst), 1
	if len(w) == 1 {
		step = 0
	}
	i := 0
	if useAVX2 && n >= wide {
		i = n &^ 3
		_ = w[(len(ref)-1)*step]
		combineAVX2(&dst[0], unsafe.SliceData(m.A), unsafe.SliceData(m.B), int(m.Split),
			&ref[0], len(ref), &w[0], step, n, i, add, c)
	}
	for ; i < n; i++ {
		sum := c
		if add {
			sum = dst[i]
		}
		for e, r := range ref {
			x := 0.0
			if r < m.Split {
				x = m.A[int(r)*n+i]
			} else {
				x = m.B[int(r-m.Split)*n+i]
			}
			sum += float64(w[e*step] * x)
		}
		dst[i] = sum
	}
}

// Fill is dst = c.
func Fill(dst []float64, c float64) {
	for i := range dst {
		dst[i] = c
	}
}

// AffineRows is row r of dst = c[r] + a[r]·row r of x. Rows have n numbers.
func AffineRows(dst, x []float64, n int, a, c []float64) {
	a, dst, x = a[:len(c)], dst[:len(c)*n], x[:len(c)*n]
	if useAVX2 && n > 0 && n%4 == 0 && len(c) > 0 {
		affineRowsAVX2(&dst[0], &x[0], len(c), n, &a[0], &c[0])
		return
	}
	for r := range c {
		Affine(dst[r*n:][:n], x[r*n:], a[r], c[r])
	}
}

// A StepRow is 1 where C + A·row Row is positive, else 0.
type StepRow struct {
	A, C float64
	Row  int
}

// StepRows writes the rows p of x to dst. Rows have n numbers.
func StepRows(dst, x []float64, n int, p []StepRow) {
	for _, s := range p {
		_ = x[s.Row*n : s.Row*n+n]
	}
	dst = dst[:len(p)*n]
	if useAVX2 && n > 0 && n%4 == 0 && len(p) > 0 {
		stepRowsAVX2(&dst[0], &x[0], n, &p[0], len(p))
		return
	}
	for r, s := range p {
		row, from := dst[r*n:][:n], x[s.Row*n:][:n]
		if n == 1 {
			row[0] = Sign(s.C + float64(s.A*from[0]))
			continue
		}
		Step(row, from, s.A, s.C)
	}
}
