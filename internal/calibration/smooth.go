package calibration

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/graph"
)

// whole are data that no guard divides.
func whole(m *graph.Model, n int, d data) problem {
	return switched{
		model: m, data: d,
		prior: func([]float64) float64 { return 0 },
		cells: func(int) []cell { return []cell{{side: make([]int, n)}} },
		sides: func([]float64) []int { return make([]int, n) },
	}.problem()
}

// plain is a linear regression without guards.
func plain(y []float64, features [][]float64, b []coefficient, e noise) problem {
	m := graph.NewModel()
	var values []graph.Expr
	for _, c := range b {
		values = append(values, m.Sample(c.name, graph.Normal(c.mu, c.size)))
	}
	sd := e.sample(m)
	for i, v := range y {
		m.Observe("y", graph.Normal(linear(values, features[i]), sd), v)
	}
	return whole(m, len(y), gaussian{y: y, b: b, noise: e, row: func(i, _ int) []float64 { return features[i] }})
}

// A study is a hierarchy of effects without guards: effect_g ~ Normal(centre,
// spread), and an estimate of each with a known error. With logs the program has
// e^effect, log-normal, and the estimates are log-normal too.
type study struct {
	y, error []float64
	centre   coefficient
	spread   noise
	logs     bool
}

func (s study) problem() problem {
	m := graph.NewModel()
	centre, spread := m.Sample("centre", graph.Normal(s.centre.mu, s.centre.size)), s.spread.sample(m)
	names := indexed("effect", len(s.y))
	for g, v := range s.y {
		if s.logs {
			effect := m.Sample(names[g], graph.LogNormal(centre, spread))
			m.Observe("estimate", graph.LogNormal(graph.Log(effect), s.error[g]), math.Exp(v))
		} else {
			effect := m.Sample(names[g], graph.Normal(centre, spread))
			m.Observe("estimate", graph.Normal(effect, s.error[g]), v)
		}
	}
	latents := append([]string{"centre", s.spread.name}, names...)
	return problem{
		model: m, latents: latents,
		joint: func(x []float64) (prior, likelihood float64) {
			prior = normalLog(x[0], s.centre.mu, s.centre.size) + s.spread.prior.logProb(x[1])
			for g, v := range s.y {
				effect := x[2+g]
				if s.logs {
					effect = math.Log(effect)
					prior -= effect
					likelihood -= v
				}
				prior += normalLog(effect, x[0], x[1])
				likelihood += normalLog(v, effect, s.error[g])
			}
			return prior, likelihood
		},
		solve: func(fine int) Exact {
			t := newTally(len(latents), 0)
			nodes, weights := s.spread.nodes(fine)
			for k, spread := range nodes {
				log, mean, square := s.given(spread)
				t.add(log+weights[k]+s.spread.prior.logProb(spread), [2][]float64{mean}, [2][]float64{square}, nil)
			}
			return t.exact(latents, nil)
		},
	}
}

// given is the evidence given the spread, and the moments of all latents.
func (s study) given(spread float64) (log float64, mean, square []float64) {
	v := s.centre.size * s.centre.size // sequential: of the centre after the estimates so far
	mu := s.centre.mu
	for g, y := range s.y {
		e := s.error[g]*s.error[g] + spread*spread
		log += normalLog(y, mu, math.Sqrt(v+e))
		if s.logs {
			log -= y
		}
		mu, v = (mu*e+y*v)/(v+e), v*e/(v+e)
	}
	mean, square = []float64{mu, spread}, []float64{mu*mu + v, spread * spread}
	for g, y := range s.y {
		e := s.error[g] * s.error[g]
		w := spread * spread / (e + spread*spread)
		m, q := w*y+(1-w)*mu, w*e+(1-w)*(1-w)*v
		if s.logs {
			mean, square = append(mean, math.Exp(m+q/2)), append(square, math.Exp(2*m+2*q))
		} else {
			mean, square = append(mean, m), append(square, m*m+q)
		}
	}
	return log, mean, square
}

// drift is a level that walks at random, seen with noise: a chain of latents.
func drift(y []float64, start, step, sd float64) problem {
	m := graph.NewModel()
	names := indexed("level", len(y))
	var level graph.Expr
	for t, v := range y {
		if t == 0 {
			level = m.Sample(names[t], graph.Normal(0, start))
		} else {
			level = m.Sample(names[t], graph.Normal(level, step))
		}
		m.Observe("y", graph.Normal(level, sd), v)
	}
	return problem{
		model: m, latents: names,
		joint: func(x []float64) (prior, likelihood float64) {
			for t, v := range x {
				if t == 0 {
					prior += normalLog(v, 0, start)
				} else {
					prior += normalLog(v, x[t-1], step)
				}
				likelihood += normalLog(y[t], v, sd)
			}
			return prior, likelihood
		},
		solve: func(int) Exact { return driftExact(names, y, start, step, sd) },
	}
}

