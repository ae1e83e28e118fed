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
