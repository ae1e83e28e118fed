package lang

import (
	"math"
	"math/rand/v2"

	"github.com/facetvi/facet/internal/kernel"
)

// Distributions on the real line.

// Normal is the law of graph.Normal.
var Normal = &Law{
	name: "Normal", params: []param{{"mu", AnyReal}, {"sigma", Positive}}, support: reals,
	logProb: func(x Expr, p []Expr) Expr { return normalLogProb(x, p[0], p[1]) },
	rand:    func(p []float64, rng *rand.Rand) float64 { return p[0] + p[1]*rng.NormFloat64() },
	coordinate: coordinate{
		start:    func(p []float64) (center, scale float64) { return p[0], p[1] },
		residual: normalResidual, shares: &normalShares, light: true,
	},
	tails: tails{
		quantile: func(u Expr, p []Expr) Expr { return Add(p[0], Mul(p[1], u)) },
		logCDF:   func(x Expr, p []Expr) Expr { return LogNormalCDF(Div(Sub(x, p[0]), p[1])) },
		logCCDF:  func(x Expr, p []Expr) Expr { return LogNormalCDF(Div(Sub(p[0], x), p[1])) },
		logMass: func(a, b Expr, p []Expr) Expr {
			return applyPair(kernel.LogNormalMass, Div(Sub(a, p[0]), p[1]), Div(Sub(b, p[0]), p[1]))
		},
	},
	moments: moments{mean: func(p []Expr) Expr { return p[0] }, variance: func(p []Expr) Expr { return Square(p[1]) }},
}

func normalResidual(e, _, _ float64, _ []float64) float64 { return -0.5*e*e - halfLog2Pi }

// Logarithms that the compiler would take at each call.
var (
	halfLog2Pi = 0.5 * math.Log(2*math.Pi)
	logPi      = math.Log(math.Pi)
)

func normalLogProb(x, mu, sigma Expr) Expr {
	return Sub(Mul(-0.5, squaredRatio(Sub(x, mu), sigma)), Add(Log(sigma), 0.5*math.Log(2*math.Pi)))
}

// squaredRatio is (d/σ)². Where σ² is known, it is d²/σ²: so a sum d of latents
// stays one.
func squaredRatio(d, sigma Expr) Expr {
	if sigma.squares() {
		return Div(Square(d), Square(sigma))
	}
	return Square(ratio(d, sigma))
}

// ratio is d/s up to its sign. Of a number s it is |d|/s: 1/s would be multiplied
// into the sum d, where x/s − μ/s may cancel more than x − μ.
func ratio(d, s Expr) Expr {
	if _, isNumber := s.IsConst(); isNumber {
		d = abs(d)
	}
	return Div(d, s)
}

// logisticSD is the standard deviation π/√3 of the standard logistic
// distribution.
const logisticSD = math.Pi / 1.7320508075688772

// Logistic is the law of graph.Logistic.
var Logistic = &Law{
	name: "Logistic", params: []param{{"mu", AnyReal}, {"s", Positive}}, support: reals,
	logProb: func(x Expr, p []Expr) Expr {
		r := Div(abs(Sub(x, p[0])), p[1])
		return Sub(Neg(r), Add(Log(p[1]), Mul(2, Softplus(Neg(r)))))
	},
	rand: func(p []float64, rng *rand.Rand) float64 { return p[0] + p[1]*logitRand(rng) },
	coordinate: coordinate{
		start:    func(p []float64) (center, scale float64) { return p[0], p[1] * logisticSD },
		residual: logisticResidual, shares: &logisticShares,
	},
	tails: tails{
		quantile: located(kernel.LogisticOfNormal),
		logCDF:   func(x Expr, p []Expr) Expr { return Neg(Softplus(Div(Sub(p[0], x), p[1]))) },
		logCCDF:  func(x Expr, p []Expr) Expr { return Neg(Softplus(Div(Sub(x, p[0]), p[1]))) },
	},
	moments: moments{
		mean:     func(p []Expr) Expr { return p[0] },
		variance: func(p []Expr) Expr { return Mul(logisticSD*logisticSD, Square(p[1])) },
	},
}

func logisticResidual(e, _, _ float64, _ []float64) float64 {
	r := logisticSD * math.Abs(e)
	return math.Log(logisticSD) - r - 2*math.Log1p(math.Exp(-r))
}

// Laplace is the law of graph.Laplace.
var Laplace = &Law{
	name: "Laplace", params: []param{{"mu", AnyReal}, {"scale", Positive}}, support: reals,
	logProb: func(x Expr, p []Expr) Expr {
		return Sub(Neg(Div(abs(Sub(x, p[0])), p[1])), Add(Log(p[1]), math.Ln2))
	},
	rand: func(p []float64, rng *rand.Rand) float64 {
		return p[0] + p[1]*math.Copysign(expRand(rng), rng.Float64()-0.5)
	},
	coordinate: coordinate{
		start:    func(p []float64) (center, scale float64) { return p[0], p[1] * math.Sqrt2 },
		residual: func(e, _, _ float64, _ []float64) float64 { return -math.Sqrt2*math.Abs(e) - 0.5*math.Ln2 },
	},
	tails: tails{
		quantile: located(kernel.LaplaceOfNormal),
		logCDF:   func(x Expr, p []Expr) Expr { return Apply(kernel.LogLaplaceCDF, Div(Sub(x, p[0]), p[1])) },
		logCCDF:  func(x Expr, p []Expr) Expr { return Apply(kernel.LogLaplaceCDF, Div(Sub(p[0], x), p[1])) },
	},
	moments: moments{mean: func(p []Expr) Expr { return p[0] }, variance: func(p []Expr) Expr { return Mul(2, Square(p[1])) }},
}

