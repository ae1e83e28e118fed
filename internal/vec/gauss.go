package vec

import "math"

// mostExponent bounds what expMinus takes: exp(−700) is 1e-304.
const mostExponent = 700

// gaussTable has what the vector loop reads: rows of one number, and powers, 2^(k/64).
var gaussTable = func() (t struct {
	rows   [10][4]float64
	powers [64]float64
}) {
	for r, x := range [...]float64{0.5, mostExponent, perUnit, shift, minusLog2, minusLog2Low, 1, 1.0 / 6, 1.0 / 24, 1.0 / 120} {
		t.rows[r] = [4]float64{x, x, x, x}
	}
	for k := range t.powers {
		t.powers[k] = math.Exp2(float64(k) / 64)
	}
	return t
}()

const (
	perUnit      = 64 / math.Ln2
	shift        = 3 << 51                          // the last bits of shift + x are those of a whole number
	minusLog2    = -6.93147180369123816490e-01 / 64 // log 2 in two parts
	minusLog2Low = -1.90821492927058770002e-10 / 64
)

// Gauss is dst = a·exp(−x²/2), and 0 where x²/2 ≥ 700 or x is NaN, to 1e-15 relative.
func Gauss(dst, x []float64, a float64) {
	x = x[:len(dst)]
	i := quads(len(dst))
	if i > 0 {
		gaussAVX2(&dst[0], &x[0], i, a, &gaussTable.rows)
	}
	for ; i < len(dst); i++ {
		y := 0.0
		if half := 0.5 * x[i] * x[i]; half < mostExponent {
			y = a * expMinus(half)
		}
		dst[i] = y
	}
}

// expMinus is exp(−x) for 0 ≤ x < mostExponent: 2^(k/64)·eʳ with |r| ≤ log(2)/128, and five terms of eʳ.
func expMinus(x float64) float64 {
	shifted := shift - float64(x*perUnit)
	k := shifted - shift
	r := float64(k*minusLog2) - x + float64(k*minusLog2Low)
	n := math.Float64bits(shifted)
	scale := math.Float64frombits(math.Float64bits(gaussTable.powers[n&63]) + n>>6<<52)
	r2 := r * r
	return scale * (1 + (r + float64(r2*(0.5+float64(r*(1.0/6)))) + float64(float64(r2*r2)*(1.0/24+float64(r*(1.0/120))))))
}
