package vi

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
)

// A replicated is an observation with numbers as parameters, and what its replicates must have:
// the mean and the variance of f of them.
type replicated struct {
	name           string
	d              graph.Dist
	x              float64
	f              func(x float64) float64 // nil for x itself
	mean, variance float64
}

// ofMass is the mean and variance of whole numbers from 0 on with the given probabilities.
func ofMass(p func(k float64) float64) (mean, variance float64) {
	square := 0.0
	for k := range 400 {
		x := float64(k)
		mean, square = mean+x*p(x), square+x*x*p(x)
	}
	return mean, square - mean*mean
}

// ofDensity is that of a density between two points.
func ofDensity(p func(x float64) float64, lo, hi float64) (mean, variance float64) {
	mean = quad.Fixed(func(x float64) float64 { return x * p(x) }, lo, hi, 200, nil, 0)
	square := quad.Fixed(func(x float64) float64 { return x * x * p(x) }, lo, hi, 200, nil, 0)
	return mean, square - mean*mean
}

func replicatedLaws() []replicated {
	var list []replicated
	add := func(name string, d graph.Dist, x, mean, variance float64) {
		list = append(list, replicated{name, d, x, nil, mean, variance})
	}
	below := func(name string, d graph.Dist, at, p float64) { // of a law without moments
		f := func(x float64) float64 {
			if x <= at {
				return 1
			}
			return 0
		}
		list = append(list, replicated{name, d, at, f, p, p * (1 - p)})
	}
	of := func(name string, d graph.Dist, x float64, want interface {
		Mean() float64
		Variance() float64
	}) {
		add(name, d, x, want.Mean(), want.Variance())
	}
	mass := func(name string, d graph.Dist, p func(k float64) float64) {
		mean, variance := ofMass(p)
		add(name, d, 1, mean, variance)
	}
	density := func(name string, d graph.Dist, x float64, p func(x float64) float64, lo, hi float64) {
		mean, variance := ofDensity(p, lo, hi)
		add(name, d, x, mean, variance)
	}
	of("Normal", graph.Normal(-1.5, 2), 0, distuv.Normal{Mu: -1.5, Sigma: 2})
	of("Logistic", graph.Logistic(-1.5, 2), 0, distuv.Logistic{Mu: -1.5, S: 2})
	of("Laplace", graph.Laplace(-1.5, 2), 0, distuv.Laplace{Mu: -1.5, Scale: 2})
	of("StudentsT", graph.StudentsT(-1.5, 2, 9), 0, distuv.StudentsT{Mu: -1.5, Sigma: 2, Nu: 9})
	below("Cauchy", graph.Cauchy(-1.5, 2), 0.5, 0.75)
	of("Gumbel", graph.Gumbel(-1.5, 2), 0, distuv.GumbelRight{Mu: -1.5, Beta: 2})
	of("LogNormal", graph.LogNormal(0.5, 0.4), 1, distuv.LogNormal{Mu: 0.5, Sigma: 0.4})
	add("HalfNormal", graph.HalfNormal(2), 1, 2*math.Sqrt(2/math.Pi), 4*(1-2/math.Pi))
	of("Exponential", graph.Exponential(2), 1, distuv.Exponential{Rate: 2})
	of("Gamma", graph.Gamma(1.5, 2), 1, distuv.Gamma{Alpha: 1.5, Beta: 2})
	of("ChiSquared", graph.ChiSquared(3), 1, distuv.ChiSquared{K: 3})
	of("Beta", graph.Beta(1.5, 2), 0.5, distuv.Beta{Alpha: 1.5, Beta: 2})
	below("HalfCauchy", graph.HalfCauchy(2), 2*math.Sqrt(3), 2.0/3)
	of("Weibull", graph.Weibull(1.5, 2), 1, distuv.Weibull{K: 1.5, Lambda: 2})
	of("InverseGamma", graph.InverseGamma(9, 2), 1, distuv.InverseGamma{Alpha: 9, Beta: 2})
	of("Uniform", graph.Uniform(-1, 2), 1, distuv.Uniform{Min: -1, Max: 2})
	of("Poisson", graph.Poisson(2.5), 1, distuv.Poisson{Lambda: 2.5})
	of("Bernoulli", graph.Bernoulli(0.3), 1, distuv.Bernoulli{P: 0.3})
	of("Binomial", graph.Binomial(7, 0.3), 1, distuv.Binomial{N: 7, P: 0.3})
	add("Geometric", graph.Geometric(0.3), 1, 1/0.3, 0.7/0.09)
	add("NegativeBinomial", graph.NegativeBinomial(2.5, 0.4), 1, 2.5*0.6/0.4, 2.5*0.6/0.16)
	mass("Categorical", graph.Categorical(1.0, 2, 0.5), func(k float64) float64 {
		return append([]float64{1 / 3.5, 2 / 3.5, 0.5 / 3.5}, make([]float64, 400)...)[int(k)]
	})
	mass("OrderedLogistic", graph.OrderedLogistic(0.3, -1.0, 0.5), func(k float64) float64 {
		at := func(c float64) float64 { return 1 / (1 + math.Exp(0.3-c)) }
		return append([]float64{at(-1), at(0.5) - at(-1), 1 - at(0.5)}, make([]float64, 400)...)[int(k)]
	})

	normal, weibull, poisson := distuv.Normal{Mu: 0.3, Sigma: 1.2}, distuv.Weibull{K: 1.5, Lambda: 2}, distuv.Poisson{Lambda: 2.5}
	density("Truncated", graph.Truncated(graph.Normal(0.3, 1.2), -1, 2), 0, func(x float64) float64 {
		return normal.Prob(x) / (normal.CDF(2) - normal.CDF(-1))
	}, -1, 2)
	density("Truncated far out", graph.Truncated(graph.Normal(0.0, 1), 6, math.Inf(1)), 7, func(x float64) float64 {
		return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) / (0.5 * math.Erfc(6/math.Sqrt2))
	}, 6, 12)
	mass("Truncated counts", graph.Truncated(graph.Poisson(2.5), 1, math.Inf(1)), func(k float64) float64 {
		if k == 0 {
			return 0
		}
		return poisson.Prob(k) / -math.Expm1(-2.5)
	})
	censored := func(x float64) float64 { return weibull.Prob(x) / weibull.CDF(3) }
	mean, variance := ofDensity(censored, 0, 3)
	ends := weibull.Survival(3)
	whole := (1-ends)*mean + ends*3
	add("Censored", graph.Censored(graph.Weibull(1.5, 2), math.Inf(-1), 3), 3, whole, (1-ends)*(variance+mean*mean)+ends*9-whole*whole)
	mass("IntervalCensored", graph.IntervalCensored(graph.Normal(0.3, 1.2), -1.0, 0.5, 2), func(k float64) float64 {
		edges := []float64{math.Inf(-1), -1, 0.5, 2, math.Inf(1)}
		if k > 3 {
			return 0
		}
		return normal.CDF(edges[int(k)+1]) - normal.CDF(edges[int(k)])
	})
	mass("ZeroInflated", graph.ZeroInflated(0.2, graph.Poisson(2.5)), func(k float64) float64 {
		if k == 0 {
			return 0.2 + 0.8*poisson.Prob(0)
		}
		return 0.8 * poisson.Prob(k)
	})
	mass("Hurdle", graph.Hurdle(0.2, graph.Poisson(2.5)), func(k float64) float64 {
		if k == 0 {
			return 0.2
		}
		return 0.8 * poisson.Prob(k) / -math.Expm1(-2.5)
	})
	add("Mixture", graph.Mixture([]float64{1, 3}, graph.Normal(-2, 0.5), graph.Logistic(1, 0.3)), 0,
		0.25*-2+0.75, 0.25*(0.25+4)+0.75*(0.09*math.Pi*math.Pi/3+1)-0.25*0.25)
	return list
}

