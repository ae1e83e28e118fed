package calibration

import (
	"cmp"
	"math"
	"slices"

	"github.com/facetvi/facet/graph"
)

// A plane has two latents in guards p_i·a + q_i·b > 0. The guards cut it into
// cones, which are integrated along rays in closed form and over the angle by
// quadrature.
type plane struct {
	a, b coefficient
	p, q []float64
}

// A ray is the direction of an angle, with the exponent −½(Ar² − 2Br + C) of the
// normal density along it.
type ray struct{ c, s, a, b, k float64 }

func (p plane) ray(angle float64) ray {
	s, c := math.Sincos(angle)
	va, vb := p.a.size*p.a.size, p.b.size*p.b.size
	return ray{
		c: c, s: s, a: c*c/va + s*s/vb, b: c*p.a.mu/va + s*p.b.mu/vb,
		k: p.a.mu*p.a.mu/va + p.b.mu*p.b.mu/vb,
	}
}

// moments are the log of ∫₀^∞ r e^(…) dr, and the mean of r and r² under it.
func (r ray) moments() (log, mean, square float64) {
	mu, sd := r.b/r.a, 1/math.Sqrt(r.a)
	m0 := cumulative(mu / sd)
	m1 := mu*m0 + sd*phi(mu/sd)
	m2 := mu*m1 + sd*sd*m0
	m3 := mu*m2 + 2*sd*sd*m1
	return 0.5*(r.b*r.b/r.a-r.k) + 0.5*math.Log(2*math.Pi) + math.Log(sd) + math.Log(m1), m2 / m1, m3 / m1
}

// sides are those of the guards at (a, b).
func (p plane) sides(at []float64) []int {
	side := make([]int, len(p.p))
	for i := range side {
		if p.p[i]*at[0]+p.q[i]*at[1] > 0 {
			side[i] = 1
		}
	}
	return side
}

// cuts are the angles of the guards' lines, ascending in [0, 2π].
func (p plane) cuts() []float64 {
	edges := []float64{0, 2 * math.Pi}
	for i := range p.p {
		angle := math.Atan2(p.p[i], -p.q[i]) // of the line p·cos + q·sin = 0
		for range 2 {
			edges = append(edges, math.Mod(angle+4*math.Pi, 2*math.Pi))
			angle += math.Pi
		}
	}
	slices.Sort(edges)
	return slices.CompactFunc(edges, func(a, b float64) bool { return math.Abs(b-a) < 1e-12 })
}

// refined are edges with pieces no wider than width/fine between them.
func refined(edges []float64, width float64, fine int) (all []float64) {
	all = edges[:1:1]
	for k := range len(edges) - 1 {
		n := int(math.Ceil((edges[k+1]-edges[k])/width)) * fine
		for j := range n {
			all = append(all, edges[k]+(edges[k+1]-edges[k])*float64(j+1)/float64(n))
		}
	}
	return all
}

func (p plane) cells(fine int) (cells []cell) {
	edges := p.cuts()
	for k := range len(edges) - 1 {
		angles, weights := legendre(refined(edges[k:k+2], 0.3, fine), 10)
		t := newTally(2, 0)
		for j, angle := range angles {
			r := p.ray(angle)
			log, mean, square := r.moments()
			t.add(log+weights[j], [2][]float64{{r.c * mean, r.s * mean}}, [2][]float64{{r.c * r.c * square, r.s * r.s * square}}, nil)
		}
		s, c := math.Sincos((edges[k] + edges[k+1]) / 2)
		mean, square := t.moments()
		side := p.sides([]float64{c, s})
		cells = append(cells, cell{
			log:  t.logTotal() - math.Log(2*math.Pi*p.a.size*p.b.size),
			mean: mean, square: square, side: side, guard: numbers(side),
		})
	}
	return cells
}

