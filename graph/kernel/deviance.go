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

func devianceSlopes(k, d, _ float64) (dk, dd float64) {
	switch r := d / k; {
	case k == 0:
		return math.Inf(1), -1
	case r < -0.5:
		return 1 - math.Ln2, 1
	case r < 1:
		dd = -r / (1 + r)
		return log1pmx(r) - r*dd, dd
	default:
		dd = 1/(1+r) - 1
		return -logShare(k, d) + dd, dd
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

func logShareSlopes(a, b, _ float64) (da, db float64) { return b / (a + b) / a, -1 / (a + b) }

// log1pmx is log(1 + x) − x for −½ ≤ x ≤ 1, without cancellation: with
// s = x/(2+x) it is
//
//	2 artanh s − x = 2(s³/3 + s⁵/5 + …) − s·x
func log1pmx(x float64) float64 {
	s := x / (2 + x)
	square, sum := s*s, 0.0
	for n, power := 3.0, 2*s*square; math.Abs(power) > 0x1p-56*math.Abs(sum); n, power = n+2, power*square {
		sum += power / n
	}
	return sum - s*x
}
