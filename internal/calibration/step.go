package calibration

import (
	"math/rand/v2"
	"slices"

	"github.com/facetvi/facet/graph"
)

// A step is a change of level at an unknown place: a change point, if x is time,
// or a threshold in a covariate.
type step struct {
	place string // name of the switch latent
	x     []float64
	prior law // of the place
}

// on says of each x whether it is above the place.
func (s step) on(m *graph.Model) []graph.Guard {
	at := m.Sample(s.place, s.prior.Dist)
	guards := make([]graph.Guard, len(s.x))
	for i, x := range s.x {
		guards[i] = m.Name("past", graph.Greater(x, at))
	}
	return guards
}

func (s step) problem(m *graph.Model, d data) problem {
	return switched{
		model: m, switches: []string{s.place}, data: d,
		prior:  func(at []float64) float64 { return s.prior.logProb(at[0]) },
		cells:  func(int) []cell { return one(s.x, s.prior) },
		sides:  s.sides,
		guards: []guardList{{"past", len(s.x)}},
	}.problem()
}

func (s step) sides(at []float64) []int { return above(s.x, at[0]) }

var beforeAfter = [2]string{"before", "after"}

// normal is a step between two levels, under noise.
func (s step) normal(y []float64, mu, size float64, e noise) problem {
	return divideNormal(s, beforeAfter, y, mu, size, e)
}

// poisson is a step between two rates of Gamma(a, b).
func (s step) poisson(y []float64, a, b float64) problem {
	return dividePoisson(s, beforeAfter, y, a, b)
}

// sample is the noise in the program.
func (n noise) sample(m *graph.Model) graph.Expr {
	if n.name == "" {
		return graph.Add(n.known, 0)
	}
	return m.Sample(n.name, n.prior.Dist)
}

// successes is a step between two probabilities of Beta(a, b), in so many trials
// each.
func (s step) successes(y, trials []float64, a, b float64) problem {
	m := graph.NewModel()
	past := s.on(m)
	before, after := m.Sample("before", graph.Beta(a, b)), m.Sample("after", graph.Beta(a, b))
	for i, k := range y {
		p := graph.If(past[i], after, before)
		if trials[i] == 1 {
			m.Observe("success", graph.Bernoulli(p), k)
		} else {
			m.Observe("success", graph.Binomial(trials[i], p), k)
		}
	}
	return s.problem(m, counts{
		y: y, exposure: trials, binomial: true,
		rates: []rate{{name: "before", a: a, b: b}, {name: "after", a: a, b: b}},
	})
}

func steps() []entry { return slices.Concat(levelChanges(), rateChanges(), thresholds()) }

func years(n int, prior law) step { return step{"change", count(n), prior} }

func over(x []float64, prior law) step { return step{"threshold", x, prior} }

// levelChanges are change points of normal series.
func levelChanges() []entry {
	return []entry{
		{"change-normal-clear", func() problem {
			y := stepSeries(11, 40, 24, 1, 3, 0.8)
			return years(40, uniform(0, 40)).normal(y, 0, 3, noise{known: 0.8})
		}},
		{"change-normal-weak", func() problem {
			y := stepSeries(12, 30, 17, 0, 0.5, 1)
			return years(30, uniform(0, 30)).normal(y, 0, 2, noise{known: 1})
		}},
		{"change-normal-heavy-noise", func() problem {
			y := stepSeries(13, 80, 61, -2, 2, 6)
			return years(80, uniform(0, 80)).normal(y, 0, 5, unknown("noise", 10, 2, 20))
		}},
		{"change-normal-unknown-noise", func() problem {
			y := stepSeries(14, 60, 20, 5, 4, 0.7)
			return years(60, uniform(0, 60)).normal(y, 4, 2, unknown("noise", 2, 0.3, 2))
		}},
		{"change-normal-tiny-series", func() problem {
			y := stepSeries(15, 8, 4, 0, 1.5, 1)
			return years(8, uniform(0, 8)).normal(y, 0, 2, unknown("noise", 2, 0.05, 18))
		}},
		{"change-normal-informed", func() problem { // the prior and the data disagree
			y := stepSeries(16, 50, 35, 10, 12, 1.5)
			return years(50, normal(20, 5)).normal(y, 10, 4, noise{known: 1.5})
		}},
		{"change-normal-two-places", func() problem { // two steps in the data, one in the model
			y := append(stepSeries(17, 40, 20, 0, 1.6, 1), stepSeries(18, 20, 0, 0, 3.2, 1)...)
			return years(60, uniform(0, 60)).normal(y, 0, 3, unknown("noise", 2, 0.4, 4))
		}},
		{"change-normal-none", func() problem { // no change at all
			y := stepSeries(19, 50, 50, 2, 2, 1)
			return years(50, uniform(0, 50)).normal(y, 0, 3, unknown("noise", 2, 0.5, 2.5))
		}},
		{"change-normal-thousands", func() problem { // large units
			y := scaled(stepSeries(20, 45, 12, 52, 50, 1.2), 1000)
			return years(45, uniform(0, 45)).normal(y, 50000, 5000, unknown("noise", 3000, 500, 4000))
		}},
		{"change-normal-thousandths", func() problem { // small units
			y := scaled(stepSeries(21, 35, 25, 1, 2, 0.9), 0.001)
			return years(35, normal(18, 9)).normal(y, 0.001, 0.002, unknown("noise", 0.002, 0.0003, 0.003))
		}},
		{"change-normal-late", func() problem { // a few years before the end
			y := stepSeries(201, 50, 46, 0, 1.8, 1)
			return years(50, uniform(0, 50)).normal(y, 0, 3, unknown("noise", 2, 0.4, 3))
		}},
	}
}

