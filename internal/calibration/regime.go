package calibration

import (
	"fmt"
	"math"

	"github.com/facetvi/facet/graph"
)

// A chain of regimes is on or off at each time, switched by noise ~ Normal(0, 1):
// it is on where the noise is above stay if it was on before, and above enter if
// it was off. It starts off.
type chain struct {
	n           int
	stay, enter float64
}

// on is the state at each time in the program.
func (c chain) on(m *graph.Model) (on []graph.Guard) {
	var before graph.Guard
	for t := range c.n {
		e := m.Sample(switchName(t), graph.Normal(0, 1))
		before = m.Name("on", graph.Or(
			graph.And(before, graph.Greater(e, c.stay)), graph.And(graph.Not(before), graph.Greater(e, c.enter))))
		on = append(on, before)
	}
	return on
}

func switchName(t int) string { return fmt.Sprintf("switch[%d]", t) }

func (c chain) names() (names []string) {
	for t := range c.n {
		names = append(names, switchName(t))
	}
	return names
}

func (c chain) level(on bool) float64 { return pick(on, c.stay, c.enter) }

// piece is the interval of the noise that leads from a state to the next.
func (c chain) piece(before, now bool) (i interval) {
	lo, hi := math.Inf(-1), c.level(before)
	if now {
		lo, hi = hi, math.Inf(1)
	}
	i.log, i.mean, i.square = normalWithin(0, 1, lo, hi)
	return i
}

// states are those that the noise leads to.
func (c chain) states(noise []float64) []int {
	side, before := make([]int, c.n), false
	for t, e := range noise {
		before = e > c.level(before)
		if before {
			side[t] = 1
		}
	}
	return side
}

// histories are all 2ⁿ cells.
func (c chain) histories() (cells []cell) {
	for bits := range 1 << c.n {
		h := cell{side: make([]int, c.n)}
		before := false
		for t := range c.n {
			now := bits>>t&1 == 1
			i := c.piece(before, now)
			h.log += i.log
			h.mean, h.square = append(h.mean, i.mean), append(h.square, i.square)
			h.side[t] = bits >> t & 1
			before = now
		}
		h.guard = numbers(h.side)
		cells = append(cells, h)
	}
	return cells
}

func (c chain) problem(m *graph.Model, d data) problem {
	return switched{
		model: m, switches: c.names(), data: d,
		prior: logNormals,
		cells: func(int) []cell { return c.histories() }, sides: c.states,
		guards: []guardList{{"on", c.n}},
	}.problem()
}

// logNormals is the log density of independent standard normals.
func logNormals(x []float64) (sum float64) {
	for _, v := range x {
		sum += normalLog(v, 0, 1)
	}
	return sum
}

func (c chain) normal(y []float64, off, on coefficient, e noise) problem {
	m := graph.NewModel()
	state := c.on(m)
	low, high := m.Sample(off.name, graph.Normal(off.mu, off.size)), m.Sample(on.name, graph.Normal(on.mu, on.size))
	sd := e.sample(m)
	for t, v := range y {
		m.Observe("y", graph.Normal(graph.If(state[t], high, low), sd), v)
	}
	return c.problem(m, gaussian{
		y: y, b: []coefficient{off, on}, noise: e,
		row: func(_, side int) []float64 { return [][]float64{{1, 0}, {0, 1}}[side] },
	})
}

func (c chain) poisson(y []float64, off, on rate) problem {
	m := graph.NewModel()
	state := c.on(m)
	low, high := m.Sample(off.name, graph.Gamma(off.a, off.b)), m.Sample(on.name, graph.Gamma(on.a, on.b))
	for t, n := range y {
		m.Observe("count", graph.Poisson(graph.If(state[t], high, low)), n)
	}
	return c.problem(m, counts{y: y, rates: []rate{off, on}})
}

// known is a chain with known levels, by the forward and backward recursions:
// off at level 0 and on at level 1.
func (c chain) known(y []float64, sd float64) problem {
	m := graph.NewModel()
	for t, on := range c.on(m) {
		m.Observe("y", graph.Normal(graph.If(on, 1, 0), sd), y[t])
	}
	return problem{
		model: m, latents: c.names(),
		joint: func(x []float64) (prior, likelihood float64) {
			for t, s := range c.states(x) {
				likelihood += normalLog(y[t], float64(s), sd)
			}
			return logNormals(x), likelihood
		},
		solve: func(int) Exact { return c.smooth(y, sd) },
	}
}

// smooth is the posterior of a chain with known levels.
func (c chain) smooth(y []float64, sd float64) Exact {
	truth := []bool{false, true}
	at := func(t int, now bool) float64 { return normalLog(y[t], pick(now, 1, 0), sd) }
	index := func(on bool) int { return int(pick(on, 1, 0)) }
	forward, backward := make([][2]float64, c.n+1), make([][2]float64, c.n+1)
	forward[0] = [2]float64{0, math.Inf(-1)}
	for t := range c.n {
		for _, now := range truth {
			sum := math.Inf(-1)
			for _, before := range truth {
				if v := forward[t][index(before)] + c.piece(before, now).log; !math.IsInf(v, -1) {
					sum = logAdd(sum, v)
				}
			}
			forward[t+1][index(now)] = sum + at(t, now)
		}
	}
	for t := c.n - 1; t >= 0; t-- {
		for _, before := range truth {
			sum := math.Inf(-1)
			for _, now := range truth {
				sum = logAdd(sum, c.piece(before, now).log+at(t, now)+backward[t+1][index(now)])
			}
			backward[t][index(before)] = sum
		}
	}
	e := Exact{
		LogEvidence: backward[0][0], Mean: map[string]float64{}, SD: map[string]float64{},
		Guards: map[string][]float64{"on": make([]float64, c.n)},
	}
	for t := range c.n {
		var mean, square float64
		for _, before := range truth {
			for _, now := range truth {
				i := c.piece(before, now)
				p := math.Exp(forward[t][index(before)] + i.log + at(t, now) + backward[t+1][index(now)] - e.LogEvidence)
				mean += p * i.mean
				square += p * i.square
				if now {
					e.Guards["on"][t] += p
				}
			}
		}
		e.Mean[switchName(t)], e.SD[switchName(t)] = mean, math.Sqrt(square-mean*mean)
	}
	return e
}

