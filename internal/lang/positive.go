package lang

import (
	"math"
	"math/rand/v2"

	"github.com/facetvi/facet/internal/kernel"
)

// Distributions on (0, ∞), on (0, 1) and on an interval.

// LogNormal is the law of graph.LogNormal.
var LogNormal = &Law{
	name: "LogNormal", params: []param{{"mu", AnyReal}, {"sigma", Positive}}, support: Positives,
	logProb: func(x Expr, p []Expr) Expr { return Sub(normalLogProb(Log(x), p[0], p[1]), Log(x)) },
	rand:    func(p []float64, rng *rand.Rand) float64 { return p[0] + p[1]*rng.NormFloat64() },
	coordinate: coordinate{
		start:    func(p []float64) (center, scale float64) { return p[0], p[1] },
		residual: normalResidual, shares: &normalShares,
	},
	tails: tails{
		quantile: func(u Expr, p []Expr) Expr { return Exp(Normal.tails.quantile(u, p)) },
		logCDF:   func(x Expr, p []Expr) Expr { return Normal.tails.logCDF(Log(x), p) },
		logCCDF:  func(x Expr, p []Expr) Expr { return Normal.tails.logCCDF(Log(x), p) },
		logMass:  func(a, b Expr, p []Expr) Expr { return Normal.tails.logMass(Log(a), Log(b), p) },
	},
	moments: moments{
		mean:     func(p []Expr) Expr { return Exp(Add(p[0], Mul(0.5, Square(p[1])))) },
		variance: func(p []Expr) Expr { return Mul(Expm1(Square(p[1])), Exp(Add(Mul(2, p[0]), Square(p[1])))) },
	},
}

// HalfNormal is the law of graph.HalfNormal.
var HalfNormal = &Law{
	name: "HalfNormal", params: []param{{"scale", Positive}}, support: nonNegatives,
	logProb: func(x Expr, p []Expr) Expr { return Add(normalLogProb(x, Expr{}, p[0]), math.Ln2) },
	rand:    func(p []float64, rng *rand.Rand) float64 { return math.Log(p[0]) + logHalfNormalRand(rng) },
	coordinate: coordinate{
		shares: &halfNormalShares,
		start:  func(p []float64) (center, scale float64) { return math.Log(halfNormalMedian * p[0]), 1 },
		residual: func(e, _, _ float64, _ []float64) float64 {
			x := halfNormalMedian * math.Exp(e)
			return math.Log(halfNormalMedian) + e - 0.5*x*x - 0.5*math.Log(math.Pi/2)
		},
	},
	tails: tails{
		quantile: scaled(kernel.HalfNormalOfNormal),
		logCDF:   func(x Expr, p []Expr) Expr { return Apply(kernel.LogErf, Div(Mul(math.Sqrt2/2, x), p[0])) },
		logCCDF:  func(x Expr, p []Expr) Expr { return Add(LogNormalCDF(Neg(Div(x, p[0]))), math.Ln2) },
	},
	moments: moments{
		mean:     func(p []Expr) Expr { return Mul(math.Sqrt(2/math.Pi), p[0]) },
		variance: func(p []Expr) Expr { return Mul(1-2/math.Pi, Square(p[0])) },
	},
}

const halfNormalMedian = 0.6745

// Exponential is the law of graph.Exponential.
var Exponential = &Law{
	name: "Exponential", params: []param{{"rate", Positive}}, support: nonNegatives,
	logProb: func(x Expr, p []Expr) Expr { return Sub(Log(p[0]), Mul(p[0], x)) },
	rand:    func(p []float64, rng *rand.Rand) float64 { return math.Log(expRand(rng)) - math.Log(p[0]) },
	coordinate: coordinate{
		shares:   &exponentialShares,
		start:    func(p []float64) (center, scale float64) { return -math.Log(p[0]), 1 },
		residual: func(e, _, _ float64, _ []float64) float64 { return e - math.Exp(e) },
	},
	tails: tails{
		quantile: func(u Expr, p []Expr) Expr { return Div(Apply(kernel.ExponentialOfNormal, u), p[0]) },
		logCDF:   func(x Expr, p []Expr) Expr { return Apply(kernel.LogExponentialCDF, Add(Log(p[0]), Log(x))) },
		logCCDF:  func(x Expr, p []Expr) Expr { return Neg(Mul(p[0], x)) },
	},
	moments: moments{
		mean:     func(p []Expr) Expr { return Div(1, p[0]) },
		variance: func(p []Expr) Expr { return Div(1, Square(p[0])) },
	},
}

