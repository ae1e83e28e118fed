package family

import "math"

// mostExponent bounds what expMinus takes: exp(−700) is 1e-304.
const mostExponent = 700

// powers are 2^(k/64).
var powers = func() (p [64]float64) {
	for k := range p {
		p[k] = math.Exp2(float64(k) / 64)
	}
	return p
}()

// expMinus is exp(−x) for 0 ≤ x < mostExponent, to 1e-15 relative, in half the time
// of math.Exp: 2^(k/64)·eʳ with |r| ≤ log(2)/128, and five terms of eʳ.
func expMinus(x float64) float64 {
	const perUnit = 64 / math.Ln2
	k := math.Floor(0.5 - x*perUnit)
	r := -x - k*(6.93147180369123816490e-01/64) - k*(1.90821492927058770002e-10/64) // log 2 in two parts
	n := int64(k)
	scale := math.Float64frombits(math.Float64bits(powers[n&63]) + uint64(n>>6)<<52)
	r2 := r * r
	return scale * (1 + (r + r2*(0.5+r*(1.0/6)) + r2*r2*(1.0/24+r*(1.0/120))))
}
