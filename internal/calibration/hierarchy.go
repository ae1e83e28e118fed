package calibration

import (
	"math"
	"slices"

	"github.com/facetvi/facet/graph"
)

// A hierarchy has a threshold for each group, t_g ~ Normal(centre, spread), with
// guards x > t_g. Centre and spread are latents; the spread is a number if it has
// no name. Data are successes with known probabilities below and above, or normal
// with known noise and levels of each group's own.
type hierarchy struct {
	x, y      [][]float64 // by group
	centre    coefficient
	spread    noise // lo is below its mass, or near 0, hi above
	centred   bool  // else t_g = centre + spread·eta_g, with a known spread
	off, on   float64
	level     float64 // if not 0, the data are normal with levels Normal(0, level)
	noise     float64
	logSpread bool // the program has log spread as a latent, normal
}

func (h hierarchy) data(g int) data {
	if h.level == 0 {
		return counts{y: h.y[g], exposure: ones(len(h.y[g])), binomial: true, rates: []rate{{known: h.off}, {known: h.on}}}
	}
	return gaussian{
		y: h.y[g], noise: noise{known: h.noise},
		b:   []coefficient{{indexed("below", g+1)[g], 0, h.level}, {indexed("above", g+1)[g], 0, h.level}},
		row: func(_, side int) []float64 { return [][]float64{{1, 0}, {0, 1}}[side] },
	}
}

func (h hierarchy) model() *graph.Model {
	m := graph.NewModel()
	centre := m.Sample("centre", graph.Normal(h.centre.mu, h.centre.size))
	spread := h.spread.sample(m)
	if h.logSpread {
		spread = graph.Exp(spread)
	}
	for g, name := range h.unitNames() {
		var t graph.Expr
		if h.centred {
			t = m.Sample(name, graph.Normal(centre, spread))
		} else {
			t = graph.Add(centre, graph.Mul(spread, m.Sample(name, graph.Normal(0, 1))))
		}
		var levels []graph.Expr
		for _, name := range h.data(g).names() {
			levels = append(levels, m.Sample(name, graph.Normal(0, h.level)))
		}
		for i, x := range h.x[g] {
			past := m.Name("past", graph.Greater(x, t))
			if h.level == 0 {
				m.Observe("success", graph.Bernoulli(graph.If(past, h.on, h.off)), h.y[g][i])
			} else {
				m.Observe("y", graph.Normal(graph.If(past, levels[1], levels[0]), h.noise), h.y[g][i])
			}
		}
	}
	return m
}

func (h hierarchy) unitNames() []string {
	if h.centred {
		return indexed("threshold", len(h.x))
	}
	return indexed("eta", len(h.x))
}

func (h hierarchy) problem() problem {
	latents := []string{"centre"}
	if h.spread.name != "" {
		latents = append(latents, h.spread.name)
	}
	for g, name := range h.unitNames() {
		latents = append(append(latents, name), h.data(g).names()...)
	}
	return problem{model: h.model(), latents: latents, joint: h.joint, solve: func(fine int) Exact { return h.sum(latents, fine) }}
}

func (h hierarchy) joint(v []float64) (prior, likelihood float64) {
	centre, spread := v[0], h.spread.known
	prior, v = normalLog(centre, h.centre.mu, h.centre.size), v[1:]
	if h.spread.name != "" {
		prior += h.spread.prior.logProb(v[0])
		spread, v = v[0], v[1:]
	}
	if h.logSpread {
		spread = math.Exp(spread)
	}
	for g := range h.x {
		t := v[0]
		if h.centred {
			prior += normalLog(t, centre, spread)
		} else {
			prior += normalLog(t, 0, 1)
			t = centre + spread*t
		}
		d := h.data(g)
		param := v[1 : 1+len(d.names())]
		prior += d.logPrior(param)
		likelihood += d.logProb(above(h.x[g], t), param)
		v = v[1+len(param):]
	}
	return prior, likelihood
}

// A piece of a group's line is between two neighbouring values of its x.
type piece struct {
	from, to     int     // among all cuts, of which the first is −∞ and the last ∞
	like         float64 // likelihood, as a multiple of the group's largest
	mean, square []float64
	guard        []float64
}

// pieces are those of group g, and the log of its largest likelihood.
func (h hierarchy) pieces(g int, cuts []float64) (all []piece, top float64) {
	ends := distinct(h.x[g])
	d := h.data(g)
	top = math.Inf(-1)
	var logs []float64
	for k := range len(ends) + 1 {
		p := piece{from: 0, to: len(cuts) - 1}
		side := make([]int, len(h.x[g]))
		if k > 0 {
			p.from, _ = slices.BinarySearch(cuts, ends[k-1])
		}
		if k < len(ends) {
			p.to, _ = slices.BinarySearch(cuts, ends[k])
		}
		for i, x := range h.x[g] {
			if k < len(ends) && x >= ends[k] {
				side[i] = 1
			}
		}
		var log float64
		log, p.mean, p.square = d.given(side, 1)
		p.guard = numbers(side)
		all, logs, top = append(all, p), append(logs, log), max(top, log)
	}
	for k := range all {
		all[k].like = math.Exp(logs[k] - top)
	}
	return all, top
}