// A threshold autoregression has y_t ~ Normal(level + pull·y_{t−1}, noise), with
// coefficients for y_{t−1} below and above a threshold.
type autoregression struct {
	prior law // of the threshold
	size  float64
}

func (a autoregression) problem(y []float64, e noise) problem {
	lag, y := y[:len(y)-1], y[1:]
	m := graph.NewModel()
	s := step{"threshold", lag, a.prior}
	past := s.on(m)
	var b []coefficient
	var values []graph.Expr
	for _, name := range []string{"level below", "pull below", "level above", "pull above"} {
		b = append(b, coefficient{name, 0, a.size})
		values = append(values, m.Sample(name, graph.Normal(0, a.size)))
	}
	sd := e.sample(m)
	for t, v := range y {
		m.If(past[t],
			func() { m.Observe("y", graph.Normal(linear(values[2:], []float64{1, lag[t]}), sd), v) },
			func() { m.Observe("y", graph.Normal(linear(values[:2], []float64{1, lag[t]}), sd), v) })
	}
	return s.problem(m, gaussian{y: y, b: b, noise: e, row: func(t, side int) []float64 {
		if side == 1 {
			return []float64{0, 0, 1, lag[t]}
		}
		return []float64{1, lag[t], 0, 0}
	}})
}

func regimes() []entry {
	// follow is a series with levels off and on.
	follow := func(seed uint64, c chain, off, on, sd float64) []float64 {
		rng, y, before := source(seed), make([]float64, c.n), false
		for t := range y {
			before = rng.NormFloat64() > c.level(before)
			y[t] = rounded(pick(before, on, off) + sd*rng.NormFloat64())
		}
		return y
	}
	autoregress := func(seed uint64, n int, at float64, low, high [2]float64, sd float64) []float64 {
		rng, y := source(seed), make([]float64, n)
		for t := 1; t < n; t++ {
			b := low
			if y[t-1] > at {
				b = high
			}
			y[t] = rounded(b[0] + b[1]*y[t-1] + sd*rng.NormFloat64())
		}
		return y
	}
	return []entry{
		{"regime-normal", func() problem {
			c := chain{9, -0.8, 0.6}
			y := follow(121, c, 0, 3, 0.7)
			return c.normal(y, coefficient{"off", 0, 1}, coefficient{"on", 3, 1}, unknown("noise", 1.5, 0.05, 12))
		}},
		{"regime-normal-symmetric", func() problem { // either level may be the higher one
			c := chain{8, -0.5, 0.5}
			y := []float64{0.2, -0.3, 2.1, 1.8, 2.4, 0.1, 0.4, 1.9}
			return c.normal(y, coefficient{"off", 1, 2}, coefficient{"on", 1, 2}, noise{known: 0.5})
		}},
		{"regime-normal-weak", func() problem {
			c := chain{9, -0.6, 0.8}
			y := follow(221, c, 0, 1.5, 0.9)
			return c.normal(y, coefficient{"off", 0, 1}, coefficient{"on", 1.5, 1}, unknown("noise", 1, 0.03, 8))
		}},
		{"regime-poisson", func() problem {
			y := []float64{1, 0, 2, 7, 5, 9, 6, 1, 2, 0, 3}
			return chain{11, -1, 1}.poisson(y, rate{name: "calm", a: 2, b: 1}, rate{name: "busy", a: 6, b: 1})
		}},
		{"regime-known-levels", func() problem {
			c := chain{16, -1.2, 1.2}
			return c.known(follow(122, c, 0, 1, 0.5), 0.5)
		}},
		{"regime-known-levels-noisy", func() problem {
			c := chain{30, -1.5, 1.5}
			return c.known(follow(123, c, 0, 1, 1), 1)
		}},
		{"autoregression-clear", func() problem {
			y := autoregress(124, 70, 0.5, [2]float64{1, 0.5}, [2]float64{-1.5, 0.6}, 0.6)
			return autoregression{normal(0, 1), 2}.problem(y, unknown("noise", 1, 0.3, 1.5))
		}},
		{"autoregression-weak", func() problem {
			y := autoregress(125, 40, 0, [2]float64{0.3, 0.4}, [2]float64{-0.3, 0.2}, 1)
			return autoregression{normal(0, 1), 2}.problem(y, unknown("noise", 2, 0.4, 3))
		}},
		{"autoregression-narrow-prior", func() problem {
			y := autoregress(126, 50, -0.5, [2]float64{0.8, 0.9}, [2]float64{0.2, -0.3}, 0.8)
			return autoregression{uniform(-1, 1), 1}.problem(y, noise{known: 0.8})
		}},
	}
}
