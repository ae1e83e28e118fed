package vec

// Fill is dst = c.
func Fill(dst []float64, c float64) {
	i := quads(len(dst))
	if i > 0 {
		fillAVX2(&dst[0], i, c)
	}
	for ; i < len(dst); i++ {
		dst[i] = c
	}
}

// MulRows is row r of dst = row rx[r] of x · row ry[r] of y. Rows have n numbers. That those of x and y exist is not checked.
func MulRows(dst, x, y []float64, n int, rx, ry []int32) {
	dst, ry = dst[:len(rx)*n], ry[:len(rx)]
	if useAVX2 && n > 0 && n%4 == 0 && len(rx) > 0 {
		mulRowsAVX2(&dst[0], &x[0], &y[0], n, len(rx), &rx[0], &ry[0])
		return
	}
	for r, i := range rx {
		Mul(dst[r*n:][:n], x[int(i)*n:], y[int(ry[r])*n:])
	}
}

// GatedMulRows is row r of dst = GatedMul of row rg[r] of g and row rx[r] of x, as MulRows is of Mul.
func GatedMulRows(dst, g, x []float64, n int, rg, rx []int32, a float64) {
	dst, rx = dst[:len(rg)*n], rx[:len(rg)]
	if useAVX2 && n > 0 && n%4 == 0 && len(rg) > 0 {
		gatedMulRowsAVX2(&dst[0], &g[0], &x[0], n, len(rg), &rg[0], &rx[0], a)
		return
	}
	for r, i := range rg {
		GatedMul(dst[r*n:][:n], g[int(i)*n:], x[int(rx[r])*n:], a)
	}
}

// SelectRows is row r of dst = Select by row rs[r] of s of row ra[r] of a and row rb[r] of b, as MulRows is of Mul.
func SelectRows(dst, s, a, b []float64, n int, rs, ra, rb []int32) {
	dst, ra, rb = dst[:len(rs)*n], ra[:len(rs)], rb[:len(rs)]
	if useAVX2 && n > 0 && n%4 == 0 && len(rs) > 0 {
		selectRowsAVX2(&dst[0], &s[0], &a[0], &b[0], n, len(rs), &rs[0], &ra[0], &rb[0])
		return
	}
	for r, i := range rs {
		Select(dst[r*n:][:n], s[int(i)*n:], a[int(ra[r])*n:], b[int(rb[r])*n:])
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
