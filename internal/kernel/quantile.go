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

// Quantiles with shapes: x = x(u; shapes). A shapedTail is one of the standard law by t, a coordinate of x in which logarithms of both
// tails are about concave, and with byX = ∂/∂t.
type shapedTail func(t, a, b float64, upper bool) tail

// ofGamma is by t = log x, and gammaAlone is without byA.
func ofGamma(t, a, _ float64, upper bool) tail    { return gammaAt(a, math.Exp(t), true).side(upper) }
func gammaAlone(t, a, _ float64, upper bool) tail { return gammaAt(a, math.Exp(t), false).side(upper) }

// ofBeta is by t = logit x.
func ofBeta(t, a, b float64, upper bool) tail {
	if t > 0 { // where 1 − x has more digits than x
		s := betaAt(sigmoid(-t), b, a).side(!upper)
		return tail{s.log, -s.byX, s.byB, s.byA, upper}
	}
	return betaAt(sigmoid(t), a, b).side(upper)
}

// ofStudent is by t = asinh x.
func ofStudent(t, nu, _ float64, upper bool) tail {
	x, sign := math.Sinh(t), 1.0
	if upper {
		x, sign = -x, -1
	}
	log := logStudentCDF(x, nu)
	return tail{log: log, byX: sign * logStudentCDFSlopeT(x, nu, log) * math.Cosh(t), byA: logStudentCDFSlopeNu(x, nu, log), upper: upper}
}

const mostQuantileSteps = 200

// at is the t whose tail is that of u, the smaller one: by Newton's method, within a bracket.
func (f shapedTail) at(u, a, b float64) float64 {
	upper, target := u > 0, logNormalCDF(-math.Abs(u))
	lo, hi, t, stride := math.Inf(-1), math.Inf(1), 0.0, 8.0
	for range mostQuantileSteps {
		s := f(t, a, b, upper)
		off := s.log - target
		if math.IsNaN(off) {
			return off
		}
		way := 1.0 // that t has to go
		if off > 0 != upper {
			hi, way = t, -1
		} else {
			lo = t
		}
		next := t - off/s.byX
		switch {
		case math.Abs(next-t) <= 0x1p-50*(0.1+math.Abs(t)):
			return next
		case math.IsInf(lo, 0) || math.IsInf(hi, 0):
			if !(math.Abs(next-t) <= stride) { // also NaN
				next = t + way*stride
			}
			stride *= 2
		case !(lo < next && next < hi):
			next = lo + (hi-lo)/2
		}
		if next == lo || next == hi {
			return next
		}
		t = next
	}
	return t
}

// slope is ∂t/∂u, or ∂t/∂a, or ∂t/∂b.
func (f shapedTail) slope(of int, u, a, b, t float64) float64 {
	s := f(t, a, b, u > 0)
	switch of {
	case 1:
		return -s.byA / s.byX
	case 2:
		return -s.byB / s.byX
	}
	return math.Copysign(logNormalCDFSlope(-math.Abs(u), 0), s.byX) / s.byX
}

// from is the u of t.
func (f shapedTail) from(t, a, b float64) float64 {
	if s := f(t, a, b, false); s.log < -math.Ln2 {
		return logNormalQuantile(s.log)
	}
	return -logNormalQuantile(f(t, a, b, true).log)
}

// logGammaOfNormal is log x for a gamma x with shape a and rate 1.
func logGammaOfNormal(u, a float64) float64 { return shapedTail(gammaAlone).at(u, a, 0) }

// logitBetaOfNormal is logit x for a beta x with shapes a and b.
func logitBetaOfNormal(u, a, b float64) float64 { return shapedTail(ofBeta).at(u, a, b) }

// studentOfNormal is Student's t with nu degrees of freedom.
func studentOfNormal(u, nu float64) float64 { return math.Sinh(shapedTail(ofStudent).at(u, nu, 0)) }

func studentOfNormalSlope(of int) func(u, nu, x float64) float64 {
	return func(u, nu, x float64) float64 {
		return shapedTail(ofStudent).slope(of, u, nu, 0, math.Asinh(x)) * math.Sqrt(1+x*x)
	}
}

// ValueOf is f of the numbers x, and SlopeOf its derivative by number k, given also y = f(x).
func (f Function) ValueOf(x []float64) float64 {
	if e := &functions[f]; e.binary != nil {
		return e.binary(x[0], x[1])
	} else {
		return e.ternary(x[0], x[1], x[2])
	}
}

// SlopeOf is the derivative of ValueOf by number k, given also y = f(x).
func (f Function) SlopeOf(k int, x []float64, y float64) float64 {
	if e := &functions[f]; e.binary != nil {
		return e.slopes[k](x[0], x[1], y)
	} else {
		return e.slopes3[k](x[0], x[1], x[2], y)
	}
}

// First is the x[0] for which f(x) is y, of functions that increase with it; the others have none.
func (f Function) First(y float64, x []float64) float64 {
	switch f {
	case LogGammaOfNormal:
		return shapedTail(gammaAlone).from(y, x[1], 0)
	case LogitBetaOfNormal:
		return shapedTail(ofBeta).from(y, x[1], x[2])
	case StudentOfNormal:
		return shapedTail(ofStudent).from(math.Asinh(y), x[1], 0)
	}
	return math.NaN()
}

// HasFirst reports whether First finds it.
func (f Function) HasFirst() bool {
	return f == LogGammaOfNormal || f == LogitBetaOfNormal || f == StudentOfNormal
}