// Gamma is the law of graph.Gamma.
var Gamma = &Law{
	name: "Gamma", params: []param{{"alpha", Positive}, {"beta", Positive}}, support: Positives,
	logProb: func(x Expr, p []Expr) Expr { return gammaLogProb(x, p[0], p[1]) },
	change:  func(x, from Expr, p []Expr) Expr { return gammaChange(x, from, p[0], p[1]) },
	rand:    func(p []float64, rng *rand.Rand) float64 { return logGammaRand(p[0], rng) - math.Log(p[1]) },
	coordinate: coordinate{
		start:    func(p []float64) (center, scale float64) { return math.Log(p[0] / p[1]), 1 / math.Sqrt(p[0]) },
		residual: func(e, _, _ float64, p []float64) float64 { return gammaResidual(e, p[0]) },
	},
	tails: tails{
		quantile: func(u Expr, p []Expr) Expr { return Div(standardGamma(u, p[0]), p[1]) },
		logCDF:   func(x Expr, p []Expr) Expr { return logSigmoid(gammaOdds(p[0], Mul(p[1], x))) },
		logCCDF:  func(x Expr, p []Expr) Expr { return logSigmoid(Neg(gammaOdds(p[0], Mul(p[1], x)))) },
	},
	moments: moments{
		mean:     func(p []Expr) Expr { return Div(p[0], p[1]) },
		variance: func(p []Expr) Expr { return Div(p[0], Square(p[1])) },
	},
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
	return Add(power, Sub(Mul(alpha, Log(beta)), Lgamma(alpha)))
}

func gammaChange(x, from, alpha, beta Expr) Expr {
	ratio := logRatio(x, from)
	curved := deviance(from, Sub(x, from), ratio)
	return Sub(Add(Mul(Sub(alpha, Mul(beta, from)), ratio), Mul(beta, curved)), ratio)
}

// ChiSquared is the law of graph.ChiSquared.
var ChiSquared = &Law{
	name: "ChiSquared", params: []param{{"k", Positive}}, support: Positives,
	logProb: func(x Expr, p []Expr) Expr { return gammaLogProb(x, Mul(0.5, p[0]), Expr{v: 0.5}) },
	change:  func(x, from Expr, p []Expr) Expr { return gammaChange(x, from, Mul(0.5, p[0]), Expr{v: 0.5}) },
	rand:    func(p []float64, rng *rand.Rand) float64 { return logGammaRand(0.5*p[0], rng) + math.Ln2 },
	coordinate: coordinate{
		start:    func(p []float64) (center, scale float64) { return math.Log(p[0]), math.Sqrt(2 / p[0]) },
		residual: func(e, _, _ float64, p []float64) float64 { return gammaResidual(e, 0.5*p[0]) },
	},
	tails: tails{
		quantile: func(u Expr, p []Expr) Expr { return Mul(2, standardGamma(u, Mul(0.5, p[0]))) },
		logCDF:   func(x Expr, p []Expr) Expr { return logSigmoid(gammaOdds(Mul(0.5, p[0]), Mul(0.5, x))) },
		logCCDF:  func(x Expr, p []Expr) Expr { return logSigmoid(Neg(gammaOdds(Mul(0.5, p[0]), Mul(0.5, x)))) },
	},
	moments: moments{mean: func(p []Expr) Expr { return p[0] }, variance: func(p []Expr) Expr { return Mul(2, p[0]) }},
}

