package kernel

import "math"

// The log probability of a count k with mean m, or of k trials where m are
// expected, has the term
//
//	k·log(m/k) − (m − k)
//
// which is small where k is near m, however large both are. There it is a
// function of k and d = m − k. Far below k the mean is better known by its
// logarithm. So the term is the sum
//
//	deviance(k, d) + k·logTail(log m − log k)
//
// where log is replaced by its tangent at ½ below ½ in deviance, and logTail is
// what that leaves out. Both have continuous derivatives.

// deviance is k·log(1 + d/k) − d for k ≥ 0, and linear for d below −k/2. (Catherine
// Loader, Fast and accurate computation of binomial probabilities, 2000.)
func deviance(k, d float64) float64 {
	switch r := d / k; {
	case k == 0:
		return -d
	case r < -0.5:
		return k*(1-math.Ln2) + d
	case r < 1:
		return k * log1pmx(r)
	default:
		return k*math.Log1p(min(r, math.MaxFloat64)) - d
	}
}

func devianceSlopeK(k, d, y float64) float64 {
	switch r := d / k; {
	case k == 0:
		return math.Inf(1)
	case r < -0.5:
		return 1 - math.Ln2
	case r < 1:
		return y/k + r*(r/(1+r))
	default:
		return 1/(1+r) - 1 - logShare(k, d)
	}
}

func devianceSlopeD(k, d, _ float64) float64 {
	switch r := d / k; {
	case k == 0:
		return -1
	case r < -0.5:
		return 1
	case r < 1:
		return -r / (1 + r)
	default:
		return 1/(1+r) - 1
	}
}

// logTail is x − (2eˣ − 1 − log 2) for x < −log 2, else 0.
func logTail(x float64) float64 {
	if x >= -math.Ln2 {
		return 0
	}
	x += math.Ln2
	return x - math.Expm1(x)
}

func logTailSlope(x, _ float64) float64 {
	if x >= -math.Ln2 {
		return 0
	}
	return -math.Expm1(x + math.Ln2)
}

// logShare is log(a/(a + b)) for a > 0 and b ≥ 0.
func logShare(a, b float64) float64 {
	if r := b / a; r < math.MaxFloat64 {
		return -math.Log1p(r)
	}
	return math.Log(a) - math.Log(b)
}

func logShareSlopeA(a, b, _ float64) float64 { return b / (a + b) / a }
func logShareSlopeB(a, b, _ float64) float64 { return -1 / (a + b) }

// log1pmx is log(1 + x) − x for −½ ≤ x ≤ 1. Near 0, where the difference would
// cancel, it is for s = x/(2+x)
//
//	2 artanh s − x = 2(s³/3 + s⁵/5 + …) − s·x
func log1pmx(x float64) float64 {
	if math.Abs(x) > 0.25 {
		return math.Log1p(x) - x
	}
	s := x / (2 + x)
	square, sum := s*s, 0.0
	for i := len(artanh) - 1; i >= 0; i-- {
		sum = (sum + artanh[i]) * square
	}
	return s * (2*sum - x)
}

// artanh are the coefficients of (artanh s)/s − 1 by s², s⁴, …. For |s| ≤ 1/7 what
// is left out is below a relative 1e-17.
var artanh = [...]float64{1. / 3, 1. / 5, 1. / 7, 1. / 9, 1. / 11, 1. / 13, 1. / 15, 1. / 17, 1. / 19}
