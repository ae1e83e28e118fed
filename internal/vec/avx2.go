package vec

// The vector loops are in assembly, for amd64. Elsewhere useAVX2 and useAVX512 are constants, and nothing calls these.

//go:noescape
func affineAVX2(dst, x *float64, n int, a, c float64)

//go:noescape
func addScaledAVX2(dst, x *float64, n int, a float64)

//go:noescape
func affine2AVX2(dst, x, y *float64, n int, a, b, c float64)

//go:noescape
func andStepAVX2(dst, x, y *float64, n int, b float64)

//go:noescape
func fillAVX2(dst *float64, n int, c float64)

//go:noescape
func addAVX2(dst, x, y *float64, n int)

//go:noescape
func add3AVX2(dst, x, y, z *float64, n int)

//go:noescape
func mulAVX2(dst, x, y *float64, n int)

//go:noescape
func divAVX2(dst, x, y *float64, n int)

//go:noescape
func largerAVX2(dst, apart, x, y *float64, n int)

//go:noescape
func firstExitAVX2(x, m *float64, n, to, rest int, a, b float64) (k int, ago float64)

//go:noescape
func takeAVX2(dst *float64, rows int, x *float64, stride, r, c int)

//go:noescape
func transposeAVX2(dst *float64, stride int, x *float64, n, r, c int)

//go:noescape
func polesAVX2(w, inverse, x *float64, n int)

//go:noescape
func addMulAVX2(dst, x, y *float64, n int)

//go:noescape
func gatedMulAVX2(dst, v, x *float64, n int, a float64)

//go:noescape
func selectAVX2(dst, s, a, b *float64, n int)

//go:noescape
func mulRowsAVX2(dst, x, y *float64, n, rows int, rx, ry *int32)

//go:noescape
func gatedMulRowsAVX2(dst, v, x *float64, n, rows int, rv, rx *int32, a float64)

//go:noescape
func selectRowsAVX2(dst, s, a, b *float64, n, rows int, rs, ra, rb *int32)

//go:noescape
func lookup1AVX2(dst, s0 *float64, n int, t *[8]float64)

//go:noescape
func lookup2AVX2(dst, s0, s1 *float64, n int, t *[8]float64)

//go:noescape
func lookup3AVX2(dst, s0, s1, s2 *float64, n int, t *[8]float64)

//go:noescape
func gateAVX2(dst, s, v *float64, n int, at float64)

//go:noescape
func addGateAVX2(dst, s, v *float64, n int, at float64)

//go:noescape
func stepAVX2(dst, x *float64, n int, a, c float64)

//go:noescape
func sumAVX2(x *float64, n int) float64

//go:noescape
func sumRowsAVX2(dst, x *float64, rows *int32, n int)

//go:noescape
func addSumDotRowsAVX2(sum, dot, x, y *float64, rows, n int)

//go:noescape
func affineRowsAVX2(dst, x *float64, rows, n int, a, c *float64)

//go:noescape
func stepRowsAVX2(dst, x *float64, n int, p *StepRow, rows int)

//go:noescape
func addSparseAVX2(dst, x *float64, n, to int, row, col *int32, w *float64, wstep, entries int)

//go:noescape
func addDotsAVX2(dst, x, y *float64, n int, row, col *int32, entries int)

//go:noescape
func sparseAVX2(dst, a, b *float64, split, n, to, rows int, c *float64, from, ref *int32, w *float64)

//go:noescape
func expAVX2(dst, x *float64, n int, t *[12][4]float64)

//go:noescape
func expApartAVX2(dst, sum, x, from *float64, n int, t *[12][4]float64)

//go:noescape
func logAVX2(dst, x *float64, n int, t *[19][4]float64) (done int)

//go:noescape
func log1pAVX2(dst, x *float64, n int, t *[19][4]float64)

//go:noescape
func normalsAVX2(dst *float64, tail *[16]float64, blocks int, key0, key1 uint64, t *[31][4]uint64)

//go:noescape
func normalsAVX512(dst *float64, tail *[16]float64, blocks int, key0, key1 uint64, t *[31][4]uint64)
