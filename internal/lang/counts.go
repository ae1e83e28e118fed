package lang

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/internal/kernel"
)

// Discrete distributions, of observations and of discrete latents. x is a number, so what
// depends on it alone is computed once for each data set. Those of categories are in
// categories.go.

// Poisson is the law of graph.Poisson.
var Poisson = &Law{
	name: "Poisson", params: []param{{"lambda", Positive}}, support: counts,
	logProb: func(x Expr, p []Expr) Expr {
		if !small(x, maxSmallCount) {
			return poissonLogProb(x, p[0], Log(p[0]))
		}
		return Sub(times(x, Log(p[0])), Add(p[0], Lgamma(Add(x, 1))))
	},
	rand: func(p []float64, rng *rand.Rand) float64 { return distuv.Poisson{Lambda: p[0], Src: rng}.Rand() },
	tails: tails{
		rises:   []bool{true},
		logCDF:  func(x Expr, p []Expr) Expr { return logSigmoid(Neg(gammaOdds(Add(x, 1), p[0]))) },
		logCCDF: func(x Expr, p []Expr) Expr { return logSigmoid(gammaOdds(Add(x, 1), p[0])) },
	},
	moments: moments{mean: func(p []Expr) Expr { return p[0] }, variance: func(p []Expr) Expr { return p[0] }},
}

// Bernoulli is the law of graph.Bernoulli.
var Bernoulli = &Law{
	name: "Bernoulli", params: []param{{"p", Probability}}, support: Support{lo: 0, hi: 1, whole: true},
	logProb: func(x Expr, p []Expr) Expr { return successes(x, Sub(1, x), p[0]) },
	rand: func(p []float64, rng *rand.Rand) float64 {
		if rng.Float64() < p[0] {
			return 1
		}
		return 0
	},
	tails: tails{
		logCDF:  func(x Expr, p []Expr) Expr { return times(is(x, 0), Log1p(Neg(p[0]))) },
		logCCDF: func(x Expr, p []Expr) Expr { return applyPair(kernel.IfNonNegative, Neg(x), Log(p[0])) },
	},
	moments: moments{mean: func(p []Expr) Expr { return p[0] }, variance: func(p []Expr) Expr { return Mul(p[0], Sub(1, p[0])) }},
}

// is is 1 where x = k, else 0.
func is(x Expr, k float64) Expr { return Apply(kernel.Is0, Sub(x, k)) }

// successes is the log probability of s successes and f failures in a row.
func successes(s, f, p Expr) Expr {
	return Add(times(s, Log(p)), times(f, Log1p(Neg(p))))
}

// Binomial is the law of graph.Binomial.
var Binomial = &Law{
	name: "Binomial", upTo: binomialUpTo, params: []param{{"n", count}, {"p", Probability}},
	supportAt: func(p []Expr) Support { return Support{lo: 0, hi: p[0].constValue(), whole: true} },
	logProb: func(x Expr, p []Expr) Expr {
		fails := Sub(p[0], x)
		if !small(p[0], maxSmallCount) {
			return trialsLogProb(x, fails, p[1])
		}
		return Add(applyPair(kernel.Choose, x, Add(fails, 1)), successes(x, fails, p[1]))
	},
	rand: func(p []float64, rng *rand.Rand) float64 { return distuv.Binomial{N: p[0], P: p[1], Src: rng}.Rand() },
	tails: tails{
		logCDF:  func(x Expr, p []Expr) Expr { return logSigmoid(Neg(betaOdds(p[1], Add(x, 1), Sub(p[0], x)))) },
		logCCDF: func(x Expr, p []Expr) Expr { return logSigmoid(betaOdds(p[1], Add(x, 1), Sub(p[0], x))) },
	},
	moments: moments{
		mean:     func(p []Expr) Expr { return Mul(p[0], p[1]) },
		variance: func(p []Expr) Expr { return Mul(p[0], Mul(p[1], Sub(1, p[1]))) },
	},
}

// Geometric is the law of graph.Geometric.
var Geometric = &Law{
	name: "Geometric", params: []param{{"p", Probability}}, support: Support{lo: 1, hi: math.Inf(1), whole: true},
	logProb: func(x Expr, p []Expr) Expr { return successes(Expr{v: 1}, Sub(x, 1), p[0]) },
	rand:    func(p []float64, rng *rand.Rand) float64 { return 1 + math.Floor(expRand(rng)/-math.Log1p(-p[0])) },
	tails: tails{
		rises:   []bool{false},
		logCDF:  func(x Expr, p []Expr) Expr { return Apply(kernel.Log1mExp, times(x, Log1p(Neg(p[0])))) },
		logCCDF: func(x Expr, p []Expr) Expr { return times(x, Log1p(Neg(p[0]))) },
	},
	moments: moments{
		mean:     func(p []Expr) Expr { return Div(1, p[0]) },
		variance: func(p []Expr) Expr { return Div(Sub(1, p[0]), Square(p[0])) },
	},
}

// binomialUpTo is the law where n is a discrete latent, or another value that changes by branches alone, and at most most: where n is
// less than x, x has probability 0.
func binomialUpTo(f Law, most float64) *Law {
	f.tails.logCDF, f.tails.logCCDF = nil, nil
	f.params = []param{{"n", AnyReal}, f.params[1]} // its values are known to be counts, also to laws that are made of f
	f.supportAt = func([]Expr) Support { return Support{lo: 0, hi: most, whole: true} }
	f.logProb = func(x Expr, p []Expr) Expr {
		fails := Sub(p[0], x)
		return applyPair(kernel.IfNonNegative, fails, Add(applyPair(kernel.Choose, x, Add(fails, 1)), Add(times(x, Log(p[1])), Mul(fails, Log1p(Neg(p[1]))))))
	}
	return &f
}

// NegativeBinomial is the law of graph.NegativeBinomial.
var NegativeBinomial = &Law{
	name: "NegativeBinomial", params: []param{{"n", Positive}, {"p", Probability}}, support: counts,
	logProb: func(x Expr, p []Expr) Expr {
		n := p[0]
		if !small(n, maxSmallCount) || !small(x, maxSmallCount) {
			return Add(applyPair(kernel.LogShare, n, x), trialsLogProb(n, x, p[1]))
		}
		return Add(applyPair(kernel.Choose, x, n), successes(n, x, p[1]))
	},
	rand: func(p []float64, rng *rand.Rand) float64 { // a Poisson whose mean is gamma
		mean := math.Exp(logGammaRand(p[0], rng) + math.Log1p(-p[1]) - math.Log(p[1]))
		return distuv.Poisson{Lambda: mean, Src: rng}.Rand()
	},
	tails: tails{
		rises:   []bool{true, false},
		logCDF:  func(x Expr, p []Expr) Expr { return logSigmoid(betaOdds(p[1], p[0], Add(x, 1))) },
		logCCDF: func(x Expr, p []Expr) Expr { return logSigmoid(Neg(betaOdds(p[1], p[0], Add(x, 1)))) },
	},
	moments: moments{
		mean:     func(p []Expr) Expr { return Div(Mul(p[0], Sub(1, p[1])), p[1]) },
		variance: func(p []Expr) Expr { return Div(Mul(p[0], Sub(1, p[1])), Square(p[1])) },
	},
}