// rateChanges are change points of counts and of successes.
func rateChanges() []entry {
	return []entry{
		{"change-poisson-clear", func() problem {
			return years(52, uniform(0, 52)).poisson(stepCounts(31, count(52), 30, 8, 4), 2, 0.3)
		}},
		{"change-poisson-weak", func() problem {
			return years(30, uniform(0, 30)).poisson(stepCounts(32, count(30), 12, 3, 2.4), 1, 0.5)
		}},
		{"change-poisson-rare", func() problem {
			return years(100, uniform(0, 100)).poisson(stepCounts(33, count(100), 70, 0.15, 0.6), 1, 2)
		}},
		{"change-poisson-informed", func() problem {
			return years(40, normal(25, 6)).poisson(stepCounts(34, count(40), 15, 20, 17), 4, 0.2)
		}},
		{"change-poisson-early", func() problem {
			return years(60, uniform(0, 60)).poisson(stepCounts(202, count(60), 4, 8, 4.5), 2, 0.4)
		}},
		{"change-bernoulli-clear", func() problem {
			return years(80, uniform(0, 80)).successes(stepTrials(41, ones(80), count(80), 50, 0.2, 0.75), ones(80), 1, 1)
		}},
		{"change-bernoulli-weak", func() problem {
			return years(40, uniform(0, 40)).successes(stepTrials(42, ones(40), count(40), 25, 0.4, 0.6), ones(40), 1, 1)
		}},
		{"change-binomial", func() problem {
			trials := scaled(ones(25), 12)
			return years(25, normal(12, 8)).successes(stepTrials(43, trials, count(25), 9, 0.35, 0.5), trials, 2, 2)
		}},
	}
}

// thresholds are those in a covariate.
func thresholds() []entry {
	return []entry{
		{"threshold-normal-clear", func() problem {
			x := covariate(51, 30, 0, 10)
			return over(x, uniform(0, 10)).normal(stepOn(52, x, 6.3, 1, 4, 1), 2, 3, unknown("noise", 3, 0.4, 4))
		}},
		{"threshold-normal-sparse", func() problem { // few points, so wide intervals
			x := covariate(53, 9, 0, 1)
			return over(x, normal(0.5, 0.3)).normal(stepOn(54, x, 0.6, 0, 2, 0.7), 0, 2, noise{known: 0.7})
		}},
		{"threshold-normal-ties", func() problem { // doses that repeat
			x := doses(5, 6)
			return over(x, normal(3, 2)).normal(stepOn(56, x, 3.5, 10, 11, 1), 10, 3, unknown("noise", 2, 0.4, 3))
		}},
		{"threshold-poisson", func() problem {
			x := covariate(57, 40, 15, 40) // temperatures
			return over(x, normal(25, 6)).poisson(stepCounts(58, x, 29, 2.5, 6), 2, 0.5)
		}},
		{"threshold-poisson-skewed", func() problem { // a threshold with a log-normal prior
			x := covariate(59, 30, 0.2, 8)
			return over(x, logNormal(0.7, 0.8)).poisson(stepCounts(60, x, 2.2, 2, 4), 1, 0.3)
		}},
		{"threshold-bernoulli", func() problem {
			x := covariate(61, 35, -2, 2)
			return over(x, normal(0, 1)).successes(stepTrials(62, ones(35), x, 0.4, 0.25, 0.8), ones(35), 1, 1)
		}},
		{"threshold-binomial-doses", func() problem {
			x, trials := doses(8, 1), scaled(ones(8), 10)
			return over(x, uniform(0, 9)).successes(stepTrials(63, trials, x, 4.5, 0.2, 0.55), trials, 1, 1)
		}},
	}
}

// unknown is a noise of HalfNormal(scale), in the range from lo to hi.
func unknown(name string, scale, lo, hi float64) noise {
	return noise{name: name, prior: halfNormal(scale), lo: lo, hi: hi}
}

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 10)) }

// count is 0.5, 1.5, …: the middles of the first n units of time.
func count(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i) + 0.5
	}
	return x
}

func ones(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

func scaled(x []float64, by float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = v * by
	}
	return y
}

// covariate is n uniform numbers in (lo, hi), with three digits after the point.
func covariate(seed uint64, n int, lo, hi float64) []float64 {
	rng, x := source(seed), make([]float64, n)
	for i := range x {
		x[i] = rounded(lo + (hi-lo)*rng.Float64())
	}
	return x
}

// doses is each of 1, …, levels so many times.
func doses(levels, times int) (x []float64) {
	for d := range levels {
		for range times {
			x = append(x, float64(d+1))
		}
	}
	return x
}

func pick(first bool, a, b float64) float64 {
	if first {
		return a
	}
	return b
}

// stepSeries is a normal series of n, of which the first k are before the step.
func stepSeries(seed uint64, n, k int, before, after, sd float64) []float64 {
	return stepOn(seed, count(n), float64(k), before, after, sd)
}

func stepOn(seed uint64, x []float64, at, before, after, sd float64) []float64 {
	return levelsOf(seed, step{x: x}, []float64{at}, before, after, sd)
}

func stepCounts(seed uint64, x []float64, at, before, after float64) []float64 {
	return countsOf(seed, step{x: x}, []float64{at}, before, after)
}

func stepTrials(seed uint64, trials, x []float64, at, before, after float64) []float64 {
	return trialsOf(seed, trials, step{x: x}, []float64{at}, before, after)
}
