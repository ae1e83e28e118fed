package calibration

import "github.com/facetvi/facet/graph"

// twoSteps are two changes of level at unknown places, either of which may come
// first.
type twoSteps struct {
	x     []float64
	prior law
}

// between says of each x which of three values it has: before both places,
// between them, after both.
func (s twoSteps) between(m *graph.Model) func(x float64, before, middle, after graph.Expr) graph.Expr {
	first, second := m.Sample("first", s.prior.Dist), m.Sample("second", s.prior.Dist)
	return func(x float64, before, middle, after graph.Expr) graph.Expr {
		one := m.Name("past first", graph.Greater(x, first))
		two := m.Name("past second", graph.Greater(x, second))
		return graph.If(one, graph.If(two, after, middle), graph.If(two, middle, before))
	}
}

func (s twoSteps) problem(m *graph.Model, d data) problem {
	return switched{
		model: m, switches: []string{"first", "second"}, data: d,
		prior: func(at []float64) float64 { return s.prior.logProb(at[0]) + s.prior.logProb(at[1]) },
		cells: func(int) []cell { return two(s.x, s.prior) },
		sides: func(at []float64) []int {
			side := above(s.x, at[0])
			for i, v := range above(s.x, at[1]) {
				side[i] += v
			}
			return side
		},
		guards: []guardList{{"past first", len(s.x)}, {"past second", len(s.x)}},
	}.problem()
}

func (s twoSteps) normal(y []float64, mu, size float64, e noise) problem {
	m := graph.NewModel()
	level := s.between(m)
	before, middle, after := m.Sample("before", graph.Normal(mu, size)), m.Sample("middle", graph.Normal(mu, size)),
		m.Sample("after", graph.Normal(mu, size))
	sd := e.sample(m)
	for i, v := range y {
		m.Observe("y", graph.Normal(level(s.x[i], before, middle, after), sd), v)
	}
	return s.problem(m, gaussian{
		y: y, b: []coefficient{{"before", mu, size}, {"middle", mu, size}, {"after", mu, size}}, noise: e,
		row: func(_, side int) []float64 { return [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}[side] },
	})
}

func (s twoSteps) poisson(y []float64, a, b float64) problem {
	m := graph.NewModel()
	level := s.between(m)
	before, middle, after := m.Sample("before", graph.Gamma(a, b)), m.Sample("middle", graph.Gamma(a, b)), m.Sample("after", graph.Gamma(a, b))
	for i, n := range y {
		m.Observe("count", graph.Poisson(level(s.x[i], before, middle, after)), n)
	}
	rates := []rate{{name: "before", a: a, b: b}, {name: "middle", a: a, b: b}, {name: "after", a: a, b: b}}
	return s.problem(m, counts{y: y, rates: rates})
}

func twoChanges() []entry {
	return []entry{
		{"two-changes-clear", func() problem {
			y := append(stepSeries(101, 30, 15, 0, 3, 0.8), stepSeries(102, 15, 0, 0, -1, 0.8)...)
			return twoSteps{count(45), uniform(0, 45)}.normal(y, 0, 3, unknown("noise", 2, 0.4, 3))
		}},
		{"two-changes-one-in-the-data", func() problem {
			y := stepSeries(103, 40, 26, 10, 8.5, 1)
			return twoSteps{count(40), uniform(0, 40)}.normal(y, 9, 3, unknown("noise", 2, 0.5, 3))
		}},
		{"two-changes-poisson", func() problem {
			y := append(stepCounts(104, count(30), 12, 2, 6), stepCounts(105, count(14), 0, 0, 3)...)
			return twoSteps{count(44), uniform(0, 44)}.poisson(y, 1, 0.3)
		}},
		{"two-changes-second-weak", func() problem {
			y := append(stepSeries(203, 28, 10, 0, 2.5, 1), stepSeries(204, 10, 0, 0, 3.2, 1)...)
			return twoSteps{count(38), uniform(0, 38)}.normal(y, 1, 3, unknown("noise", 2, 0.4, 4))
		}},
		{"two-changes-informed", func() problem {
			y := append(stepSeries(106, 24, 8, 0, 1.5, 1), stepSeries(107, 12, 0, 0, 0.3, 1)...)
			return twoSteps{count(36), normal(18, 9)}.normal(y, 0, 2, noise{known: 1})
		}},
	}
}
