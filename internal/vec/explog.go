package vec

import "math"

// expTable has what the vector loop of Exp reads: rows of one number, and powers, 2^(k/64).
var expTable = func() (t struct {
	rows   [12][4]float64
	powers [64]float64
}) {
	put(t.rows[:], leastExponent, mostExponent, perUnit, expShift, minusLog2, minusLog2Low, 1, 0.5, 1.0/6, 1.0/24, 1.0/120, math.Float64frombits(expMask))
	for k := range t.powers {
		t.powers[k] = math.Exp2(float64(k) / 64)
	}
	return t
}()

// logTable has what those of Log and Log1p read.
var logTable = func() (t [19][4]float64) {
	put(t[:], 1, 2, 0.5, leastNormal, math.MaxFloat64, math.Float64frombits(bitsOfOne-bitsOfRootHalf), 1<<52, 1<<52+1023,
		math.Float64frombits(fractionBits), math.Float64frombits(bitsOfRootHalf), log2High, log2Low)
	put(t[12:], logs[:]...)
	return t
}()

// put fills rows with one number each.
func put(rows [][4]float64, numbers ...float64) {
	for r, x := range numbers {
		rows[r] = [4]float64{x, x, x, x}
	}
}

const (
	leastExponent = -746 // where exp is 0
	mostExponent  = 710  // where it is +Inf
	perUnit       = 64 / math.Ln2
	expShift      = 3<<51 + 64*2046 // the last bits of shift + x are those of a whole number, beside a bias of the power of 2
	expMask       = 1<<20 - 1
	minusLog2     = -6.93147180369123816490e-01 / 64 // log 2 in two parts
	minusLog2Low  = -1.90821492927058770002e-10 / 64

	leastNormal    = 0x1p-1022
	bitsOfRootHalf = 0x3fe6a09e667f3bcd
	log2High       = 6.93147180369123816490e-01
	log2Low        = 1.90821492927058770002e-10
)

// logs are the coefficients of FreeBSD's log: of (log(1+f) − 2s)/s by s², with s = f/(2+f).
var logs = [7]float64{
	6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
	1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
}

// Exp is dst = exp(x), to 1e-15 relative.
func Exp(dst, x []float64) {
	x = x[:len(dst)]
	i := quads(len(dst))
	if i > 0 {
		expAVX2(&dst[0], &x[0], i, &expTable.rows)
	}
	for ; i < len(dst); i++ {
		dst[i] = ExpOf(x[i])
	}
}

// ExpApart is dst = exp(x − from), and adds that to sum.
func ExpApart(dst, sum, x, from []float64) {
	sum, x, from = sum[:len(dst)], x[:len(dst)], from[:len(dst)]
	i := quads(len(dst))
	if i > 0 {
		expApartAVX2(&dst[0], &sum[0], &x[0], &from[0], i, &expTable.rows)
	}
	for ; i < len(dst); i++ {
		dst[i] = ExpOf(x[i] - from[i])
		sum[i] += dst[i]
	}
}

// ExpOf is Exp of one number, 2^e·2^(k/64)·eʳ with |r| ≤ log(2)/128, and five terms of eʳ. The power of 2 is a product of two, for results below
// the least normal number.
func ExpOf(x float64) float64 {
	x = max(min(x, mostExponent), leastExponent)
	shifted := float64(x*perUnit) + expShift
	k := shifted - expShift
	r := (float64(k*minusLog2) + x) + float64(k*minusLog2Low)
	n := math.Float64bits(shifted) & expMask
	e := n >> 6
	half := e >> 1
	r2 := r * r
	y := r + float64(r2*(0.5+float64(r*(1.0/6)))) + float64(float64(r2*r2)*(1.0/24+float64(r*(1.0/120)))) + 1
	return y * expTable.powers[n&63] * math.Float64frombits(half<<52) * math.Float64frombits((e-half)<<52)
}

// Gauss is dst = a·exp(−x²/2), to 1e-15 of itself where x²/2 < 700.
func Gauss(dst, x []float64, a float64) {
	Mul(dst, x, x)
	Affine(dst, dst, -0.5, 0)
	Exp(dst, dst)
	Affine(dst, dst, a, 0)
}

// Log is dst = log(x), to 1e-15 relative.
func Log(dst, x []float64) {
	x = x[:len(dst)]
	n := quads(len(dst))
	for i := 0; i < len(dst); {
		if i < n {
			i += logAVX2(&dst[i], &x[i], n-i, &logTable)
		}
		for end := min(i+4, len(dst)); i < end; i++ { // four that are not all normal, or what is left over
			dst[i] = LogOf(x[i])
		}
	}
}

// LogOf is Log of one number.
func LogOf(x float64) float64 {
	if !(x >= leastNormal && x <= math.MaxFloat64) {
		return math.Log(x)
	}
	return logNormal(x)
}

// logNormal is e·log 2 + log(1+f) for x = 2^e·(1+f), √½ ≤ 1+f < √2.
func logNormal(x float64) float64 {
	bits := math.Float64bits(x) + (bitsOfOne - bitsOfRootHalf)
	e := float64(int64(bits>>52) - 1023)
	f := math.Float64frombits(bits&fractionBits+bitsOfRootHalf) - 1
	s := f / (2 + f)
	z := s * s
	w := z * z
	r := float64(z*(logs[0]+float64(w*(logs[2]+float64(w*(logs[4]+float64(w*logs[6]))))))) +
		float64(w*(logs[1]+float64(w*(logs[3]+float64(w*logs[5])))))
	half := float64(0.5*f) * f
	return float64(e*log2High) - ((half - (float64(s*(half+r)) + float64(e*log2Low))) - f)
}

// Log1p is dst = log(1 + x) for 0 ≤ x < 2¹⁰²³, to 1e-15 relative.
func Log1p(dst, x []float64) {
	x = x[:len(dst)]
	i := quads(len(dst))
	if i > 0 {
		log1pAVX2(&dst[0], &x[0], i, &logTable)
	}
	for ; i < len(dst); i++ {
		dst[i] = Log1pOf(x[i])
	}
}

// Log1pOf is Log1p of one number.
func Log1pOf(x float64) float64 {
	u := 1 + x
	return logNormal(u) + (x-(u-1))/u // what rounding took from u
}