// on are the guards in the program.
func (p plane) on(m *graph.Model) (on []graph.Guard) {
	a, b := m.Sample(p.a.name, graph.Normal(p.a.mu, p.a.size)), m.Sample(p.b.name, graph.Normal(p.b.mu, p.b.size))
	for i := range p.p {
		on = append(on, m.Name("on", graph.Greater(graph.Add(graph.Mul(p.p[i], a), graph.Mul(p.q[i], b)), 0)))
	}
	return on
}

func (p plane) problem(m *graph.Model, d data) problem {
	return switched{
		model: m, switches: []string{p.a.name, p.b.name}, data: d,
		prior: func(at []float64) float64 {
			return normalLog(at[0], p.a.mu, p.a.size) + normalLog(at[1], p.b.mu, p.b.size)
		},
		cells:  p.cells,
		sides:  p.sides,
		guards: []guardList{{"on", len(p.p)}},
	}.problem()
}

// A solid has three latents in guards a + p_i·b + q_i·c > 0.
type solid struct {
	a, b, c coefficient
	p, q    []float64
}

func (s solid) sides(at []float64) []int {
	side := make([]int, len(s.p))
	for i := range side {
		if at[0]+s.p[i]*at[1]+s.q[i]*at[2] > 0 {
			side[i] = 1
		}
	}
	return side
}

// cells sums over the intervals of a given the direction and the length of
// (b, c). The order of the intervals' ends depends on the direction alone.
func (s solid) cells(fine int) []cell {
	var order plane // directions in which two ends coincide
	for i := range s.p {
		for j := range i {
			if s.p[i] != s.p[j] || s.q[i] != s.q[j] {
				order.p, order.q = append(order.p, s.p[i]-s.p[j]), append(order.q, s.q[i]-s.q[j])
			}
		}
	}
	bc := plane{a: s.b, b: s.c}
	found := map[string]*tally{}
	var keys []string
	edges := order.cuts()
	for k := range len(edges) - 1 {
		angles, weights := legendre(refined(edges[k:k+2], 0.15, fine), 6)
		for j, angle := range angles {
			r := bc.ray(angle)
			ends := make([]float64, len(s.p)) // for unit length
			at := make([]int, len(s.p))
			for i := range ends {
				ends[i], at[i] = -(s.p[i]*r.c + s.q[i]*r.s), i
			}
			slices.SortFunc(at, func(i, j int) int { return cmp.Compare(ends[i], ends[j]) })
			tallies := make([]*tally, len(at)+1)
			key := make([]byte, len(at))
			for n := range tallies {
				if n > 0 {
					key[at[n-1]] = 1
				}
				if n > 0 && n < len(at) && ends[at[n]]-ends[at[n-1]] < 1e-12 {
					continue // points of the same covariates
				}
				t, ok := found[string(key)]
				if !ok {
					t = newTally(3, 0)
					found[string(key)] = t
					keys = append(keys, string(key))
				}
				tallies[n] = t
			}
			s.along(r, ends, at, weights[j], tallies, fine)
		}
	}
	slices.Sort(keys)
	var cells []cell
	for _, key := range keys {
		t := found[key]
		mean, square := t.moments()
		side := make([]int, len(key))
		for i := range side {
			side[i] = int(key[i])
		}
		cells = append(cells, cell{log: t.logTotal(), mean: mean, square: square, side: side, guard: numbers(side)})
	}
	return cells
}

// along integrates along a ray of (b, c).
func (s solid) along(r ray, ends []float64, at []int, logWeight float64, tallies []*tally, fine int) {
	mu, sd := r.b/r.a, 1/math.Sqrt(r.a)
	hi := max(mu, 0) + 8*sd
	lengths, weights := legendre(refined([]float64{0, hi}, 1.2*sd, fine), 8)
	norm := math.Log(2 * math.Pi * s.b.size * s.c.size)
	for k, x := range lengths {
		log := -0.5*(r.a*x*x-2*r.b*x+r.k) - norm + math.Log(x) + weights[k] + logWeight
		b, c := r.c*x, r.s*x
		lo := math.Inf(-1)
		for n, t := range tallies {
			end := math.Inf(1)
			if n < len(at) {
				end = ends[at[n]] * x
			}
			if t == nil {
				continue
			}
			mass, mean, square := normalWithin(s.a.mu, s.a.size, lo, end)
			t.add(log+mass, [2][]float64{{mean, b, c}}, [2][]float64{{square, b * b, c * c}}, nil)
			lo = end
		}
	}
}

