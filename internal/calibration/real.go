package calibration

import (
	"math"

	"github.com/facetvi/facet/graph"
)

// yearsFrom are n years.
func yearsFrom(first, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(first + i)
	}
	return x
}

// lynx is a threshold autoregression of the second order, with a noise for each
// regime.
func lynx() problem {
	x := make([]float64, len(trapped))
	for i, n := range trapped {
		x[i] = math.Log10(n)
	}
	n := len(x) - 2
	prior := normal(3, 0.5)
	m := graph.NewModel()
	s := step{"threshold", x[:n], prior}
	past := s.on(m)
	y := x[2:]
	features := make([][]float64, n)
	for t := range features {
		features[t] = []float64{1, x[t+1], x[t]}
	}
	regime := func(name string, side int) (func(t int), gaussian) {
		g := gaussian{y: y, noise: unknown("noise "+name, 0.5, 0.02, 4.5), row: func(t, s int) []float64 {
			if s != side {
				return nil
			}
			return features[t]
		}}
		var b []graph.Expr
		for _, c := range []string{"base ", "momentum ", "pull "} {
			b = append(b, m.Sample(c+name, graph.Normal(0, 1)))
			g.b = append(g.b, coefficient{c + name, 0, 1})
		}
		sd := g.noise.sample(m)
		return func(t int) { m.Observe("x", graph.Normal(linear(b, features[t]), sd), y[t]) }, g
	}
	low, lowData := regime("low", 0)
	high, highData := regime("high", 1)
	for t := range y {
		m.If(past[t], func() { high(t) }, func() { low(t) })
	}
	return s.problem(m, both{lowData, highData})
}

func realSeries() []entry {
	return []entry{
		{"real-coal", func() problem {
			return step{"change", yearsFrom(1851, len(disasters)), uniform(1851, 1962)}.poisson(disasters, 1, 0.5)
		}},
		{"real-nile", func() problem {
			return step{"shift", yearsFrom(1871, len(flow)), uniform(1871, 1970)}.normal(
				scaled(flow, 0.01), 9, 2, unknown("noise", 2, 0.5, 3))
		}},
		{"real-nile-two-shifts", func() problem {
			return twoSteps{yearsFrom(1871, len(flow)), uniform(1871, 1970)}.normal(scaled(flow, 0.01), 9, 2, unknown("noise", 2, 0.5, 3))
		}},
		{"real-nile-raw", func() problem { // in the units of the data, and the last 40 years, which have no clear shift
			return step{"shift", yearsFrom(1931, 40), normal(1950, 10)}.normal(
				flow[60:], 900, 200, unknown("noise", 200, 60, 300))
		}},
		{"real-lynx", lynx},
	}
}
