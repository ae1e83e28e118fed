package calibration

import "github.com/facetvi/facet/graph"

// A divided model has guards of several latents that choose between two levels.
type divided interface {
	on(m *graph.Model) []graph.Guard
	sides(at []float64) []int
	problem(m *graph.Model, d data) problem
}

// divideNormal has normal data, with two levels of the given names.
func divideNormal(g divided, names [2]string, y []float64, mu, size float64, e noise) problem {
	m := graph.NewModel()
	on := g.on(m)
	off, high := m.Sample(names[0], graph.Normal(mu, size)), m.Sample(names[1], graph.Normal(mu, size))
	sd := e.sample(m)
	for i, v := range y {
		m.Observe("y", graph.Normal(graph.If(on[i], high, off), sd), v)
	}
	return g.problem(m, gaussian{
		y: y, b: []coefficient{{names[0], mu, size}, {names[1], mu, size}}, noise: e,
		row: func(_, side int) []float64 { return [][]float64{{1, 0}, {0, 1}}[side] },
	})
}

// dividePoisson has counts, with two rates of the given names.
func dividePoisson(g divided, names [2]string, y []float64, a, b float64) problem {
	m := graph.NewModel()
	on := g.on(m)
	off, high := m.Sample(names[0], graph.Gamma(a, b)), m.Sample(names[1], graph.Gamma(a, b))
	for i, n := range y {
		m.Observe("count", graph.Poisson(graph.If(on[i], high, off)), n)
	}
	return g.problem(m, counts{y: y, rates: []rate{{name: names[0], a: a, b: b}, {name: names[1], a: a, b: b}}})
}

// divideSuccesses has known probabilities of success.
func divideSuccesses(g divided, y []float64, off, high float64) problem {
	m := graph.NewModel()
	on := g.on(m)
	for i, k := range y {
		m.Observe("success", graph.Bernoulli(graph.If(on[i], high, off)), k)
	}
	return g.problem(m, counts{y: y, exposure: ones(len(y)), binomial: true, rates: []rate{{known: off}, {known: high}}})
}

// levelsOf are data with one of two levels on each side, under noise.
func levelsOf(seed uint64, g divided, truth []float64, off, on, sd float64) (y []float64) {
	rng := source(seed)
	for _, side := range g.sides(truth) {
		y = append(y, rounded(pick(side == 1, on, off)+sd*rng.NormFloat64()))
	}
	return y
}

func countsOf(seed uint64, g divided, truth []float64, off, on float64) (y []float64) {
	rng := source(seed)
	for _, side := range g.sides(truth) {
		y = append(y, poissonDraw(rng, pick(side == 1, on, off)))
	}
	return y
}

// trialsOf are successes in so many trials each, with one of two probabilities.
func trialsOf(seed uint64, trials []float64, g divided, truth []float64, off, on float64) []float64 {
	rng, y := source(seed), make([]float64, len(trials))
	for i, side := range g.sides(truth) {
		for range int(trials[i]) {
			if rng.Float64() < pick(side == 1, on, off) {
				y[i]++
			}
		}
	}
	return y
}