// Beta is the law of graph.Beta.
var Beta = &Law{
	name: "Beta", params: []param{{"alpha", Positive}, {"beta", Positive}}, support: UnitInterval,
	logProb: func(x Expr, p []Expr) Expr {
		a, b := p[0], p[1]
		if !small(a, maxSmallShape) || !small(b, maxSmallShape) {
			norm := Add(Log(b), applyPair(kernel.LogShare, a, b))
			return Sub(Add(norm, trialsLogProb(a, b, x)), Add(Log(x), Log1p(Neg(x))))
		}
		power := Add(Mul(Sub(a, 1), Log(x)), Mul(Sub(b, 1), Log1p(Neg(x))))
		return Add(power, Sub(Lgamma(Add(a, b)), Add(Lgamma(a), Lgamma(b))))
	},
	change: func(x, from Expr, p []Expr) Expr {
		a, b, fromRest := p[0], p[1], Sub(1, from)
		success, failure := logRatio(x, from), logRatio(Sub(1, x), fromRest)
		curved := Add(deviance(from, Sub(x, from), success), deviance(fromRest, Sub(from, x), failure))
		slope := Sub(Mul(a, fromRest), Mul(b, from))
		return Sub(Add(Mul(slope, Sub(success, failure)), Mul(Add(a, b), curved)), Add(success, failure))
	},
	rand: func(p []float64, rng *rand.Rand) float64 { return logGammaRand(p[0], rng) - logGammaRand(p[1], rng) },
	coordinate: coordinate{
		start: func(p []float64) (center, scale float64) { return math.Log(p[0] / p[1]), math.Sqrt(1/p[0] + 1/p[1]) },
		residual: func(e, _, _ float64, p []float64) float64 {
			scale := math.Sqrt(1/p[0] + 1/p[1])
			u := math.Log(p[0]/p[1]) + scale*e
			norm := kernel.Lgamma.Value(p[0]+p[1]) - kernel.Lgamma.Value(p[0]) - kernel.Lgamma.Value(p[1])
			return math.Log(scale) + norm - p[0]*kernel.Softplus.Value(-u) - p[1]*kernel.Softplus.Value(u)
		},
	},
	tails: tails{
		quantile: func(u Expr, p []Expr) Expr { return Sigmoid(applyTriple(kernel.LogitBetaOfNormal, u, p[0], p[1])) },
		logCDF:   func(x Expr, p []Expr) Expr { return logSigmoid(betaOdds(x, p[0], p[1])) },
		logCCDF:  func(x Expr, p []Expr) Expr { return logSigmoid(Neg(betaOdds(x, p[0], p[1]))) },
	},
	moments: moments{
		mean: func(p []Expr) Expr { return Div(p[0], Add(p[0], p[1])) },
		variance: func(p []Expr) Expr {
			sum := Add(p[0], p[1])
			return Div(Mul(Div(p[0], sum), Div(p[1], sum)), Add(sum, 1))
		},
	},
}

// Uniform is the law of graph.Uniform.
var Uniform = &Law{
	name: "Uniform", params: []param{{"min", bound}, {"max", bound}},
	supportAt: func(p []Expr) Support {
		return Support{lo: p[0].constValue(), hi: p[1].constValue(), closedLo: true, closedHi: true, transform: scaledLogisticMap}
	},
	logProb: func(x Expr, p []Expr) Expr { return Neg(Log(Sub(p[1], p[0]))) },
	rand:    func(_ []float64, rng *rand.Rand) float64 { return logitRand(rng) },
	coordinate: coordinate{
		start:    func([]float64) (center, scale float64) { return 0, logisticSD },
		residual: logisticResidual, shares: &logisticShares,
	},
	tails: tails{
		quantile: func(u Expr, p []Expr) Expr { return Add(p[0], Mul(Sub(p[1], p[0]), Apply(kernel.NormalCDF, u))) },
		logCDF:   func(x Expr, p []Expr) Expr { return Log(Div(Sub(x, p[0]), Sub(p[1], p[0]))) },
		logCCDF:  func(x Expr, p []Expr) Expr { return Log(Div(Sub(p[1], x), Sub(p[1], p[0]))) },
	},
	moments: moments{
		mean:     func(p []Expr) Expr { return Mul(0.5, Add(p[0], p[1])) },
		variance: func(p []Expr) Expr { return Div(Square(Sub(p[1], p[0])), 12) },
	},
}

// HalfCauchy is the law of graph.HalfCauchy.
var HalfCauchy = &Law{
	name: "HalfCauchy", params: []param{{"scale", Positive}}, support: nonNegatives,
	logProb: func(x Expr, p []Expr) Expr {
		return Sub(math.Log(2/math.Pi), Add(Log(p[0]), Softplus(Mul(2, Sub(Log(x), Log(p[0]))))))
	},
	rand: func(p []float64, rng *rand.Rand) float64 {
		return math.Log(p[0]) + math.Log(math.Tan(0.5*math.Pi*unitRand(rng)))
	},
	coordinate: coordinate{
		start: func(p []float64) (center, scale float64) { return math.Log(p[0]), logHalfCauchySD },
		residual: func(e, _, _ float64, _ []float64) float64 {
			w := logHalfCauchySD * math.Abs(e)
			return -w - math.Log1p(math.Exp(-2*w))
		},
	},
	tails: tails{
		quantile: scaled(kernel.HalfCauchyOfNormal),
		logCDF:   func(x Expr, p []Expr) Expr { return Apply(kernel.LogHalfCauchyCDF, Div(x, p[0])) },
		logCCDF:  func(x Expr, p []Expr) Expr { return Apply(kernel.LogHalfCauchyCDF, Div(p[0], x)) },
	},
}

