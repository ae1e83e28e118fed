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
	_ = ref[:from[len(c)]]
	to := 0
	if useAVX2 && n >= wide && len(c) > 0 {
		to = n &^ 3
		sparseAVX2(&dst[0], unsafe.SliceData(m.A), unsafe.SliceData(m.B), int(m.Split), n, to, len(c),
			&c[0], &from[0], unsafe.SliceData(ref), unsafe.SliceData(w))
	}
	for i := to; i < n; i++ {
		for r, sum := range c {
			for e := from[r]; e < from[r+1]; e++ {
				x := 0.0
				if k := ref[e]; k < m.Split {
					x = m.A[int(k)*n+i]
				} else {
					x = m.B[int(k-m.Split)*n+i]
				}
				sum += float64(w[e] * x)
			}
			dst[r*n+i] = sum
		}
	}
}

// AddSparse adds a sparse matrix times x to dst: entry e is w[e]·row col[e] of x,
// for row row[e] of dst, in order. w has a number for each entry, or one for all.
// Rows have n numbers. dst may be x, if no entry is on the diagonal. That the rows
// exist is not checked.
func AddSparse(dst, x []float64, n int, row, col []int32, w []float64) {
	if len(col) == 0 {
		return
	}
	row, step := row[:len(col)], 1
	if len(w) == 1 {
		step = 0
	}
	_ = w[(len(col)-1)*step]
	to := 0
	if useAVX2 && n >= wide {
		to = n &^ 3
		addSparseAVX2(unsafe.SliceData(dst), unsafe.SliceData(x), n, to, &row[0], &col[0], &w[0], step, len(col))
	}
	for i := to; i < n; i++ {
		for e := 0; e < len(col); { // run by run of one row
			at := int(row[e])*n + i
			sum := dst[at]
			for r := row[e]; e < len(col) && row[e] == r; e++ {
				sum += float64(w[e*step] * x[int(col[e])*n+i])
			}
			dst[at] = sum
		}
	}
}

// sameRow are entries of row 0.
var sameRow [64]int32

// AddRows is dst += Σ_e w[e]·row ref[e] of x, summed in order, with a w for each
// entry. Rows have the length of dst, which must not be one of them. That the rows
// exist is not checked.
func AddRows(dst, x []float64, ref []int32, w []float64) {
	for w = w[:len(ref)]; len(ref) > 0; {
		k := min(len(ref), len(sameRow))
		AddSparse(dst, x, len(dst), sameRow[:k], ref[:k], w[:k:k])
		ref, w = ref[k:], w[k:]
	}
}

// AddDots is dst[e] += Σ row row[e] of x · row col[e] of y, whose rows have n
// numbers. That the rows exist is not checked.
func AddDots(dst, x, y []float64, n int, row, col []int32) {
	row, col = row[:len(dst)], col[:len(dst)]
	if useAVX2 && n > 0 && n%lanes == 0 && len(dst) > 0 {
		addDotsAVX2(&dst[0], &x[0], &y[0], n, &row[0], &col[0], len(dst))
		return
	}
	whole := n &^ (lanes - 1)
	for e := range dst {
		x, y := x[int(row[e])*n:][:n], y[int(col[e])*n:][:n]
		sum := 0.0
		if whole > 0 {
			sum = dotLanes(x[:whole], y[:whole])
		}
		for i := whole; i < n; i++ {
			sum += float64(x[i] * y[i])
		}
		dst[e] += sum
	}
}
