package vec

import "math"

// wide is the length from which a vector loop pays for its call.
const wide = 4

// quads is how many of n numbers a vector loop handles.
func quads(n int) int {
	if useAVX2 && n >= wide {
		return n &^ 3
	}
	return 0
}

// Affine is dst = c + a·x.
func Affine(dst, x []float64, a, c float64) {
	x = x[:len(dst)]
	i := quads(len(dst))
	if i > 0 {
		affineAVX2(&dst[0], &x[0], i, a, c)
	}
	for ; i < len(dst); i++ {
		dst[i] = c + float64(a*x[i])
	}
}

// Affine2 is dst = c + a·x + b·y.
func Affine2(dst, x, y []float64, a, b, c float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	i := quads(len(dst))
	if i > 0 {
		affine2AVX2(&dst[0], &x[0], &y[0], i, a, b, c)
	}
	for ; i < len(dst); i++ {
		dst[i] = c + float64(a*x[i]) + float64(b*y[i])
	}
}

// AndStep leaves dst as it is where x + b·y is positive, and makes it 0 elsewhere.
func AndStep(dst, x, y []float64, b float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	i := quads(len(dst))
	if i > 0 {
		andStepAVX2(&dst[0], &x[0], &y[0], i, b)
	}
	for ; i < len(dst); i++ {
		if !(x[i]+float64(b*y[i]) > 0) {
			dst[i] = 0
		}
	}
}

// AddScaled is dst += a·x.
func AddScaled(dst []float64, a float64, x []float64) {
	x = x[:len(dst)]
	i := quads(len(dst))
	if i > 0 {
		addScaledAVX2(&dst[0], &x[0], i, a)
	}
	for ; i < len(dst); i++ {
		dst[i] += float64(a * x[i])
	}
}

// Add is dst = x + y.
func Add(dst, x, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	i := quads(len(dst))
	if i > 0 {
		addAVX2(&dst[0], &x[0], &y[0], i)
	}
	for ; i < len(dst); i++ {
		dst[i] = x[i] + y[i]
	}
}

// Add3 is dst = x + y + z.
func Add3(dst, x, y, z []float64) {
	x, y, z = x[:len(dst)], y[:len(dst)], z[:len(dst)]
	i := quads(len(dst))
	if i > 0 {
		add3AVX2(&dst[0], &x[0], &y[0], &z[0], i)
	}
	for ; i < len(dst); i++ {
		dst[i] = x[i] + y[i] + z[i]
	}
}

// Mul is dst = x·y.
func Mul(dst, x, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	i := quads(len(dst))
	if i > 0 {
		mulAVX2(&dst[0], &x[0], &y[0], i)
	}
	for ; i < len(dst); i++ {
		dst[i] = x[i] * y[i]
	}
}

// Div is dst = x/y.
func Div(dst, x, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	i := quads(len(dst))
	if i > 0 {
		divAVX2(&dst[0], &x[0], &y[0], i)
	}
	for ; i < len(dst); i++ {
		dst[i] = x[i] / y[i]
	}
}

// Larger is dst = max(x, y), NaN where one is, and apart = −|x − y|, 0 where they are the same, be it −∞.
func Larger(dst, apart, x, y []float64) {
	apart, x, y = apart[:len(dst)], x[:len(dst)], y[:len(dst)]
	i := quads(len(dst))
	if i > 0 {
		largerAVX2(&dst[0], &apart[0], &x[0], &y[0], i)
	}
	for ; i < len(dst); i++ {
		a, b, by := x[i], y[i], 0.0
		if a != b {
			by = -math.Abs(a - b)
		}
		if dst[i], apart[i] = b, by; a > b || a != a {
			dst[i] = a
		}
	}
}

// FirstExit is about n numbers, their speeds, n lower bounds and n upper ones, which are in x one after the other, and about those that follow in x. It adds a·m
// to the numbers, and to those that follow what follows in m, and b·m to the speeds. Of the numbers that have got beyond their bounds it is the first to have left
// them, and how long ago that is; −1 if none has.
func FirstExit(x, m []float64, n int, a, b float64) (k int, ago float64) {
	i, rest := quads(n), 0
	x, k = x[:3*n+len(m)], -1
	if i > 0 {
		rest = quads(len(m) - n)
		k, ago = firstExitAVX2(&x[0], &m[0], n, i, rest, a, b)
	}
	for ; i < n; i++ {
		x[i] += float64(a * m[i])
		x[n+i] += float64(b * m[i])
		speed, bound := x[n+i], x[3*n+i]
		if math.Signbit(speed) {
			bound = x[2*n+i]
		}
		if by := (x[i] - bound) / speed; by > ago && speed != 0 {
			k, ago = i, by
		}
	}
	if n+rest < len(m) {
		AddScaled(x[4*n+rest:], a, m[n+rest:])
	}
	return k, ago
}

// Transpose writes the columns of x, rows × n, to dst, each so many numbers behind the one before.
func Transpose(dst []float64, stride int, x []float64, rows, n int) {
	dst, x = dst[:(n-1)*stride+rows], x[:rows*n]
	r, c := quads(rows), quads(n)
	if r > 0 && c > 0 {
		transposeAVX2(&dst[0], stride, &x[0], n, r, c)
	}
	for k := range rows {
		from := 0
		if k < r {
			from = c
		}
		for i := from; i < n; i++ {
			dst[i*stride+k] = x[k*n+i]
		}
	}
}

