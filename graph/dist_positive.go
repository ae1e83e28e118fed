package graph

import (
	"math"
	"math/rand/v2"

	"github.com/facetvi/facet/graph/kernel"
)

// Distributions on (0, ∞), on (0, 1) and on an interval.

// LogNormal is the distribution of eˣ for a normal x with mean mu and standard
// deviation sigma.
func LogNormal[A, B Value](mu A, sigma B) Dist { return newDist(logNormal, lift(mu), lift(sigma)) }

var logNormal = &law{
	name: "LogNormal", params: []param{{"mu", anyReal}, {"sigma", positive}}, support: positives,
	logProb: func(x Expr, p []Expr) Expr { return Sub(normalLogProb(Log(x), p[0], p[1]), Log(x)) },
	rand:    func(p []float64, rng *rand.Rand) float64 { return p[0] + p[1]*rng.NormFloat64() },
	start:   func(p []float64) (center, scale float64) { return p[0], p[1] },

	residual: normalResidual, shares: &normalShares,
}

// HalfNormal is the distribution of |x| for a normal x with mean 0 and standard
// deviation scale (SciPy's halfnorm).
func HalfNormal[A Value](scale A) Dist { return newDist(halfNormal, lift(scale)) }

var halfNormal = &law{
	name: "HalfNormal", params: []param{{"scale", positive}}, support: nonNegatives,
	logProb: func(x Expr, p []Expr) Expr { return Add(normalLogProb(x, Expr{}, p[0]), math.Ln2) },
	rand:    func(p []float64, rng *rand.Rand) float64 { return math.Log(p[0]) + logHalfNormalRand(rng) },
	shares:  &halfNormalShares,
	start:   func(p []float64) (center, scale float64) { return math.Log(halfNormalMedian * p[0]), 1 },

	residual: func(e float64, _ []float64) float64 {
		x := halfNormalMedian * math.Exp(e)
		return math.Log(halfNormalMedian) + e - 0.5*x*x - 0.5*math.Log(math.Pi/2)
	},
}

const halfNormalMedian = 0.6745

// Exponential is the exponential distribution with the given rate (not scale).
func Exponential[A Value](rate A) Dist { return newDist(exponential, lift(rate)) }

var exponential = &law{
	name: "Exponential", params: []param{{"rate", positive}}, support: nonNegatives,
	logProb: func(x Expr, p []Expr) Expr { return Sub(Log(p[0]), Mul(p[0], x)) },
	rand:    func(p []float64, rng *rand.Rand) float64 { return math.Log(expRand(rng)) - math.Log(p[0]) },
	shares:  &exponentialShares,
	start:   func(p []float64) (center, scale float64) { return -math.Log(p[0]), 1 },

	residual: func(e float64, _ []float64) float64 { return e - math.Exp(e) },
}

// Gamma is the gamma distribution with shape alpha and rate beta.
func Gamma[A, B Value](alpha A, beta B) Dist { return newDist(gamma, lift(alpha), lift(beta)) }

var gamma = &law{
	name: "Gamma", params: []param{{"alpha", positive}, {"beta", positive}}, support: positives,
	logProb: func(x Expr, p []Expr) Expr { return gammaLogProb(x, p[0], p[1]) },
	change:  func(x, from Expr, p []Expr) Expr { return gammaChange(x, from, p[0], p[1]) },
	rand:    func(p []float64, rng *rand.Rand) float64 { return logGammaRand(p[0], rng) - math.Log(p[1]) },
	start:   func(p []float64) (center, scale float64) { return math.Log(p[0] / p[1]), 1 / math.Sqrt(p[0]) },

	residual: func(e float64, p []float64) float64 { return gammaResidual(e, p[0]) },
}

// gammaResidual has the large parts of α·u − βeᵘ and log Γ(α) cancelled.
func gammaResidual(e, alpha float64) float64 {
	u := e / math.Sqrt(alpha)
	return kernel.Stirling.Value(alpha) + 0.5*math.Log(alpha) - alpha*(math.Expm1(u)-u)
}

func gammaLogProb(x, alpha, beta Expr) Expr {
	rate, known := beta.IsConst()
	if !small(alpha, maxSmallShape) || known && math.Abs(math.Log(rate)) > maxSmallShape {
		return Sub(Add(Log(alpha), poissonLogProb(alpha, Mul(beta, x), Add(Log(beta), Log(x)))), Log(x))
	}
	power := Sub(Mul(Sub(alpha, 1), Log(x)), Mul(beta, x))
	return Add(power, Sub(Mul(alpha, Log(beta)), lgammaOf(alpha)))
}

