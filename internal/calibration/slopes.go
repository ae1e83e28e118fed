package calibration

import (
	"math"
	"slices"

	"github.com/facetvi/facet/graph"
)

// slopes has guards intercept_g + slope·x > 0, with an intercept for each group
// and one slope: given the slope, groups are independent. Successes have known
// probabilities on both sides.
type slopes struct {
	x, y      [][]float64 // by group
	slope     coefficient
	intercept coefficient
	off, on   float64
}

func (s slopes) problem() problem {
	m := graph.NewModel()
	names := indexed("intercept", len(s.x))
	slope := m.Sample("slope", graph.Normal(s.slope.mu, s.slope.size))
	total := 0
	for g, name := range names {
		a := m.Sample(name, graph.Normal(s.intercept.mu, s.intercept.size))
		for i, x := range s.x[g] {
			on := m.Name("on", graph.Greater(graph.Add(a, graph.Mul(slope, x)), 0))
			m.Observe("success", graph.Bernoulli(graph.If(on, s.on, s.off)), s.y[g][i])
			total++
		}
	}
	latents := append([]string{"slope"}, names...)
	return problem{
		model: m, latents: latents, joint: s.joint,
		solve: func(fine int) Exact {
			t := newTally(len(latents), total)
			edge := 9 * s.slope.size
			edges := []float64{min(s.slope.mu-edge, 0), 0, max(s.slope.mu+edge, 0)} // at 0 the order of thresholds turns
			nodes, weights := legendre(refined(edges, 0.25*s.slope.size, fine), 8)
			for k, b := range nodes {
				log := weights[k] + normalLog(b, s.slope.mu, s.slope.size)
				mean, square, guard := []float64{b}, []float64{b * b}, []float64(nil)
				for g := range s.x {
					more, m1, m2, on := s.group(g, b)
					log += more
					mean, square, guard = append(mean, m1), append(square, m2), append(guard, on...)
				}
				t.add(log, [2][]float64{mean}, [2][]float64{square}, guard)
			}
			return t.exact(latents, []guardList{{"on", total}})
		},
	}
}

func (s slopes) success(y float64, on bool) float64 {
	p := pick(on, s.on, s.off)
	return math.Log(pick(y == 1, p, 1-p))
}

func (s slopes) joint(v []float64) (prior, likelihood float64) {
	prior = normalLog(v[0], s.slope.mu, s.slope.size)
	for g := range s.x {
		prior += normalLog(v[1+g], s.intercept.mu, s.intercept.size)
		for i, x := range s.x[g] {
			likelihood += s.success(s.y[g][i], v[1+g]+v[0]*x > 0)
		}
	}
	return prior, likelihood
}

// group sums over the intervals of one group's intercept.
func (s slopes) group(g int, slope float64) (log, mean, square float64, on []float64) {
	var ends []float64
	for _, x := range s.x[g] {
		ends = append(ends, -slope*x)
	}
	cuts := distinct(ends)
	t := newTally(1, len(ends))
	for k, i := range intervals(normal(s.intercept.mu, s.intercept.size), cuts) {
		guard := make([]float64, len(ends))
		for j, e := range ends {
			above := k > 0 && e <= cuts[k-1]
			i.log += s.success(s.y[g][j], above)
			guard[j] = pick(above, 1, 0)
		}
		t.add(i.log, [2][]float64{{i.mean}}, [2][]float64{{i.square}}, guard)
	}
	m, q := t.moments()
	return t.logTotal(), m[0], q[0], scaled(t.guard, 1/t.total)
}

func sharedSlopes() []entry {
	simulate := func(seed uint64, groups, n int, slope, off, on float64) slopes {
		s := slopes{slope: coefficient{"slope", 0.5, 1}, intercept: coefficient{"intercept", 0, 1}, off: off, on: on}
		rng := source(seed)
		for g := range groups {
			x, y, a := covariate(seed+uint64(g)+1, n, -2, 2), []float64(nil), rng.NormFloat64()
			for _, v := range x {
				y = append(y, pick(rng.Float64() < pick(a+slope*v > 0, on, off), 1, 0))
			}
			s.x, s.y = append(s.x, x), append(s.y, slices.Clone(y))
		}
		return s
	}
	return []entry{
		{"dense-three-groups", func() problem { return simulate(151, 3, 12, 0.8, 0.1, 0.9).problem() }},
		{"dense-five-groups-weak", func() problem { return simulate(161, 5, 6, -0.5, 0.3, 0.75).problem() }},
	}
}
