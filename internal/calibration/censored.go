package calibration

import (
	"math"
	"slices"

	"github.com/facetvi/facet/graph"
)

// tobit are purchases, of which only those are seen that are above 0. What
// others desired is a latent, and one record in a hundred is wrong. With slope
// the mean depends on a covariate.
func tobit(y, covariate []float64, level coefficient, slope *coefficient, spread noise) problem {
	m := graph.NewModel()
	b := []graph.Expr{m.Sample(level.name, graph.Normal(level.mu, level.size))}
	p := mixed{model: m, guard: "wanted", steps: 60, globals: []global{level.global()}}
	if slope != nil {
		b = append(b, m.Sample(slope.name, graph.Normal(slope.mu, slope.size)))
		p.globals = append(p.globals, slope.global())
	}
	sd := spread.sample(m)
	p.globals = append(p.globals, positive(spread.name, spread.prior, spread.hi))
	last := len(p.globals) - 1
	var seen []func(x []float64) float64
	for i, v := range y {
		features := []float64{1}
		if slope != nil {
			features = append(features, covariate[i])
		}
		mean := func(x []float64) (sum float64) {
			for j, f := range features {
				sum += f * x[j]
			}
			return sum
		}
		if v > 0 {
			m.Observe("spent", graph.Normal(linear(b, features), sd), v)
			seen = append(seen, func(x []float64) float64 { return normalLog(v, mean(x), x[last]) })
			continue
		}
		name := indexed("desired", i+1)[i]
		desired := m.Sample(name, graph.Normal(linear(b, features), sd))
		wanted := m.Name("wanted", graph.Greater(desired, 0))
		m.Observe("bought", graph.Bernoulli(graph.If(wanted, 0.99, 0.01)), 0)
		p.names = append(p.names, name)
		p.splits = append(p.splits, split{
			mu: mean, sd: func(x []float64) float64 { return x[last] }, limit: fixed(0),
			above: fixed(math.Log(0.01)), below: fixed(math.Log(0.99)),
		})
	}
	p.rest = func(x []float64) (sum float64) {
		for _, f := range seen {
			sum += f(x)
		}
		return sum
	}
	if slope == nil {
		p.places, p.location, p.spread = y, level, spread
	}
	return p.problem()
}

func (c coefficient) global() global {
	return global{c.name, normal(c.mu, c.size), linearScale, c.mu - 8*c.size, c.mu + 8*c.size}
}

// instrument reads concentrations, each with an error; below its detection
// limit it shows a blank. The limit is a latent, or known if its prior is nil.
func instrument(y []float64, level coefficient, spread noise, limit *coefficient, at, readError, blank float64) problem {
	m := graph.NewModel()
	p := mixed{model: m, guard: "detected", steps: 110, globals: []global{level.global()}, names: indexed("concentration", len(y))}
	mu := m.Sample(level.name, graph.Normal(level.mu, level.size))
	sd := spread.sample(m)
	spreadOf, limitOf := fixed(spread.known), fixed(at)
	if spread.name != "" {
		p.globals = append(p.globals, positive(spread.name, spread.prior, spread.hi))
		spreadOf = func(x []float64) float64 { return x[1] }
		p.places, p.location, p.spread = append(slices.Clone(y), at), level, spread
	}
	edge := graph.Add(at, 0)
	if limit != nil {
		k := len(p.globals)
		edge = m.Sample(limit.name, graph.Normal(limit.mu, limit.size))
		p.globals = append(p.globals, limit.global())
		limitOf = func(x []float64) float64 { return x[k] }
	}
	for i, v := range y {
		c := m.Sample(p.names[i], graph.Normal(mu, sd))
		m.If(m.Name("detected", graph.Greater(c, edge)),
			func() { m.Observe("reading", graph.Normal(c, readError), v) },
			func() { m.Observe("reading", graph.Normal(0, blank), v) })
		p.splits = append(p.splits, split{
			mu: func(x []float64) float64 { return x[0] }, sd: spreadOf, limit: limitOf,
			above: fixed(0), below: fixed(normalLog(v, 0, blank)), read: &reading{v, readError},
		})
	}
	return p.problem()
}

