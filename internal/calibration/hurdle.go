package calibration

import (
	"fmt"

	"github.com/facetvi/facet/graph"
)

func fixed(v float64) func([]float64) float64 { return func([]float64) float64 { return v } }

func indexed(name string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("%s[%d]", name, i))
	}
	return names
}

// standard are n latents Normal(0, 1).
func standard(m *graph.Model, name string, n int) (z []graph.Expr) {
	for _, each := range indexed(name, n) {
		z = append(z, m.Sample(each, graph.Normal(0, 1)))
	}
	return z
}

// hurdleCounts are counts that are Poisson(rate) where noise of their own is
// above a hurdle, and Poisson(leak) where it is not.
func hurdleCounts(y []float64, hurdle law, leak, a, b float64) problem {
	m := graph.NewModel()
	c, rate := m.Sample("hurdle", hurdle.Dist), m.Sample("rate", graph.Gamma(a, b))
	noise := standard(m, "noise", len(y))
	p := mixed{
		model: m, names: indexed("noise", len(y)), guard: "open", steps: 60,
		globals: []global{{"hurdle", hurdle, linearScale, -8, 8}, positive("rate", gamma(a, b), 60)},
	}
	for i, n := range y {
		open := m.Name("open", graph.Greater(noise[i], c))
		m.Observe("count", graph.Poisson(graph.If(open, rate, leak)), n)
		p.splits = append(p.splits, split{
			mu: fixed(0), sd: fixed(1), limit: func(x []float64) float64 { return x[0] },
			above: func(x []float64) float64 { return poissonLog(n, x[1]) },
			below: fixed(poissonLog(n, leak)),
		})
	}
	return p.problem()
}

// outliers are measurements of one value, each of which went wrong if its noise
// is above a known limit: then its error is wide.
func outliers(y []float64, limit, size, scale, wide float64) problem {
	m := graph.NewModel()
	value, sd := m.Sample("value", graph.Normal(0, size)), m.Sample("error", graph.HalfNormal(scale))
	noise := standard(m, "noise", len(y))
	p := mixed{
		model: m, names: indexed("noise", len(y)), guard: "wrong", places: y, location: coefficient{"value", 0, size}, spread: unknown("error", scale, scale/50, 8*scale),
		globals: []global{{"value", normal(0, size), linearScale, -8 * size, 8 * size}, positive("error", halfNormal(scale), 10*scale)},
	}
	for i, v := range y {
		wrong := m.Name("wrong", graph.Greater(noise[i], limit))
		m.Observe("y", graph.Normal(value, graph.If(wrong, wide, sd)), v)
		p.splits = append(p.splits, split{
			mu: fixed(0), sd: fixed(1), limit: fixed(limit),
			above: func(x []float64) float64 { return normalLog(v, x[0], wide) },
			below: func(x []float64) float64 { return normalLog(v, x[0], x[1]) },
		})
	}
	return p.problem()
}

// responders are treated patients, of whom those respond whose noise is above a
// hurdle: then the effect is added.
func responders(y []float64, hurdle law, effect coefficient, sd float64) problem {
	m := graph.NewModel()
	c, gain := m.Sample("hurdle", hurdle.Dist), m.Sample(effect.name, graph.Normal(effect.mu, effect.size))
	noise := standard(m, "noise", len(y))
	p := mixed{
		model: m, names: indexed("noise", len(y)), guard: "responds", steps: 80,
		globals: []global{
			{"hurdle", hurdle, linearScale, -8, 8},
			{effect.name, normal(effect.mu, effect.size), linearScale, effect.mu - 8*effect.size, effect.mu + 8*effect.size},
		},
	}
	for i, v := range y {
		responds := m.Name("responds", graph.Greater(noise[i], c))
		m.Observe("y", graph.Normal(graph.If(responds, gain, 0), sd), v)
		p.splits = append(p.splits, split{
			mu: fixed(0), sd: fixed(1), limit: func(x []float64) float64 { return x[0] },
			above: func(x []float64) float64 { return normalLog(v, x[1], sd) },
			below: fixed(normalLog(v, 0, sd)),
		})
	}
	return p.problem()
}

// abilities are pupils who know a topic if their ability is above its
// difficulty, and guess if it is not.
func abilities(right []float64, questions float64, difficulty law, known, guess float64) problem {
	m := graph.NewModel()
	d := m.Sample("difficulty", difficulty.Dist)
	p := mixed{
		model: m, names: indexed("ability", len(right)), guard: "knows", steps: 100,
		globals: []global{{"difficulty", difficulty, linearScale, -8, 8}},
	}
	ability := standard(m, "ability", len(right))
	binomial := func(k, p float64) float64 {
		return counts{y: []float64{k}, exposure: []float64{questions}, binomial: true, rates: []rate{{known: p}}}.logProb([]int{0}, nil)
	}
	for i, k := range right {
		knows := m.Name("knows", graph.Greater(ability[i], d))
		m.Observe("right", graph.Binomial(questions, graph.If(knows, known, guess)), k)
		p.splits = append(p.splits, split{
			mu: fixed(0), sd: fixed(1), limit: func(x []float64) float64 { return x[0] },
			above: fixed(binomial(k, known)), below: fixed(binomial(k, guess)),
		})
	}
	return p.problem()
}

func hurdles() []entry {
	return []entry{
		{"hurdle-counts", func() problem {
			return hurdleCounts([]float64{0, 4, 0, 6, 3, 0, 0, 5, 2, 7, 0, 4}, normal(0, 1), 0.1, 2, 0.5)
		}},
		{"hurdle-counts-blurred", func() problem { // both sides give small counts
			return hurdleCounts([]float64{0, 1, 0, 2, 1, 0, 0, 3, 2, 1, 0, 0, 1, 0}, normal(0.5, 0.7), 0.6, 2, 1)
		}},
		{"hurdle-outliers", func() problem {
			return outliers([]float64{2.1, 1.8, 2.4, 9.5, 2, 1.7, -6.2, 2.2, 2.6, 1.9}, 1.2, 5, 1, 8)
		}},
		{"hurdle-outliers-two-camps", func() problem { // the value is in one of two camps
			return outliers([]float64{1.1, 1.3, 0.9, 1.2, 4.1, 3.8, 4.2, 4}, 0.3, 4, 0.5, 5)
		}},
		{"hurdle-responders", func() problem {
			return responders([]float64{0.3, 2.9, -0.8, 3.4, 1.6, 0.4, 2.1, -0.5, 0.1, 3.8}, normal(0, 1), coefficient{"effect", 2, 1.5}, 0.9)
		}},
		{"hurdle-outliers-mild", func() problem { // wrong measurements are not far off
			return outliers([]float64{0.4, 1.9, 1.1, 0.8, -2.3, 1.4, 0.9, 3.6, 1.2}, 0.8, 3, 0.8, 3)
		}},
		{"hurdle-responders-weak", func() problem {
			return responders([]float64{0.6, 1.1, -0.4, 1.9, 0.2, -1, 0.8, 2.2, -0.1}, normal(0.3, 0.8), coefficient{"effect", 1, 1.2}, 1)
		}},
		{"hurdle-abilities", func() problem {
			return abilities([]float64{9, 2, 5, 10, 6, 3, 8, 5, 4, 9, 6, 7, 1, 8}, 10, normal(0, 1), 0.85, 0.4)
		}},
	}
}
