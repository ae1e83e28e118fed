package kernel

import "math"

// Sums and differences of numbers that are given by their logarithms, and what
// distribution functions need besides.

// log1mExp is log(1 − eˣ) for x ≤ 0.
func log1mExp(x float64) float64 {
	if x < -math.Ln2 {
		return math.Log1p(-math.Exp(x))
	}
	return math.Log(-math.Expm1(x))
}

func log1mExpSlope(x, _ float64) float64 { return -1 / math.Expm1(-x) }

// logDiffExp is log(eᵃ − eᵇ) for a ≥ b.
func logDiffExp(a, b float64) float64 {
	if a == b {
		return math.Inf(-1)
	}
	return a + log1mExp(b-a)
}

func logDiffSlopeA(a, b, _ float64) float64 { return -1 / math.Expm1(b-a) }
func logDiffSlopeB(a, b, _ float64) float64 { return -1 / math.Expm1(a-b) }

// log1mRatio is log(1 − eᵃ/eᵇ) for a ≤ b, which may be infinite.
func log1mRatio(a, b float64) float64 {
	if a == b {
		return math.Inf(-1)
	}
	return log1mExp(a - b)
}

func log1mRatioSlopeA(a, b, _ float64) float64 { return -1 / math.Expm1(b-a) }
func log1mRatioSlopeB(a, b, _ float64) float64 { return 1 / math.Expm1(b-a) }

// logQuotient is log(a/b) for positive a and b, also where they are near one another
// or far apart.
func logQuotient(a, b float64) float64 {
	switch r := a / b; {
	case r > 0.5 && r < 2:
		return math.Log1p((a - b) / b)
	case r > 0x1p-1000 && r < 0x1p1000:
		return math.Log(r)
	}
	return math.Log(a) - math.Log(b)
}

func logQuotientSlopeA(a, _, _ float64) float64 { return 1 / a }
func logQuotientSlopeB(_, b, _ float64) float64 { return -1 / b }

// is0 is 1 for x = 0, else 0.
func is0(x float64) float64 {
	if x == 0 {
		return 1
	}
	return 0
}

// ifNonNegative is a where s ≥ 0, else −∞.
func ifNonNegative(s, a float64) float64 {
	if s < 0 {
		return math.Inf(-1)
	}
	return a
}

func ifNonNegativeSlope(s, _, _ float64) float64 { return indicator(!(s < 0)) }

func maxSlopeA(a, b, _ float64) float64 { return indicator(a > b) }
func maxSlopeB(a, b, _ float64) float64 { return indicator(!(a > b)) }
func minSlopeA(a, b, _ float64) float64 { return indicator(a < b) }
func minSlopeB(a, b, _ float64) float64 { return indicator(!(a < b)) }

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// logExponentialCDF is the log distribution function of the standard exponential distribution at eˣ, which may be less than any number.
func logExponentialCDF(x float64) float64 {
	if x < -700 {
		return x
	}
	return log1mExp(-math.Exp(x))
}

func logExponentialCDFSlope(x, _ float64) float64 {
	switch {
	case x < -700:
		return 1
	case x > 700:
		return 0
	}
	return math.Exp(x) / math.Expm1(math.Exp(x))
}

// logLaplaceCDF is the log distribution function of the standard Laplace distribution.
func logLaplaceCDF(x float64) float64 {
	if x < 0 {
		return x - math.Ln2
	}
	return math.Log1p(-0.5 * math.Exp(-x))
}

func logLaplaceCDFSlope(x, _ float64) float64 {
	if x < 0 {
		return 1
	}
	half := 0.5 * math.Exp(-x)
	return half / (1 - half)
}

// logCauchyCDF is the log distribution function of the standard Cauchy distribution,
// the angle of (−x, 1) by π.
func logCauchyCDF(x float64) float64 {
	if x < 0 {
		return math.Log(math.Atan2(1, -x) / math.Pi)
	}
	return math.Log1p(-math.Atan2(1, x) / math.Pi)
}

func logCauchyCDFSlope(x, _ float64) float64 { return 1 / (1 + x*x) / math.Atan2(1, -x) }

// logHalfCauchyCDF is that of |x| for a standard Cauchy x.
func logHalfCauchyCDF(x float64) float64 {
	if x < 1 {
		return math.Log(math.Atan(x) / (math.Pi / 2))
	}
	return math.Log1p(-math.Atan2(1, x) / (math.Pi / 2))
}

func logHalfCauchyCDFSlope(x, _ float64) float64 { return 1 / (1 + x*x) / math.Atan(x) }