func (s solid) on(m *graph.Model) (on []graph.Guard) {
	var z []graph.Expr
	for _, c := range []coefficient{s.a, s.b, s.c} {
		z = append(z, m.Sample(c.name, graph.Normal(c.mu, c.size)))
	}
	for i := range s.p {
		on = append(on, m.Name("on", graph.Greater(linear(z, []float64{1, s.p[i], s.q[i]}), 0)))
	}
	return on
}

func (s solid) problem(m *graph.Model, d data) problem {
	all := []coefficient{s.a, s.b, s.c}
	return switched{
		model: m, switches: []string{s.a.name, s.b.name, s.c.name}, data: d,
		prior: func(at []float64) (sum float64) {
			for i, c := range all {
				sum += normalLog(at[i], c.mu, c.size)
			}
			return sum
		},
		cells: s.cells, sides: s.sides, guards: []guardList{{"on", len(s.p)}},
	}.problem()
}

func dense() []entry {
	line := func(seed uint64, n int) plane { // intercept + slope·x > 0
		return plane{coefficient{"intercept", 0, 1}, coefficient{"slope", 0, 1}, ones(n), covariate(seed, n, -2, 2)}
	}
	space := func(seed uint64, n int) solid {
		return solid{coefficient{"intercept", 0, 1}, coefficient{"first", 0, 1}, coefficient{"second", 0, 1},
			covariate(seed, n, -2, 2), covariate(seed+1, n, -2, 2)}
	}
	return []entry{
		{"dense-line-normal", func() problem {
			g := line(131, 25)
			return divideNormal(g, [2]string{"off", "level on"}, levelsOf(132, g, []float64{0.6, 1}, 0, 2.5, 0.8), 1, 2, unknown("noise", 2, 0.2, 8))
		}},
		{"dense-line-symmetric", func() problem { // off and on may change places
			g := line(133, 14)
			return divideNormal(g, [2]string{"off", "level on"}, levelsOf(134, g, []float64{-0.5, 1.2}, -1, 1, 0.7), 0, 2, noise{known: 0.7})
		}},
		{"dense-line-bernoulli", func() problem {
			g := line(135, 30)
			return divideSuccesses(g, trialsOf(136, ones(len(g.p)), g, []float64{-0.4, -0.9}, 0.15, 0.85), 0.15, 0.85)
		}},
		{"dense-dose-against-tolerance", func() problem { // potency·dose > tolerance
			x := covariate(137, 20, 0.2, 4)
			g := plane{coefficient{"potency", 1, 0.5}, coefficient{"tolerance", 2, 1}, x, scaled(ones(20), -1)}
			return dividePoisson(g, [2]string{"off", "rate on"}, countsOf(138, g, []float64{1.2, 2.4}, 2, 7), 2, 0.5)
		}},
		{"dense-plane-normal", func() problem {
			g := space(141, 12)
			return divideNormal(g, [2]string{"off", "level on"}, levelsOf(142, g, []float64{0.3, 1, -0.8}, 0, 2, 0.7), 1, 2, noise{known: 0.7})
		}},
		{"dense-plane-bernoulli", func() problem {
			g := space(143, 16)
			return divideSuccesses(g, trialsOf(144, ones(len(g.p)), g, []float64{-0.2, 0.7, 0.7}, 0.1, 0.9), 0.1, 0.9)
		}},
		{"dense-plane-informed", func() problem {
			g := space(145, 11)
			g.a.mu, g.b.mu, g.b.size, g.c.size = -0.5, 1, 0.5, 0.7
			return dividePoisson(g, [2]string{"off", "rate on"}, countsOf(146, g, []float64{-1, 1, 0.5}, 1, 4), 2, 0.8)
		}},
	}
}
