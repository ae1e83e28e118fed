package programs

import (
	"math"

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

// lastOfDiscrete is the last value of discrete latents.
const lastOfDiscrete = 2

// discreteLaw is that of discrete latents.
var discreteLaw = Law{func(p []e) graph.Dist { return graph.Binomial(p[0], p[1]) }, func(x float64, p []float64) float64 {
	return math.Log([]float64{1, 2, 1}[int(x)]) + x*math.Log(p[1]) + (p[0]-x)*math.Log1p(-p[1])
}, "cu", Discrete, []float64{lastOfDiscrete, 0.4}, []float64{0, 1, 2}}
