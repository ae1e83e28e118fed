package kernel

import (
	"math"

	"github.com/facetvi/facet/internal/truncnorm"
	"github.com/facetvi/facet/internal/vec"
	"gonum.org/v1/gonum/mathext"
)

const (
	twoOverRootPi = 1.12837916709551257389615890312154517
	rootTwoPi     = 2.50662827463100050241576528481104525
)

func erfSlope(x, _ float64) float64 { return twoOverRootPi * math.Exp(-x*x) }

// erfInverse is the x with erf x = y, NaN outside [−1, 1].
func erfInverse(y float64) float64 {
	if !(math.Abs(y) <= 1) {
		return math.NaN()
	}
	return math.Erfinv(y)
}

// normalCDF is Φ(x).
func normalCDF(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

func normalCDFSlope(x, _ float64) float64 { return math.Exp(-0.5*x*x) / rootTwoPi }

// logNormalCDF is log Φ(x).
func logNormalCDF(x float64) float64 {
	switch {
	case x >= 1:
		return math.Log1p(-0.5 * math.Erfc(x/math.Sqrt2))
	case x > -37 || math.IsNaN(x):
		return vec.LogOf(normalCDF(x))
	}
	return truncnorm.LogMass(math.Inf(-1), x)
}

func logNormalCDFLoop(out, x, _ []float64) {
	var logs [64]float64
	for len(out) > 0 {
		n := min(len(out), len(logs))
		for i, x := range x[:n] {
			logs[i] = normalCDF(x)
		}
		vec.Log(logs[:n], logs[:n])
		for i, x := range x[:n] {
			if !(x < 1 && x > -37) {
				logs[i] = logNormalCDF(x)
			}
		}
		copy(out, logs[:n])
		out, x = out[n:], x[n:]
	}
}

// logNormalCDFSlope is φ(x)/Φ(x).
func logNormalCDFSlope(x, _ float64) float64 {
	_, slope := truncnorm.AtEnds(math.Inf(-1), x)
	return slope
}

// normalQuantile is the x with Φ(x) = p, NaN for p outside [0, 1].
func normalQuantile(p float64) float64 {
	if !(p >= 0 && p <= 1) {
		return math.NaN()
	}
	return mathext.NormalQuantile(p)
}

func normalQuantileSlope(_, x float64) float64 { return rootTwoPi * math.Exp(0.5*x*x) }

// logNormalMass is log(Φ(b) − Φ(a)) for a < b.
func logNormalMass(a, b float64) float64 {
	if !(a < b) {
		return math.NaN()
	}
	return truncnorm.LogMass(a, b)
}

func logNormalMassSlopeA(a, b, _ float64) float64 {
	slope, _ := truncnorm.AtEnds(a, b)
	return -slope
}

func logNormalMassSlopeB(a, b, _ float64) float64 {
	_, slope := truncnorm.AtEnds(a, b)
	return slope
}

// logErf is log erf x for x ≥ 0.
func logErf(x float64) float64 {
	if x < 0.5 {
		return math.Log(math.Erf(x))
	}
	return math.Log1p(-math.Erfc(x))
}

func logErfSlope(x, _ float64) float64 { return twoOverRootPi * math.Exp(-x*x) / math.Erf(x) }
