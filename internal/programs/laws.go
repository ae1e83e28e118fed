package programs

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
)

// fewLaws are those of programs that are given no others.
var fewLaws = []Law{
	{func(p []e) graph.Dist { return graph.Normal(p[0], p[1]) }, func(x float64, p []float64) float64 {
		r := (x - p[0]) / p[1]
		return -0.5*r*r - math.Log(p[1]) - 0.5*math.Log(2*math.Pi)
	}, "rp", Line, []float64{0.2, 1.1}, []float64{-1.3, 0.4, 2}},
	{func(p []e) graph.Dist { return graph.LogNormal(p[0], p[1]) }, func(x float64, p []float64) float64 {
		r := (math.Log(x) - p[0]) / p[1]
		return -0.5*r*r - math.Log(p[1]*x) - 0.5*math.Log(2*math.Pi)
	}, "rp", Half, []float64{-0.3, 0.8}, []float64{0.2, 1.5}},
	{func(p []e) graph.Dist { return graph.Uniform(p[0], p[1]) }, func(_ float64, p []float64) float64 { return -math.Log(p[1] - p[0]) },
		"cc", Interval, []float64{-1, 2.5}, []float64{0.3}},
	{func(p []e) graph.Dist { return graph.Poisson(p[0]) }, func(x float64, p []float64) float64 {
		factorial, _ := math.Lgamma(x + 1)
		return x*math.Log(p[0]) - p[0] - factorial
	}, "p", Discrete, []float64{1.5}, []float64{0, 1, 4}},
	{func(p []e) graph.Dist { return graph.Bernoulli(p[0]) }, func(x float64, p []float64) float64 {
		return x*math.Log(p[0]) + (1-x)*math.Log1p(-p[0])
	}, "u", Discrete, []float64{0.4}, []float64{0, 1}},
}

// combinedLaws are made of others by combinators. Those that are only observed have space Discrete.
var combinedLaws = []Law{
	{func(p []e) graph.Dist { return graph.Truncated(graph.Normal(p[2], p[3]), p[0], p[1]) }, func(x float64, p []float64) float64 {
		d := distuv.Normal{Mu: p[2], Sigma: p[3]}
		return d.LogProb(x) - math.Log(between(d, p[0], p[1]))
	}, "ccrp", Cut, []float64{-1, 2, 0.3, 1.2}, []float64{-1, 0.2, 1.9}},
	{func(p []e) graph.Dist { return graph.Truncated(graph.Logistic(p[0], p[1]), 0, math.Inf(1)) }, func(x float64, p []float64) float64 {
		r := (x - p[0]) / p[1]
		return -softplus(r) - softplus(-r) - math.Log(p[1]) + softplus(-p[0]/p[1])
	}, "rp", Half, []float64{0.3, 0.7}, []float64{0.1, 2}},
	{func(p []e) graph.Dist { return graph.Censored(graph.Weibull(p[0], p[1]), math.Inf(-1), 1.5) }, func(x float64, p []float64) float64 {
		d := distuv.Weibull{K: p[0], Lambda: p[1]}
		if x == 1.5 {
			return d.LogSurvival(x)
		}
		return d.LogProb(x)
	}, "pp", Discrete, []float64{1.4, 1}, []float64{0.4, 1.5}},
	{func(p []e) graph.Dist { return graph.IntervalCensored(graph.LogNormal(p[0], p[1]), 0.5, 2.0) }, func(x float64, p []float64) float64 {
		d := distuv.Normal{Mu: p[0], Sigma: p[1]}
		edges := []float64{math.Inf(-1), math.Log(0.5), math.Log(2), math.Inf(1)}
		return math.Log(between(d, edges[int(x)], edges[int(x)+1]))
	}, "rp", Discrete, []float64{0.3, 1.2}, []float64{0, 1, 2}},
	{func(p []e) graph.Dist { return graph.ZeroInflated(p[0], graph.Poisson(p[1])) }, func(x float64, p []float64) float64 {
		if x == 0 {
			return math.Log(p[0] + (1-p[0])*math.Exp(-p[1]))
		}
		return math.Log1p(-p[0]) + distuv.Poisson{Lambda: p[1]}.LogProb(x)
	}, "up", Discrete, []float64{0.3, 1.5}, []float64{0, 3}},
	{func(p []e) graph.Dist { return graph.Hurdle(p[0], graph.NegativeBinomial(p[1], p[2])) }, func(x float64, p []float64) float64 {
		if x == 0 {
			return math.Log(p[0])
		}
		return math.Log1p(-p[0]) - math.Log1p(-math.Pow(p[2], p[1])) + logNegativeBinomial(x, p[1], p[2])
	}, "upu", Discrete, []float64{0.3, 1.5, 0.4}, []float64{0, 1, 4}},
	{func(p []e) graph.Dist {
		return graph.Mixture([]e{p[0], graph.Sub(1, p[0])}, graph.Normal(p[1], p[2]), graph.StudentsT(p[3], 0.7, 3))
	}, func(x float64, p []float64) float64 {
		return math.Log(p[0]*distuv.Normal{Mu: p[1], Sigma: p[2]}.Prob(x) + (1-p[0])*distuv.StudentsT{Mu: p[3], Sigma: 0.7, Nu: 3}.Prob(x))
	}, "urpr", Line, []float64{0.4, -1, 0.6, 0.8}, []float64{-1, 0.7, 3}},
}

