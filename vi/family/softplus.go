package family

import "math"

// softplus is log(1 + eˣ) and its derivative, the logistic function. With u the
// rounded 1 + e, log(1 + e) is log u + (e − (u − 1))/u to rounding, which is
// faster than math.Log1p.
func softplus(x float64) (value, slope float64) {
	e := math.Exp(-math.Abs(x))
	u := 1 + e
	slope = 1 / u
	value = max(x, 0) + math.Log(u) + (e-(u-1))*slope
	if x < 0 {
		slope *= e
	}
	return value, slope
}

// inverseSoftplus is log(eˢ − 1).
func inverseSoftplus(s float64) float64 {
	if s > 30 {
		return s + math.Log1p(-math.Exp(-s))
	}
	return math.Log(math.Expm1(s))
}