func gammaChange(x, from, alpha, beta Expr) Expr {
	ratio := logRatio(x, from)
	curved := deviance(from, Sub(x, from), ratio)
	return Sub(Add(Mul(Sub(alpha, Mul(beta, from)), ratio), Mul(beta, curved)), ratio)
}

// ChiSquared is the chi-squared distribution with k degrees of freedom.
func ChiSquared[A Value](k A) Dist { return newDist(chiSquared, lift(k)) }

var chiSquared = &law{
	name: "ChiSquared", params: []param{{"k", positive}}, support: positives,
	logProb: func(x Expr, p []Expr) Expr { return gammaLogProb(x, Mul(0.5, p[0]), Expr{v: 0.5}) },
	change:  func(x, from Expr, p []Expr) Expr { return gammaChange(x, from, Mul(0.5, p[0]), Expr{v: 0.5}) },
	rand:    func(p []float64, rng *rand.Rand) float64 { return logGammaRand(0.5*p[0], rng) + math.Ln2 },
	start:   func(p []float64) (center, scale float64) { return math.Log(p[0]), math.Sqrt(2 / p[0]) },

	residual: func(e float64, p []float64) float64 { return gammaResidual(e, 0.5*p[0]) },
}

// Beta is the beta distribution with shapes alpha and beta, on (0, 1).
func Beta[A, B Value](alpha A, beta B) Dist { return newDist(betaLaw, lift(alpha), lift(beta)) }

var betaLaw = &law{
	name: "Beta", params: []param{{"alpha", positive}, {"beta", positive}}, support: unitInterval,
	logProb: func(x Expr, p []Expr) Expr {
		a, b := p[0], p[1]
		if !small(a, maxSmallShape) || !small(b, maxSmallShape) {
			norm := Add(Log(b), applyPair(kernel.LogShare, a, b))
			return Sub(Add(norm, trialsLogProb(a, b, x)), Add(Log(x), Log1p(Neg(x))))
		}
		power := Add(Mul(Sub(a, 1), Log(x)), Mul(Sub(b, 1), Log1p(Neg(x))))
		return Add(power, Sub(lgammaOf(Add(a, b)), Add(lgammaOf(a), lgammaOf(b))))
	},
	change: func(x, from Expr, p []Expr) Expr {
		a, b, fromRest := p[0], p[1], Sub(1, from)
		success, failure := logRatio(x, from), logRatio(Sub(1, x), fromRest)
		curved := Add(deviance(from, Sub(x, from), success), deviance(fromRest, Sub(from, x), failure))
		slope := Sub(Mul(a, fromRest), Mul(b, from))
		return Sub(Add(Mul(slope, Sub(success, failure)), Mul(Add(a, b), curved)), Add(success, failure))
	},
	rand:  func(p []float64, rng *rand.Rand) float64 { return logGammaRand(p[0], rng) - logGammaRand(p[1], rng) },
	start: func(p []float64) (center, scale float64) { return math.Log(p[0] / p[1]), math.Sqrt(1/p[0] + 1/p[1]) },

	residual: func(e float64, p []float64) float64 {
		scale := math.Sqrt(1/p[0] + 1/p[1])
		u := math.Log(p[0]/p[1]) + scale*e
		norm := kernel.Lgamma.Value(p[0]+p[1]) - kernel.Lgamma.Value(p[0]) - kernel.Lgamma.Value(p[1])
		return math.Log(scale) + norm - p[0]*kernel.Softplus.Value(-u) - p[1]*kernel.Softplus.Value(u)
	},
}

// Uniform is the uniform distribution on [min, max], which must be numbers.
func Uniform[A, B Value](min A, max B) Dist { return newDist(uniform, lift(min), lift(max)) }

var uniform = &law{
	name: "Uniform", params: []param{{"min", bound}, {"max", bound}}, support: interval,
	bounds:  func(p []Expr) (lo, hi float64) { return p[0].constValue(), p[1].constValue() },
	logProb: func(x Expr, p []Expr) Expr { return Neg(Log(Sub(p[1], p[0]))) },
	rand:    func(_ []float64, rng *rand.Rand) float64 { return logitRand(rng) },
	start:   func([]float64) (center, scale float64) { return 0, logisticSD },

	residual: logisticResidual, shares: &logisticShares,
}
