package calibration

import (
	"slices"

	"github.com/facetvi/facet/graph"
)

// A regression has coefficients of features, and further ones of the first few
// features where a covariate is above a threshold.
type regression struct {
	x        []float64 // the covariate with the threshold
	prior    law       // of the threshold
	features [][]float64
	names    []string // of the features
	extra    int      // of how many features the coefficient changes
	size     float64  // of the coefficients' priors
}

func (r regression) problem(y []float64, e noise) problem {
	m := graph.NewModel()
	s := step{"threshold", r.x, r.prior}
	past := s.on(m)
	var b, change []graph.Expr
	var all []coefficient
	for _, name := range r.names {
		b = append(b, m.Sample(name, graph.Normal(0, r.size)))
		all = append(all, coefficient{name, 0, r.size})
	}
	for _, name := range r.names[:r.extra] {
		change = append(change, m.Sample("change of "+name, graph.Normal(0, r.size)))
		all = append(all, coefficient{"change of " + name, 0, r.size})
	}
	sd := e.sample(m)
	for i, v := range y {
		mean := linear(b, r.features[i])
		more := linear(change, r.features[i][:r.extra])
		m.Observe("y", graph.Normal(graph.Add(mean, graph.If(past[i], more, 0)), sd), v)
	}
	return s.problem(m, gaussian{y: y, b: all, noise: e, row: func(i, side int) []float64 {
		row := slices.Clone(r.features[i])
		for _, f := range r.features[i][:r.extra] {
			row = append(row, float64(side)*f)
		}
		return row
	}})
}

// linear is b·features.
func linear(b []graph.Expr, features []float64) graph.Expr {
	terms := make([]graph.Expr, len(b))
	for j, f := range features {
		terms[j] = graph.Mul(b[j], f)
	}
	return graph.Sum(terms...)
}

func regressions() []entry {
	// simulate is a regression on n points with a threshold at the given x.
	simulate := func(seed uint64, n, features, extra int, at float64, b []float64, sd float64) (regression, []float64) {
		rng := source(seed)
		r := regression{
			x: covariate(seed+1, n, -2, 2), extra: extra, size: 3,
			names: []string{"level", "slope", "effect", "trend"}[:features],
		}
		y := make([]float64, n)
		for i, x := range r.x {
			f := []float64{1, x, rounded(rng.NormFloat64()), rounded(2*rng.Float64() - 1)}[:features]
			r.features = append(r.features, f)
			for j, v := range f {
				y[i] += b[j] * v
			}
			if x > at {
				for j, v := range f[:extra] {
					y[i] += b[features+j] * v
				}
			}
			y[i] = rounded(y[i] + sd*rng.NormFloat64())
		}
		return r, y
	}
	return []entry{
		{"regression-one-coefficient", func() problem {
			r, y := simulate(111, 25, 1, 1, 0.5, []float64{1, 1.5}, 0.7)
			r.prior = normal(0, 1)
			return r.problem(y, noise{known: 0.7})
		}},
		{"regression-broken-line", func() problem {
			r, y := simulate(112, 40, 2, 2, -0.4, []float64{1, 0.5, -1, 1.2}, 0.8)
			r.prior = normal(0, 1)
			return r.problem(y, unknown("noise", 2, 0.4, 2.5))
		}},
		{"regression-three-coefficients", func() problem {
			r, y := simulate(114, 30, 3, 2, 1.1, []float64{0, 1, -0.5, 0.8, 0.4}, 1)
			r.prior = uniform(-2, 2)
			return r.problem(y, unknown("noise", 2, 0.3, 6))
		}},
		{"regression-four-coefficients", func() problem {
			r, y := simulate(116, 60, 4, 4, 0, []float64{1, 1, 1, 1, 0.5, -1, 0.5, -2}, 1.2)
			r.prior = normal(0, 0.8)
			return r.problem(y, unknown("noise", 2, 0.6, 3))
		}},
		{"regression-two-coefficients-edge", func() problem { // hardly any data past the threshold
			r, y := simulate(211, 35, 2, 2, 1.6, []float64{1, 0.5, 2, -1}, 0.8)
			r.prior = normal(0.5, 1)
			return r.problem(y, unknown("noise", 2, 0.3, 4))
		}},
		{"regression-four-coefficients-two-change", func() problem {
			r, y := simulate(213, 45, 4, 2, -0.6, []float64{1, 1, -1, 0.5, 0.9, -0.7}, 1)
			r.prior = uniform(-2, 2)
			return r.problem(y, unknown("noise", 2, 0.4, 4))
		}},
		{"regression-four-coefficients-weak", func() problem {
			r, y := simulate(118, 18, 4, 1, -1, []float64{1, 0.5, 0, 0.5, 0.6}, 1.5)
			r.prior = normal(0, 1)
			return r.problem(y, unknown("noise", 3, 0.2, 20))
		}},
	}
}