// between is P(a < X < b) of a normal X, by the tails that are smaller: distuv's Survival
// has no digits there.
func between(d distuv.Normal, a, b float64) float64 {
	if a > d.Mu {
		a, b = 2*d.Mu-b, 2*d.Mu-a
	}
	return d.CDF(b) - d.CDF(a)
}

func logNegativeBinomial(x, n, p float64) float64 {
	of := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	return of(x+n) - of(n) - of(x+1) + n*math.Log(p) + x*math.Log1p(-p)
}

// lastOfSwitch is the last value that a Switch chooses by.
const lastOfSwitch = 2

// discreteLaws are those of discrete latents.
var discreteLaws = []struct {
	Law
	first, last int
}{
	{Law{func(p []e) graph.Dist { return graph.Binomial(p[0], p[1]) }, func(x float64, p []float64) float64 {
		return math.Log([]float64{1, 2, 1}[int(x)]) + x*math.Log(p[1]) + (p[0]-x)*math.Log1p(-p[1])
	}, "cu", Discrete, []float64{2, 0.4}, nil}, 0, 2},
	{Law{func(p []e) graph.Dist { return graph.Bernoulli(p[0]) }, func(x float64, p []float64) float64 {
		return math.Log([]float64{1 - p[0], p[0]}[int(x)])
	}, "u", Discrete, nil, nil}, 0, 1},
	{Law{func(p []e) graph.Dist { return graph.Categorical(p...) }, func(x float64, p []float64) float64 {
		return math.Log(p[int(x)] / (p[0] + p[1] + p[2]))
	}, "ppp", Discrete, nil, nil}, 0, 2},
	{Law{func(p []e) graph.Dist { return graph.Poisson(p[0]) }, func(x float64, p []float64) float64 {
		return distuv.Poisson{Lambda: p[0]}.LogProb(x) // of more than 4 there is less than 1e-12
	}, "c", Discrete, []float64{0.01}, nil}, 0, 4},
	{Law{func(p []e) graph.Dist { return graph.Truncated(graph.Poisson(p[0]), 0, 2) }, func(x float64, p []float64) float64 {
		return x*math.Log(p[0]) - math.Log(1+x*(x-1)/2) - math.Log(1+p[0]+p[0]*p[0]/2)
	}, "p", Discrete, nil, nil}, 0, 2},
	{Law{func(p []e) graph.Dist { return graph.Truncated(graph.Geometric(p[0]), 1, 3) }, func(x float64, p []float64) float64 {
		return math.Log(p[0]) + (x-1)*math.Log1p(-p[0]) - math.Log(1-math.Pow(1-p[0], 3))
	}, "u", Discrete, nil, nil}, 1, 3},
	{Law{func(p []e) graph.Dist { return graph.Truncated(graph.NegativeBinomial(p[0], p[1]), 0, 1) }, func(x float64, p []float64) float64 {
		odds := p[0] * (1 - p[1]) // of 1 to 0
		return x*math.Log(odds) - math.Log1p(odds)
	}, "pu", Discrete, nil, nil}, 0, 1},
}