// Predictions by a fit replicate all that can be observed: independent values of each law and
// combination, the steps of a hidden chain, with and without lags, and vectors. With numbers
// as parameters their means and variances are known.
func TestPredictionsHaveTheMomentsOfTheirLaws(t *testing.T) {
	m := graph.NewModel()
	m.Sample("z", graph.Normal(0, 1))
	laws := replicatedLaws()
	for _, l := range laws {
		m.Observe(l.name, l.d, l.x)
	}
	m.ObserveVector("vector", graph.MultivariateNormal([]float64{1, -2}, [][]float64{{2}, {0.5, 1.5}}), []float64{0, 0})
	centers := []float64{-1, 2}
	h := graph.HMM{Initial: graph.Numbers(0.3, 0.7), Transition: [][]graph.Expr{graph.Numbers(0.9, 0.1), graph.Numbers(0.4, 0.6)}}
	h.Emission = func(_ int, s []int) graph.Dist { return graph.Normal(centers[s[0]], 0.5) }
	m.ObserveHMM("chain", h, []float64{0, 0, 0})
	h.Lags = 1
	h.Emission = func(_ int, s []int) graph.Dist { return graph.Normal(centers[s[0]]+10*float64(s[1]), 0.5) }
	m.ObserveHMM("lagged", h, []float64{0, 0, 0})
	p, err := Fit(context.Background(), mustCompile(t, m), Settings{Seed: *seed})
	require.NoError(t, err)

	const n = 20000
	predictions, err := p.Predict(n, *seed)
	require.NoError(t, err)
	column := func(name string, k int) []float64 {
		rows, err := predictions.Of(name)
		require.NoError(t, err)
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = rows.At(i, k)
		}
		return xs
	}
	// require5 requires a mean and a variance, to five standard errors.
	require5 := func(xs []float64, mean, variance float64, what ...any) {
		t.Helper()
		square, fourth := 0.0, 0.0
		sum := 0.0
		for _, x := range xs {
			d := x - mean
			sum, square, fourth = sum+d, square+d*d, fourth+d*d*d*d
		}
		require.Less(t, math.Abs(sum/n), 5*math.Sqrt(variance/n), what...)
		se := math.Sqrt((fourth/n - variance*variance) / n)
		require.Less(t, math.Abs(square/n-variance), 5*se, what...)
		require.Less(t, 5*se, 0.3*variance, what...) // else it proves nothing
	}
	for _, l := range laws {
		xs := column(l.name, 0)
		if l.f != nil {
			for i, x := range xs {
				xs[i] = l.f(x)
			}
		}
		require5(xs, l.mean, l.variance, l.name)
	}
	x, y := column("vector", 0), column("vector", 1)
	require5(x, 1, 4, "vector 0")
	require5(y, -2, 2.5, "vector 1")
	for i := range x {
		x[i] += y[i]
	}
	require5(x, -1, 4+2.5+2*1, "sum of the vector")

	share := 0.7 // of state 1
	before := 0.7
	for step := range 3 {
		require5(column("chain", step), -1+3*share, 0.25+9*share*(1-share), "chain, step", step)
		share = share*0.6 + (1-share)*0.1
		// of the states at the lagged chain's step and before
		both, now := before*0.6, before*0.6+(1-before)*0.1
		mean := -1 + 3*now + 10*before
		variance := 0.25 + 9*now*(1-now) + 100*before*(1-before) + 60*(both-now*before)
		require5(column("lagged", step), mean, variance, "lagged, step", step)
		before = now
	}
}
