package kernel

import (
	"math"

	"github.com/facetvi/facet/internal/truncnorm"
)

// Quantiles x(u) of distributions F at Φ(u), increasing maps of standard normal noise u to a draw of F:
//
//	F(x) = Φ(u),    dx/du = φ(u)/f(x)
//
// Each works with the logarithm of the smaller one of Φ(u) and Φ(−u), so that both tails keep their digits.

// logNormalQuantile is the x with log Φ(x) = y, for y ≤ 0.
func logNormalQuantile(y float64) float64 {
	switch {
	case y > 0 || math.IsNaN(y):
		return math.NaN()
	case y > -math.Ln2: // Φ(−x) = 1 − eʸ
		return -normalQuantile(-math.Expm1(y))
	case y > -500:
		return normalQuantile(math.Exp(y))
	}
	return truncnorm.LogQuantile(y)
}

func logNormalQuantileSlope(y, x float64) float64 { return rootTwoPi * math.Exp(y+0.5*x*x) }

// exponentialOfNormal is −log Φ(−u).
func exponentialOfNormal(u float64) float64 { return -logNormalCDF(-u) }

func exponentialOfNormalSlope(u, _ float64) float64 { return logNormalCDFSlope(-u, 0) }

func normalOfExponential(x float64) float64 { return -logNormalQuantile(-x) }

// logisticOfNormal is the logit of Φ(u).
func logisticOfNormal(u float64) float64 { return logNormalCDF(u) - logNormalCDF(-u) }

func logisticOfNormalSlope(u, _ float64) float64 {
	return logNormalCDFSlope(u, 0) + logNormalCDFSlope(-u, 0)
}

func normalOfLogistic(x float64) float64 {
	return math.Copysign(logNormalQuantile(-softplus(math.Abs(x))), x)
}

// mirrored is an odd function of u or x whose values at −|u| are lower's.
func mirrored(lower func(float64) float64, u float64) float64 {
	if u > 0 {
		return -lower(-u)
	}
	return lower(u)
}

// laplaceOfNormal is log 2Φ(u) for u < 0.
func laplaceOfNormal(u float64) float64 {
	return mirrored(func(u float64) float64 { return logNormalCDF(u) + math.Ln2 }, u)
}

func laplaceOfNormalSlope(u, _ float64) float64 { return logNormalCDFSlope(-math.Abs(u), 0) }

func normalOfLaplace(x float64) float64 {
	return mirrored(func(x float64) float64 { return logNormalQuantile(x - math.Ln2) }, x)
}

// cauchyOfNormal is −1/tan(πΦ(u)) for u < 0.
func cauchyOfNormal(u float64) float64 {
	return mirrored(func(u float64) float64 { return -1 / math.Tan(math.Pi*normalCDF(u)) }, u)
}

func cauchyOfNormalSlope(u, x float64) float64 { return math.Pi * (1 + x*x) * normalCDFSlope(u, 0) }

func normalOfCauchy(x float64) float64 {
	return mirrored(func(x float64) float64 { return normalQuantile(math.Atan2(1, -x) / math.Pi) }, x)
}

// halfNormalOfNormal is the x > 0 with erf(x/√2) = Φ(u), 2Φ(−x) = Φ(−u).
func halfNormalOfNormal(u float64) float64 {
	if u < 0 {
		return math.Sqrt2 * math.Erfinv(normalCDF(u))
	}
	return -logNormalQuantile(logNormalCDF(-u) - math.Ln2)
}

func halfNormalOfNormalSlope(u, x float64) float64 { return 0.5 * math.Exp(0.5*(x*x-u*u)) }

func normalOfHalfNormal(x float64) float64 {
	switch {
	case x < 0:
		return math.NaN()
	case x < 0.5:
		return normalQuantile(math.Erf(x / math.Sqrt2))
	}
	return -logNormalQuantile(logNormalCDF(-x) + math.Ln2)
}

// halfCauchyOfNormal is tan(πΦ(u)/2) = 1/tan(πΦ(−u)/2).
func halfCauchyOfNormal(u float64) float64 {
	if u < 0 {
		return math.Tan(0.5 * math.Pi * normalCDF(u))
	}
	return 1 / math.Tan(0.5*math.Pi*normalCDF(-u))
}

func halfCauchyOfNormalSlope(u, x float64) float64 {
	return 0.5 * math.Pi * (1 + x*x) * normalCDFSlope(u, 0)
}

func normalOfHalfCauchy(x float64) float64 {
	switch {
	case x < 0:
		return math.NaN()
	case x < 1:
		return normalQuantile(math.Atan(x) * 2 / math.Pi)
	}
	return -normalQuantile(math.Atan(1/x) * 2 / math.Pi)
}