// StudentsT is the law of graph.StudentsT.
var StudentsT = &Law{
	name: "StudentsT", params: []param{{"mu", AnyReal}, {"sigma", Positive}, {"nu", Positive}}, support: reals,
	logProb: func(x Expr, p []Expr) Expr {
		t, nu := ratio(Sub(x, p[0]), p[1]), p[2]
		norm := Sub(Apply(kernel.GammaRatio, Mul(0.5, nu)), Add(Log(p[1]), 0.5*math.Log(2*math.Pi)))
		return Sub(norm, applyPair(kernel.StudentTail, t, nu))
	},
	rand: func(p []float64, rng *rand.Rand) float64 {
		half := p[2] / 2 // t = x/√(g/half) for a normal x and a gamma g
		return p[0] + p[1]*rng.NormFloat64()*math.Exp(0.5*(math.Log(half)-logGammaRand(half, rng)))
	},
	coordinate: coordinate{
		start: func(p []float64) (center, scale float64) { return p[0], p[1] },
		residual: func(e, _, _ float64, p []float64) float64 {
			return kernel.GammaRatio.Value(0.5*p[2]) - halfLog2Pi - kernel.StudentTail.Value2(e, p[2])
		},
	},
	tails: tails{
		quantile: func(u Expr, p []Expr) Expr { return Add(p[0], Mul(p[1], applyPair(kernel.StudentOfNormal, u, p[2]))) },
		logCDF:   func(x Expr, p []Expr) Expr { return applyPair(kernel.LogStudentCDF, Div(Sub(x, p[0]), p[1]), p[2]) },
		logCCDF:  func(x Expr, p []Expr) Expr { return applyPair(kernel.LogStudentCDF, Div(Sub(p[0], x), p[1]), p[2]) },
	},
	moments: moments{
		mean:     func(p []Expr) Expr { return existsAbove(1, p[2], p[0]) },
		variance: func(p []Expr) Expr { return existsAbove(2, p[2], Mul(Square(p[1]), Div(p[2], Sub(p[2], 2)))) },
	},
}

// existsAbove is x, a moment that does not exist unless p is above least.
func existsAbove(least float64, p, x Expr) Expr {
	if v, known := p.IsConst(); known && v <= least {
		return Expr{v: math.NaN()}
	}
	return x
}

// Cauchy is the law of graph.Cauchy.
var Cauchy = &Law{
	name: "Cauchy", params: []param{{"mu", AnyReal}, {"scale", Positive}}, support: reals,
	logProb: func(x Expr, p []Expr) Expr {
		return Sub(Neg(applyPair(kernel.StudentTail, ratio(Sub(x, p[0]), p[1]), Expr{v: 1})), Add(Log(p[1]), math.Log(math.Pi)))
	},
	rand: func(p []float64, rng *rand.Rand) float64 { return p[0] + p[1]*math.Tan(math.Pi*(unitRand(rng)-0.5)) },
	coordinate: coordinate{
		start:    func(p []float64) (center, scale float64) { return p[0], p[1] },
		residual: func(e, _, _ float64, _ []float64) float64 { return -logPi - kernel.StudentTail.Value2(e, 1) },
	},
	tails: tails{
		quantile: located(kernel.CauchyOfNormal),
		logCDF:   func(x Expr, p []Expr) Expr { return Apply(kernel.LogCauchyCDF, Div(Sub(x, p[0]), p[1])) },
		logCCDF:  func(x Expr, p []Expr) Expr { return Apply(kernel.LogCauchyCDF, Div(Sub(p[0], x), p[1])) },
	},
}

// gumbelSD is the standard deviation π/√6 of the standard Gumbel distribution.
const gumbelSD = math.Pi / 2.4494897427831781

// Gumbel is the law of graph.Gumbel.
var Gumbel = &Law{
	name: "Gumbel", params: []param{{"mu", AnyReal}, {"beta", Positive}}, support: reals,
	logProb: func(x Expr, p []Expr) Expr {
		r := Div(Sub(p[0], x), p[1])
		return Sub(Sub(r, Exp(r)), Log(p[1]))
	},
	rand: func(p []float64, rng *rand.Rand) float64 { return p[0] - p[1]*math.Log(expRand(rng)) },
	coordinate: coordinate{
		start: func(p []float64) (center, scale float64) { return p[0], p[1] * gumbelSD },
		residual: func(e, _, _ float64, _ []float64) float64 {
			return math.Log(gumbelSD) - gumbelSD*e - math.Exp(-gumbelSD*e)
		},
	},
	tails: tails{
		quantile: func(u Expr, p []Expr) Expr { return Sub(p[0], Mul(p[1], logExponential(Neg(u)))) },
		logCDF:   func(x Expr, p []Expr) Expr { return Neg(Exp(Div(Sub(p[0], x), p[1]))) },
		logCCDF:  func(x Expr, p []Expr) Expr { return Apply(kernel.LogExponentialCDF, Div(Sub(p[0], x), p[1])) },
	},
	moments: moments{
		mean:     func(p []Expr) Expr { return Add(p[0], Mul(eulerGamma, p[1])) },
		variance: func(p []Expr) Expr { return Mul(gumbelSD*gumbelSD, Square(p[1])) },
	},
}

const eulerGamma = 0.57721566490153286060651209008240243