// driftExact conditions the levels' joint normal on the data: with K their
// covariance and S = K + sd²I, mean KS⁻¹y and covariance K − KS⁻¹K.
func driftExact(names []string, y []float64, start, step, sd float64) Exact {
	n := len(y)
	k, s := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			v := start*start + step*step*float64(j)
			k.SetSym(i, j, v)
			s.SetSym(i, j, v)
		}
		s.SetSym(i, i, s.At(i, i)+sd*sd)
	}
	var chol mat.Cholesky
	if !chol.Factorize(s) {
		panic("calibration: the data's covariance is singular")
	}
	var solved mat.VecDense
	var gain, mean, cov mat.Dense
	data := mat.NewVecDense(n, y)
	if chol.SolveVecTo(&solved, data) != nil || chol.SolveTo(&gain, k) != nil {
		panic("calibration: the data's covariance is nearly singular")
	}
	mean.Mul(k, &solved)
	cov.Mul(k, &gain)
	e := Exact{
		LogEvidence: -0.5*mat.Dot(data, &solved) - 0.5*chol.LogDet() - 0.5*float64(n)*math.Log(2*math.Pi),
		Mean:        map[string]float64{}, SD: map[string]float64{}, Guards: map[string][]float64{},
	}
	for i, name := range names {
		e.Mean[name], e.SD[name] = mean.At(i, 0), math.Sqrt(k.At(i, i)-cov.At(i, i))
	}
	return e
}

// correlated features hang together with the first.
func correlated(seed uint64, n, p int, share float64) (features [][]float64) {
	rng := source(seed)
	for range n {
		f := []float64{1}
		for j := 1; j < p; j++ {
			v := rng.NormFloat64()
			if j > 1 {
				v = share*f[1] + (1-share)*v
			}
			f = append(f, rounded(v+1))
		}
		features = append(features, f)
	}
	return features
}

func respond(seed uint64, features [][]float64, b []float64, sd float64) (y []float64) {
	rng := source(seed)
	for _, f := range features {
		sum := sd * rng.NormFloat64()
		for j, v := range f {
			sum += b[j] * v
		}
		y = append(y, rounded(sum))
	}
	return y
}

func smoothModels() []entry {
	return []entry{
		{"smooth-line-far-from-0", func() problem { // years as they are: level and slope are one ridge
			var features [][]float64
			for t := range 20 {
				features = append(features, []float64{1, 10 + 0.1*float64(t)})
			}
			y := respond(191, features, []float64{-3, 0.5}, 0.3)
			return plain(y, features, []coefficient{{"level", 0, 10}, {"slope", 0, 2}}, unknown("noise", 1, 0.1, 6))
		}},
		{"smooth-five-coefficients", func() problem {
			f := correlated(192, 30, 5, 0.9)
			b := []coefficient{{"level", 0, 3}, {"b1", 0, 2}, {"b2", 0, 2}, {"b3", 0, 2}, {"b4", 0, 2}}
			return plain(respond(193, f, []float64{1, 1, -1, 0.5, 0}, 1), f, b, unknown("noise", 2, 0.3, 10))
		}},
		{"smooth-three-coefficients-known-noise", func() problem {
			f := correlated(194, 8, 3, 0.95)
			return plain(respond(195, f, []float64{5, 2, 0}, 0.5), f, []coefficient{{"level", 5, 5}, {"b1", 0, 5}, {"b2", 0, 5}}, noise{known: 0.5})
		}},
		{"smooth-eight-schools", func() problem { // D. B. Rubin, Journal of Educational Statistics 6 (1981), 377–401
			return study{
				y: []float64{28, 8, -3, 7, -1, 1, 18, 12}, error: []float64{15, 10, 16, 11, 9, 11, 10, 18},
				centre: coefficient{"centre", 0, 20}, spread: unknown("spread", 10, 0.5, 90),
			}.problem()
		}},
		{"smooth-log-normal-hierarchy", func() problem {
			return study{
				y: []float64{1.2, 0.4, 2.1, 1.5, 0.9, 1.8}, error: []float64{0.3, 0.4, 0.3, 0.5, 0.3, 0.4}, logs: true,
				centre: coefficient{"centre", 1, 1}, spread: noise{name: "spread", prior: logNormal(-0.7, 0.5), lo: 0.01, hi: 20},
			}.problem()
		}},
		{"smooth-drift", func() problem {
			return drift([]float64{0.5, 0.9, 0.2, 1.4, 1.9, 2.2, 1.6, 2.8, 3.5, 3.1, 2.9, 3.8, 4.4, 3.6, 4.1}, 2, 0.5, 0.6)
		}},
		{"smooth-rates", func() problem { // one rate, under exposures
			y, exposure := []float64{3, 0, 7, 2, 5}, []float64{1.5, 0.4, 3, 1, 2.2}
			m := graph.NewModel()
			r := m.Sample("rate", graph.Gamma(2, 1))
			for i, n := range y {
				m.Observe("count", graph.Poisson(graph.Mul(exposure[i], r)), n)
			}
			return whole(m, len(y), counts{y: y, exposure: exposure, rates: []rate{{name: "rate", a: 2, b: 1}}})
		}},
	}
}