// survival are logarithms of times to an event, of which those are seen that
// come before the end of the study; of the others it is known that they did not.
func survival(y []float64, alive []float64, level coefficient, spread noise) problem {
	m := graph.NewModel()
	mu, sd := m.Sample(level.name, graph.Normal(level.mu, level.size)), spread.sample(m)
	p := mixed{model: m, guard: "alive", names: indexed("time", len(alive)), places: slices.Concat(y, alive), location: level, spread: spread, globals: []global{
		level.global(), positive(spread.name, spread.prior, spread.hi),
	}}
	for _, v := range y {
		m.Observe("seen", graph.Normal(mu, sd), v)
	}
	for i, end := range alive {
		time := m.Sample(p.names[i], graph.Normal(mu, sd))
		m.Observe("status", graph.Bernoulli(graph.If(m.Name("alive", graph.Greater(time, end)), 0.999, 0.001)), 1)
		p.splits = append(p.splits, split{
			mu: func(x []float64) float64 { return x[0] }, sd: func(x []float64) float64 { return x[1] }, limit: fixed(end),
			above: fixed(math.Log(0.999)), below: fixed(math.Log(0.001)),
		})
	}
	p.rest = func(x []float64) (sum float64) {
		for _, v := range y {
			sum += normalLog(v, x[0], x[1])
		}
		return sum
	}
	return p.problem()
}

func censoredData() []entry {
	return []entry{
		{"censored-tobin", func() problem { // the real data of data.go
			return tobit(spent, ages, coefficient{"level", 0, 5}, &coefficient{"age", 0, 5}, unknown("spread", 5, 1, 60))
		}},
		{"censored-level", func() problem {
			y := []float64{0, 1.2, 0, 3.1, 0.4, 2.2, 0, 0, 1.9, 2.8, 0, 0.7}
			return tobit(y, nil, coefficient{"level", 0, 3}, nil, unknown("spread", 3, 0.2, 30))
		}},
		{"censored-instrument", func() problem {
			y := []float64{2.3, 0.1, 3.4, 1.9, -0.1, 2.8, 0.05, 4.1, 1.5, -0.2}
			return instrument(y, coefficient{"level", 2, 2}, noise{known: 1.3}, &coefficient{"limit", 1, 1}, 0, 0.2, 0.15)
		}},
		{"censored-instrument-spread", func() problem {
			y := []float64{0.3, 0.9, -0.2, 1.4, 0.6, 0.1, 1.1, -0.4}
			return instrument(y, coefficient{"level", 0.5, 1}, unknown("spread", 1, 0.02, 8), nil, 0.5, 0.4, 0.4)
		}},
		{"censored-survival", func() problem {
			y := []float64{0.2, 0.9, 1.4, 0.7, 1.1, 1.6, 0.4}
			return survival(y, []float64{1.2, 1.7, 1.7, 1.7, 1.7}, coefficient{"level", 1, 2}, unknown("spread", 2, 0.1, 20))
		}},
		{"censored-level-mostly", func() problem { // most bought nothing
			y := []float64{0, 0, 0.9, 0, 0, 1.7, 0, 0, 0, 0.3}
			return tobit(y, nil, coefficient{"level", 0, 2}, nil, unknown("spread", 2, 0.1, 22))
		}},
		{"censored-survival-mostly", func() problem { // most are alive
			y := []float64{3.1, 2.6, 3.3}
			return survival(y, []float64{2.5, 3, 3.4, 3.4, 3.4, 3.4, 3.4, 3.4}, coefficient{"level", 3, 2}, unknown("spread", 1.5, 0.05, 13))
		}},
	}
}