// logHalfCauchySD is the standard deviation of log |x| for a standard Cauchy x.
const logHalfCauchySD = math.Pi / 2

// Weibull is the law of graph.Weibull.
var Weibull = &Law{
	name: "Weibull", params: []param{{"k", Positive}, {"lambda", Positive}}, support: Positives,
	logProb: func(x Expr, p []Expr) Expr {
		h := weibullLogHazard(x, p)
		return Sub(Sub(Add(Log(p[0]), h), Exp(h)), Log(x))
	},
	rand: func(p []float64, rng *rand.Rand) float64 { return math.Log(p[1]) + math.Log(expRand(rng))/p[0] },
	coordinate: coordinate{
		start: func(p []float64) (center, scale float64) { return math.Log(p[1]), gumbelSD / p[0] },
		residual: func(e, _, _ float64, _ []float64) float64 {
			return math.Log(gumbelSD) + gumbelSD*e - math.Exp(gumbelSD*e)
		},
	},
	tails: tails{
		quantile: func(u Expr, p []Expr) Expr { return Mul(p[1], Exp(Div(logExponential(u), p[0]))) },
		logCDF:   func(x Expr, p []Expr) Expr { return Apply(kernel.LogExponentialCDF, weibullLogHazard(x, p)) },
		logCCDF:  func(x Expr, p []Expr) Expr { return Neg(Exp(weibullLogHazard(x, p))) },
	},
	moments: moments{
		mean: func(p []Expr) Expr { return Mul(p[1], weibullMoment(1, p[0])) },
		variance: func(p []Expr) Expr {
			return Mul(Square(p[1]), Sub(weibullMoment(2, p[0]), Square(weibullMoment(1, p[0]))))
		},
	},
}

// weibullLogHazard is the logarithm of the cumulative hazard, k·log(x/λ).
func weibullLogHazard(x Expr, p []Expr) Expr { return Mul(p[0], quotientLog(x, p[1])) }

// weibullMoment is Γ(1 + n/k).
func weibullMoment(n float64, k Expr) Expr { return Exp(Lgamma(Add(1, Div(n, k)))) }

// quotientLog is log(a/b), by the difference of logarithms where one of them is known,
// as that of an exponential is.
func quotientLog(a, b Expr) Expr {
	if a.exponential() || b.exponential() {
		return Sub(Log(a), Log(b))
	}
	return applyPair(kernel.LogQuotient, a, b)
}

// exponential reports whether x has a logarithm that is none of an expression.
func (x Expr) exponential() bool {
	_, known := x.IsConst()
	return !known && x.m.Store().LogIsSimple(x.id)
}

// InverseGamma is the law of graph.InverseGamma.
var InverseGamma = &Law{
	name: "InverseGamma", params: []param{{"alpha", Positive}, {"beta", Positive}}, support: Positives,
	logProb: func(x Expr, p []Expr) Expr {
		a, m, logM := p[0], Div(p[1], x), Sub(Log(p[1]), Log(x))
		scale, known := p[1].IsConst()
		if !small(a, maxSmallShape) || known && math.Abs(math.Log(scale)) > maxSmallShape {
			return Sub(Add(Log(a), poissonLogProb(a, m, logM)), Log(x))
		}
		return Sub(Sub(Mul(a, logM), m), Add(Lgamma(a), Log(x)))
	},
	rand: func(p []float64, rng *rand.Rand) float64 { return math.Log(p[1]) - logGammaRand(p[0], rng) },
	coordinate: coordinate{
		start:    func(p []float64) (center, scale float64) { return math.Log(p[1] / p[0]), 1 / math.Sqrt(p[0]) },
		residual: func(e, _, _ float64, p []float64) float64 { return gammaResidual(-e, p[0]) },
	},
	tails: tails{
		quantile: func(u Expr, p []Expr) Expr { return Div(p[1], standardGamma(Neg(u), p[0])) },
		logCDF:   func(x Expr, p []Expr) Expr { return logSigmoid(Neg(gammaOdds(p[0], Div(p[1], x)))) },
		logCCDF:  func(x Expr, p []Expr) Expr { return logSigmoid(gammaOdds(p[0], Div(p[1], x))) },
	},
	moments: moments{
		mean: func(p []Expr) Expr { return existsAbove(1, p[0], Div(p[1], Sub(p[0], 1))) },
		variance: func(p []Expr) Expr {
			return existsAbove(2, p[0], Div(Square(Div(p[1], Sub(p[0], 1))), Sub(p[0], 2)))
		},
	},
}
