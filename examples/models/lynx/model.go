// Package lynx is a self-exciting threshold autoregression: the numbers of lynx trapped in Canada. With x the logarithm to base
// 10 of the number trapped,
//
//	x_t − x_{t−1} = base + momentum·(x_{t−1} − x_{t−2}) + pull·(x_{t−2} − centre) + noise
//
// where base, momentum, pull and the noise's scale are others where x_{t−2} is above the threshold than below.
package lynx

import (
	"math"

	"github.com/facetvi/facet/graph"
)

// Centre is about the mean of x on either side of the threshold, and of all.
var Centre = map[string]float64{"low": 2.6, "high": 3.5, "all": 2.9}

// A regime is what holds on one side of the threshold.
type regime struct{ base, momentum, pull, noise graph.Expr }

// after is the distribution of the logarithm that follows x1, which follows x2.
func (r regime) after(x1, x2, centre float64) graph.Dist {
	return graph.Normal(r.mean(graph.Add(x1, 0), graph.Add(x2, 0), centre), r.noise)
}

func (r regime) mean(x1, x2 graph.Expr, centre float64) graph.Expr {
	growth := graph.Sum(r.base, graph.Mul(r.momentum, graph.Sub(x1, x2)), graph.Mul(r.pull, graph.Sub(x2, centre)))
	return graph.Add(x1, growth)
}

// regimeOf samples what holds on the side of the given name.
func regimeOf(m *graph.Model, name string) regime {
	return regime{
		base:     m.Sample("base "+name, graph.Normal(0, 1)),
		momentum: m.Sample("momentum "+name, graph.Normal(0, 1)),
		pull:     m.Sample("pull "+name, graph.Normal(0, 1)),
		noise:    m.Sample("noise "+name, graph.HalfNormal(0.5)),
	}
}

// Model is the program for logarithms x. Its guards "high" say of each year from the third on that two years before there were
// more lynx than the threshold.
func Model(x []float64) *graph.Model {
	m := graph.NewModel()
	threshold := m.Sample("threshold", graph.Normal(3, 0.5))
	low, high := regimeOf(m, "low"), regimeOf(m, "high")
	for t := 2; t < len(x); t++ {
		m.If(m.Name("high", graph.Greater(x[t-2], threshold)),
			func() { m.Observe("x", high.after(x[t-1], x[t-2], Centre["high"]), x[t]) },
			func() { m.Observe("x", low.after(x[t-1], x[t-2], Centre["low"]), x[t]) })
	}
	return m
}

// Logs are the logarithms of the numbers to base 10.
func Logs(numbers []float64) []float64 {
	x := make([]float64, len(numbers))
	for i, n := range numbers {
		x[i] = math.Log10(n)
	}
	return x
}