// Take adds the columns of x, rows × n, each row so many numbers behind the one before, to the rows of dst, n × rows, and leaves 0.
func Take(dst, x []float64, stride, rows, n int) {
	dst, x = dst[:n*rows], x[:(rows-1)*stride+n]
	r, c := quads(rows), quads(n)
	if r > 0 && c > 0 {
		takeAVX2(&dst[0], rows, &x[0], stride, r, c)
	}
	for k := range rows {
		from := 0
		if k < r {
			from = c
		}
		for i := from; i < n; i++ {
			dst[i*rows+k] += x[k*stride+i]
			x[k*stride+i] = 0
		}
	}
}

// Poles is the w > 0 with 1/w − w = x, and 1/w.
func Poles(w, inverse, x []float64) {
	inverse, x = inverse[:len(w)], x[:len(w)]
	i := quads(len(w))
	if i > 0 {
		polesAVX2(&w[0], &inverse[0], &x[0], i)
	}
	for ; i < len(w); i++ {
		w[i], inverse[i] = PoleOf(x[i])
	}
}

// PoleOf is Poles of one number.
func PoleOf(x float64) (w, inverse float64) {
	large := 0.5 * (math.Sqrt(float64(x*x)+4) + math.Abs(x))
	if small := 1 / large; math.Signbit(x) {
		return large, small
	} else {
		return small, large
	}
}

// AddMul is dst += x·y.
func AddMul(dst, x, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	i := quads(len(dst))
	if i > 0 {
		addMulAVX2(&dst[0], &x[0], &y[0], i)
	}
	for ; i < len(dst); i++ {
		dst[i] += float64(x[i] * y[i])
	}
}

// GatedMul is dst = g·(a·x), and 0 where g is 0, whatever x is there.
func GatedMul(dst, g, x []float64, a float64) {
	g, x = g[:len(dst)], x[:len(dst)]
	i := quads(len(dst))
	if i > 0 {
		gatedMulAVX2(&dst[0], &g[0], &x[0], i, a)
	}
	for ; i < len(dst); i++ {
		y := 0.0
		if g[i] != 0 {
			y = g[i] * (a * x[i])
		}
		dst[i] = y
	}
}

// Select is dst = a where the sign s is 1, else b.
func Select(dst, s, a, b []float64) {
	s, a, b = s[:len(dst)], a[:len(dst)], b[:len(dst)]
	i := quads(len(dst))
	if i > 0 {
		selectAVX2(&dst[0], &s[0], &a[0], &b[0], i)
	}
	for ; i < len(dst); i++ {
		mask := -bit(s[i])
		dst[i] = math.Float64frombits(math.Float64bits(a[i])&mask | math.Float64bits(b[i])&^mask)
	}
}

// bit is 1 for 1.0 (0x3FF0…) and 0 for 0.0.
func bit(s float64) uint64 { return math.Float64bits(s) >> 61 & 1 }

// Lookup is dst = t[Σ_j s[j]·2ʲ] for signs s[0], s[1], …; t has 2^len(s) numbers.
func Lookup(dst []float64, s [][]float64, t []float64) {
	i := 0
	if useAVX2 && len(dst) >= wide && len(s) >= 1 && len(s) <= 3 {
		i = len(dst) &^ 3
		var t8 [8]float64
		copy(t8[:], t)
		switch s0 := s[0][:len(dst)]; len(s) {
		case 1:
			lookup1AVX2(&dst[0], &s0[0], i, &t8)
		case 2:
			lookup2AVX2(&dst[0], &s0[0], &s[1][:len(dst)][0], i, &t8)
		case 3:
			lookup3AVX2(&dst[0], &s0[0], &s[1][:len(dst)][0], &s[2][:len(dst)][0], i, &t8)
		}
	}
	for ; i < len(dst); i++ {
		at := uint64(0)
		for j := range s {
			at |= bit(s[j][i]) << j
		}
		dst[i] = t[at]
	}
}

// Gate is dst = g where the sign s is at (1 or 0), else 0.
func Gate(dst, s, g []float64, at float64) {
	s, g = s[:len(dst)], g[:len(dst)]
	i := quads(len(dst))
	if i > 0 {
		gateAVX2(&dst[0], &s[0], &g[0], i, at)
	}
	for flip := bit(at) - 1; i < len(dst); i++ {
		dst[i] = math.Float64frombits(math.Float64bits(g[i]) & (-bit(s[i]) ^ flip))
	}
}

// AddGate is dst += Gate.
func AddGate(dst, s, g []float64, at float64) {
	s, g = s[:len(dst)], g[:len(dst)]
	i := quads(len(dst))
	if i > 0 {
		addGateAVX2(&dst[0], &s[0], &g[0], i, at)
	}
	for flip := bit(at) - 1; i < len(dst); i++ {
		dst[i] += math.Float64frombits(math.Float64bits(g[i]) & (-bit(s[i]) ^ flip))
	}
}

// Step is dst = 1 where c + a·x > 0, else 0.
func Step(dst, x []float64, a, c float64) {
	x = x[:len(dst)]
	i := quads(len(dst))
	if i > 0 {
		stepAVX2(&dst[0], &x[0], i, a, c)
	}
	for ; i < len(dst); i++ {
		dst[i] = Sign(c + float64(a*x[i]))
	}
}

// Sign is 1 if v > 0, else 0. It does not branch: near a boundary a sign is a
// coin.
func Sign(v float64) float64 {
	var positive uint64
	if v > 0 {
		positive = 1
	}
	const one = 0x3ff0000000000000
	return math.Float64frombits(-positive & one)
}
