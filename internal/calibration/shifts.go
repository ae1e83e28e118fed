package calibration

import (
	"fmt"
	"math"

	"github.com/facetvi/facet/graph"
)

// decoyGap is by how many nats the decoys of LevelShifts are worse.
const decoyGap = 4

// LevelShifts are 20 series with one change of level, anywhere, also near the
// ends. Elsewhere is a decoy: a second, smaller change, such that a model with
// one change finds there an interval whose log posterior mass is 4 nats below
// that of the best interval. Exact.Likeliest is the best interval.
func LevelShifts() []Case {
	var all []entry
	for k := range 20 {
		all = append(all, shiftEntry(k))
	}
	return buildAll(all)
}

// LevelShift builds number k of LevelShifts alone.
func LevelShift(k int) Case { return shiftEntry(k).build() }

func shiftEntry(k int) entry {
	return entry{fmt.Sprintf("shift-%02d", k), func() problem { return levelShift(k).problem() }}
}

// A shift is a series with a change after at observations and a decoy.
type shift struct {
	noise     []float64 // standard normal, then scaled
	at, decoy int
	size      float64 // of the change
	unit      float64
	level     float64
}

func levelShift(k int) shift {
	rng := source(uint64(200 + k))
	n := 60 + rng.IntN(91)
	s := shift{unit: []float64{1, 100, 0.01, 1}[k%4], level: float64(k%5) - 2, size: 1.5 + 1.5*rng.Float64()}
	for range n {
		s.noise = append(s.noise, rng.NormFloat64())
	}
	switch {
	case k%5 == 0: // near an end
		s.at, s.decoy, s.size = 4+rng.IntN(4), n/3+rng.IntN(n/2), 3
	case k%5 == 1:
		s.at, s.decoy, s.size = n-4-rng.IntN(4), n/4+rng.IntN(n/3), 3
	default:
		s.at = n/6 + rng.IntN(2*n/3)
		s.decoy = (s.at + n/3 + rng.IntN(n/4)) % n
		s.decoy = min(max(s.decoy, 8), n-8)
		if gap := s.decoy - s.at; gap > -15 && gap < 15 {
			s.decoy = s.at/2 + n/2*(1-2*s.at/n)
		}
	}
	if k%2 == 1 {
		s.size = -s.size
	}
	for s.gap(0) < decoyGap+1 { // else the noise is a decoy by itself
		s.size *= 1.15
	}
	return s
}

// series is the data with a decoy of the given size.
func (s shift) series(decoy float64) []float64 {
	y := make([]float64, len(s.noise))
	for i, e := range s.noise {
		v := s.level + e
		if i >= s.at {
			v += s.size
		}
		if i >= s.decoy {
			v += decoy
		}
		y[i] = math.Round(1e6*v) / 1e6 * s.unit
	}
	return y
}

func (s shift) data(y []float64) gaussian {
	u := s.unit
	return gaussian{
		y: y, b: []coefficient{{"before", 0, 4 * u}, {"after", 0, 4 * u}}, noise: unknown("noise", 2*u, 0.5*u, 4*u),
		row: func(_, side int) []float64 { return [][]float64{{1, 0}, {0, 1}}[side] },
	}
}

// gap is by how much the best interval within six observations of the change
// beats the best one elsewhere.
func (s shift) gap(decoy float64) float64 {
	here, there := math.Inf(-1), math.Inf(-1)
	x := count(len(s.noise))
	d := s.data(s.series(decoy))
	for k, c := range one(x, uniform(0, float64(len(x)))) {
		log, _, _ := d.given(c.side, 1)
		log += c.log
		if far := k - s.at; far >= -6 && far <= 6 {
			here = max(here, log)
		} else {
			there = max(there, log)
		}
	}
	return here - there
}

// tuned is the size of the decoy that makes the gap right.
func (s shift) tuned() float64 {
	lo, hi := 0.0, 4*s.size // of the same sign; a larger decoy wins
	for range 30 {
		if mid := (lo + hi) / 2; s.gap(mid) > decoyGap {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

func (s shift) problem() problem {
	n := len(s.noise)
	y := s.series(s.tuned())
	u := s.unit
	return step{"change", count(n), uniform(0, float64(n))}.normal(y, 0, 4*u, s.data(y).noise)
}

// LongChangePoint is a change in the rate of n counts, with an interval for each
// of them.
func LongChangePoint(n int) Case {
	name := fmt.Sprintf("long-change-point-%d", n)
	return entry{name, func() problem { return longChange(stepCounts(231, count(n), float64(n*5/8), 3, 3.25)) }}.build()
}

func longChange(y []float64) problem {
	const a, b = 2, 0.5
	n := len(y)
	m := graph.NewModel()
	change := m.Sample("change", graph.Uniform(0, n))
	before, after := m.Sample("before", graph.Gamma(a, b)), m.Sample("after", graph.Gamma(a, b))
	x := count(n)
	m.Plate(n, func(p *graph.Plate) {
		past := p.Name("past", graph.Greater(p.Data(x), change))
		p.Observe("count", graph.Poisson(graph.If(past, after, before)), y)
	})
	d := counts{y: y, rates: []rate{{name: "before", a: a, b: b}, {name: "after", a: a, b: b}}}
	prior := uniform(0, float64(n))
	latents := []string{"change", "before", "after"}
	return problem{
		model: m, latents: latents,
		joint: func(v []float64) (float64, float64) {
			return prior.logProb(v[0]) + d.logPrior(v[1:]), d.logProb(above(x, v[0]), v[1:])
		},
		solve: func(int) Exact { return longExact(y, x, prior, latents, a, b) },
	}
}

// longExact goes through the intervals with cumulative sums.
func longExact(y, x []float64, prior law, latents []string, a, b float64) Exact {
	all, constant := 0.0, 0.0
	for _, v := range y {
		all += v
		constant -= lgamma(v + 1)
	}
	t := newTally(3, 0)
	logs := make([]float64, 0, len(y)+1)
	sum := 0.0
	for k, i := range intervals(prior, x) {
		log := i.log + constant
		mean, square := []float64{i.mean}, []float64{i.square}
		for side, s := range []float64{sum, all - sum} {
			size := []float64{float64(k), float64(len(y) - k)}[side]
			log += a*math.Log(b) - lgamma(a) + lgamma(a+s) - (a+s)*math.Log(b+size)
			mean = append(mean, (a+s)/(b+size))
			square = append(square, (a+s)*(a+s+1)/((b+size)*(b+size)))
		}
		t.add(log, [2][]float64{mean}, [2][]float64{square}, nil)
		logs = append(logs, log)
		if k < len(y) {
			sum += y[k]
		}
	}
	e := t.exact(latents, nil)
	past, holds := make([]float64, len(y)), make([]bool, len(y)) // x_i is past if at most i counts come before
	total, best := 0.0, 0
	for k, log := range logs {
		p := math.Exp(log - e.LogEvidence)
		total += p
		if log > logs[best] {
			best = k
		}
		if k < len(y) {
			past[k] = min(total, 1)
		}
	}
	for i := range holds {
		holds[i] = i >= best
	}
	e.Guards["past"] = past
	e.Likeliest, e.LikeliestProb = map[string][]bool{"past": holds}, math.Exp(logs[best]-e.LogEvidence)
	return e
}