// spreads are the nodes of the spread and their log weights times its prior.
func (h hierarchy) spreads(fine int) (nodes, logs []float64) {
	switch {
	case h.spread.name == "":
		return []float64{h.spread.known}, []float64{0}
	case h.logSpread:
		u, step := trapezoid(h.spread.lo, h.spread.hi, 0.12, fine)
		for _, v := range u {
			nodes, logs = append(nodes, math.Exp(v)), append(logs, math.Log(step)+h.spread.prior.logProb(v))
		}
		return nodes, logs
	}
	nodes, logs = h.spread.nodes(fine)
	for k, s := range nodes {
		logs[k] += h.spread.prior.logProb(s)
	}
	return nodes, logs
}

func (h hierarchy) centres(cuts []float64, spread float64, fine int) (nodes, logs []float64) {
	nodes, logs = around(h.centre, cuts, spread, fine)
	for k, x := range nodes {
		logs[k] += normalLog(x, h.centre.mu, h.centre.size)
	}
	return nodes, logs
}

func (h hierarchy) sum(latents []string, fine int) Exact {
	total := 0
	var cuts []float64
	for _, x := range h.x {
		total += len(x)
		cuts = append(cuts, x...)
	}
	cuts = distinct(cuts)
	ends := slices.Concat([]float64{math.Inf(-1)}, cuts, []float64{math.Inf(1)})
	constant := 0.0
	groups := make([][]piece, len(h.x))
	for g := range h.x {
		var top float64
		groups[g], top = h.pieces(g, ends)
		constant += top
	}
	t := newTally(len(latents), total)
	l := newLine(len(ends))
	spreads, spreadLogs := h.spreads(fine)
	for j, spread := range spreads {
		if spreadLogs[j] < -45 {
			continue
		}
		nodes, logs := h.centres(cuts, spread, fine)
		for k, centre := range nodes {
			log := constant + spreadLogs[j] + logs[k]
			if log < t.top-30 { // whatever the data
				continue
			}
			l.fill(ends, centre, spread)
			product := 1.0
			for _, pieces := range groups {
				sum := 0.0
				for _, p := range pieces {
					sum += p.like * l.between(p)
				}
				product *= sum
			}
			log += math.Log(product)
			if log > t.top-30 {
				l.fillDensity(ends, centre, spread)
				h.add(t, log, groups, l, centre, spread)
			}
		}
	}
	return t.exact(latents, []guardList{{"past", total}})
}

// A line holds, for each end of a piece in units of the spread from the centre,
// the normal distribution function from either side, φ(t) and t φ(t).
type line struct{ lower, upper, density, times []float64 }

func newLine(n int) line {
	return line{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
}

func (l line) fill(ends []float64, centre, spread float64) {
	for i, e := range ends {
		t := (e - centre) / spread
		l.lower[i], l.upper[i] = cumulative(t), cumulative(-t)
	}
}

func (l line) fillDensity(ends []float64, centre, spread float64) {
	for i, e := range ends {
		t := (e - centre) / spread
		l.density[i], l.times[i] = phi(t), timesPhi(t)
	}
}

// between is the mass of a piece.
func (l line) between(p piece) float64 {
	if l.lower[p.from] > 0.5 {
		return max(l.upper[p.from]-l.upper[p.to], 0)
	}
	return max(l.lower[p.to]-l.lower[p.from], 0)
}

// add adds a node of centre and spread with the moments of the groups.
func (h hierarchy) add(t *tally, log float64, groups [][]piece, l line, centre, spread float64) {
	mean, square := []float64{centre}, []float64{centre * centre}
	if h.spread.name != "" {
		s := spread
		if h.logSpread {
			s = math.Log(spread)
		}
		mean, square = append(mean, s), append(square, s*s)
	}
	var guard []float64
	for _, pieces := range groups {
		m, q := make([]float64, 1+len(pieces[0].mean)), make([]float64, 1+len(pieces[0].mean))
		past, sum := make([]float64, len(pieces[0].guard)), 0.0
		for _, p := range pieces {
			mass := p.like * l.between(p)
			sum += mass
			m[0] += p.like * (l.density[p.from] - l.density[p.to])
			q[0] += mass + p.like*(l.times[p.from]-l.times[p.to])
			for k := range p.mean {
				m[1+k] += mass * p.mean[k]
				q[1+k] += mass * p.square[k]
			}
			for k, v := range p.guard {
				past[k] += mass * v
			}
		}
		m, q, past = scaled(m, 1/sum), scaled(q, 1/sum), scaled(past, 1/sum)
		if h.centred { // m[0] and q[0] are of (t − centre)/spread
			m[0], q[0] = centre+spread*m[0], centre*centre+2*centre*spread*m[0]+spread*spread*q[0]
		}
		mean, square, guard = append(mean, m...), append(square, q...), append(guard, past...)
	}
	t.add(log, [2][]float64{mean}, [2][]float64{square}, guard)
}

// simulated has groups with thresholds of their own and data at the same doses.
func (h hierarchy) simulated(seed uint64, groups int, doses []float64, centre, spread float64) hierarchy {
	rng := source(seed)
	for range groups {
		t := centre + spread*rng.NormFloat64()
		below, over := h.level*rng.NormFloat64(), h.level*rng.NormFloat64()
		var y []float64
		for _, x := range doses {
			if h.level == 0 {
				y = append(y, pick(rng.Float64() < pick(x > t, h.on, h.off), 1, 0))
			} else {
				y = append(y, rounded(pick(x > t, over, below)+h.noise*rng.NormFloat64()))
			}
		}
		h.x, h.y = append(h.x, doses), append(h.y, y)
	}
	return h
}

// Hierarchy24 has thresholds for 24 groups, around a centre with a spread that are both
// unknown. If it is centred, they are latents; if not, the latents are their standard
// scores, and a guard compares with centre + spread·η, which is not affine.
func Hierarchy24(centred bool) Case {
	h := hierarchy{centre: coefficient{"centre", 4, 2}, centred: centred, off: 0.1, on: 0.9, spread: unknown("spread", 2, 0.05, 14)}
	name := "hierarchy-24-centred"
	if !centred {
		name = "hierarchy-24-not-centred"
	}
	return entry{name, func() problem { return h.simulated(171, 24, doses(8, 1), 4.3, 1.2).problem() }}.build()
}

func hierarchies() []entry {
	return []entry{
		{"hierarchy-3", func() problem {
			h := hierarchy{centre: coefficient{"centre", 3, 2}, centred: true, off: 0.1, on: 0.9, spread: unknown("spread", 1.5, 0.05, 11)}
			return h.simulated(181, 3, doses(6, 2), 3.5, 1).problem()
		}},
		{"hierarchy-5-log-spread", func() problem {
			h := hierarchy{centre: coefficient{"centre", 0, 1}, centred: true, off: 0.15, on: 0.8, logSpread: true}
			h.spread = noise{name: "log spread", prior: normal(-0.5, 0.5), lo: -4.2, hi: 3.2}
			return h.simulated(182, 5, []float64{-1.5, -1, -0.5, 0, 0.5, 1, 1.5}, 0.2, 0.6).problem()
		}},
		{"hierarchy-6-weak", func() problem {
			h := hierarchy{centre: coefficient{"centre", 3, 2}, centred: true, off: 0.2, on: 0.75, spread: unknown("spread", 1.5, 0.03, 12)}
			return h.simulated(281, 6, doses(5, 2), 3.2, 1).problem()
		}},
		{"hierarchy-10-log-spread", func() problem {
			h := hierarchy{centre: coefficient{"centre", 0, 1}, centred: true, off: 0.1, on: 0.7, logSpread: true}
			h.spread = noise{name: "log spread", prior: normal(-0.5, 0.6), lo: -4.8, hi: 3.8}
			return h.simulated(282, 10, []float64{-1.2, -0.6, 0, 0.6, 1.2}, -0.1, 0.5).problem()
		}},
		{"hierarchy-15", func() problem {
			h := hierarchy{centre: coefficient{"centre", 4, 2}, centred: true, off: 0.15, on: 0.85, spread: unknown("spread", 2, 0.05, 14)}
			return h.simulated(283, 15, doses(7, 1), 3.6, 1.4).problem()
		}},
		{"hierarchy-8-levels", func() problem { // normal data, with levels of each group's own
			h := hierarchy{centre: coefficient{"centre", 5, 2}, centred: true, level: 2, noise: 0.7, spread: unknown("spread", 2, 0.05, 14)}
			return h.simulated(183, 8, doses(9, 1), 5, 1.5).problem()
		}},
		{"hierarchy-12-weak", func() problem {
			h := hierarchy{centre: coefficient{"centre", 3, 1.5}, centred: true, off: 0.3, on: 0.7, spread: unknown("spread", 1, 0.05, 7)}
			return h.simulated(184, 12, doses(5, 1), 2.6, 0.8).problem()
		}},
		{"hierarchy-16-known-spread", func() problem {
			h := hierarchy{centre: coefficient{"centre", 0, 2}, centred: true, off: 0.05, on: 0.9, spread: noise{known: 0.8}}
			return h.simulated(185, 16, []float64{-2, -1, 0, 1, 2}, 0.4, 0.8).problem()
		}},
		{"hierarchy-6-not-centred", func() problem {
			h := hierarchy{centre: coefficient{"centre", 2, 1}, off: 0.1, on: 0.85, spread: noise{known: 0.7}}
			return h.simulated(186, 6, doses(4, 3), 2.2, 0.7).problem()
		}},
		{"hierarchy-24", func() problem {
			h := hierarchy{centre: coefficient{"centre", 50, 20}, centred: true, off: 0.1, on: 0.9}
			h.spread = unknown("spread", 20, 0.5, 150)
			return h.simulated(187, 24, scaled(doses(6, 1), 15), 47, 11).problem()
		}},
	}
}
