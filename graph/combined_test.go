package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
)

// A combination is a distribution made of others, with inputs p, and its exact log
// density.
type combination struct {
	name  string
	kinds string
	p     []float64
	make  func(p []graph.Expr) graph.Dist
	xs    []float64
	exact func(b bits, x float64, p []num) num
	draws bool // has a distribution function of its own
}

var inf = math.Inf(1)

func combinations() []combination {
	type E = []graph.Expr
	logp := func(b bits, name string, x float64, p ...num) num { return exactLog[name](b, b.num(x), p) }
	// tail is P(X ≤ x), or P(X > x).
	tail := func(b bits, name string, x float64, upper bool, p ...num) num {
		for _, l := range laws() {
			if l.name == name {
				below, above := tailsOf(b, l, x, b.num(x), p)
				if upper {
					return above
				}
				return below
			}
		}
		panic(name)
	}
	one := func(b bits, x num) num { return b.sub(b.num(1), x) }
	truncated := func(name string, kinds string, p []float64, of func(p E) graph.Dist, lo, hi float64, xs ...float64) combination {
		return combination{
			fmt.Sprint("Truncated ", name, " to ", lo, " ", hi), kinds, p, func(p E) graph.Dist { return graph.Truncated(of(p), lo, hi) }, xs,
			func(b bits, x float64, p []num) num {
				from := lo
				if name == "Poisson" {
					from--
				}
				above := b.num(1)
				if !math.IsInf(from, -1) && lo != 0 { // where there is nothing below
					above = tail(b, name, from, true, p...)
				}
				if !math.IsInf(hi, 1) {
					above = b.sub(above, tail(b, name, hi, true, p...))
				}
				return b.sub(logp(b, name, x, p...), b.log(above))
			}, true,
		}
	}
	normal := func(p E) graph.Dist { return graph.Normal(p[0], p[1]) }
	gamma := func(p E) graph.Dist { return graph.Gamma(p[0], p[1]) }
	poisson := func(p E) graph.Dist { return graph.Poisson(p[0]) }
	weibull := func(p E) graph.Dist { return graph.Weibull(p[0], p[1]) }
	return []combination{
		truncated("Normal", "rp", []float64{0.3, 1.2}, normal, -1, 2.5, -1, 0.2, 2.4),
		truncated("Normal", "rp", []float64{0.3, 1.2}, normal, 8, inf, 8, 9.5),
		truncated("Normal", "rp", []float64{0.3, 1.2}, normal, 20, 21, 20.001, 20.9),
		truncated("Normal", "rp", []float64{0.3, 1.2}, normal, -inf, -12, -12, -13.5),
		truncated("Logistic", "rp", []float64{0.3, 1.2}, func(p E) graph.Dist { return graph.Logistic(p[0], p[1]) }, 30, 40, 31),
		truncated("Gamma", "pp", []float64{2.5, 0.7}, gamma, 0.5, 3, 0.6, 2.9),
		truncated("Gamma", "pp", []float64{2.5, 0.7}, gamma, 50, inf, 51),
		truncated("Gamma", "pp", []float64{2.5, 0.7}, gamma, 0, 0.001, 0.0004),
		truncated("Poisson", "p", []float64{2.5}, poisson, 1, inf, 1, 7),
		truncated("Poisson", "p", []float64{2.5}, poisson, 2, 5, 2, 4, 5),
		truncated("Poisson", "p", []float64{0.01}, poisson, 4, inf, 4, 5),
		{
			"Censored Weibull", "pp", []float64{1.4, 2.2},
			func(p E) graph.Dist { return graph.Censored(weibull(p), -inf, 3) }, []float64{3, 1.2},
			func(b bits, x float64, p []num) num {
				if x == 3 {
					return b.log(tail(b, "Weibull", 3, true, p...))
				}
				return logp(b, "Weibull", x, p...)
			}, false,
		},
		{
			"Censored Normal", "rp", []float64{0.3, 1.2},
			func(p E) graph.Dist { return graph.Censored(normal(p), -1, 9) }, []float64{-1, 0.5, 9},
			func(b bits, x float64, p []num) num {
				switch x {
				case -1:
					return b.log(tail(b, "Normal", x, false, p...))
				case 9:
					return b.log(tail(b, "Normal", x, true, p...))
				}
				return logp(b, "Normal", x, p...)
			}, false,
		},
		{
			"Censored Poisson", "p", []float64{2.5},
			func(p E) graph.Dist { return graph.Censored(poisson(p), 1, 4) }, []float64{1, 2, 4},
			func(b bits, x float64, p []num) num {
				switch x {
				case 1:
					return b.log(tail(b, "Poisson", 1, false, p...))
				case 4:
					return b.log(tail(b, "Poisson", 3, true, p...))
				}
				return logp(b, "Poisson", x, p...)
			}, false,
		},
		{
			"IntervalCensored LogNormal", "rprr", []float64{0.3, 1.2, 0.5, 2},
			func(p E) graph.Dist { return graph.IntervalCensored(graph.LogNormal(p[0], p[1]), p[2], p[3]) }, []float64{0, 1, 2},
			func(b bits, x float64, p []num) num {
				lo := b.add(b.num(0), b.num(0))
				if x > 0 {
					lo, _ = exactTails["LogNormal"](b, p[1+int(x)], p[:2])
				}
				hi := b.num(1)
				if x < 2 {
					hi, _ = exactTails["LogNormal"](b, p[2+int(x)], p[:2])
				}
				return b.log(b.sub(hi, lo))
			}, true,
		},
		{
			"ZeroInflated Poisson", "up", []float64{0.2, 2.5},
			func(p E) graph.Dist { return graph.ZeroInflated(p[0], graph.Poisson(p[1])) }, []float64{0, 3},
			func(b bits, x float64, p []num) num {
				base := b.mul(one(b, p[0]), b.exp(logp(b, "Poisson", x, p[1])))
				if x == 0 {
					base = b.add(base, p[0])
				}
				return b.log(base)
			}, true,
		},
		{
			"ZeroInflated NegativeBinomial", "upu", []float64{1e-9, 300, 0.1},
			func(p E) graph.Dist { return graph.ZeroInflated(p[0], graph.NegativeBinomial(p[1], p[2])) }, []float64{0, 2700},
			func(b bits, x float64, p []num) num {
				base := b.mul(one(b, p[0]), b.exp(logp(b, "NegativeBinomial", x, p[1:]...)))
				if x == 0 {
					base = b.add(base, p[0])
				}
				return b.log(base)
			}, true,
		},
		{
			"Hurdle NegativeBinomial", "upu", []float64{0.2, 1.5, 0.3},
			func(p E) graph.Dist { return graph.Hurdle(p[0], graph.NegativeBinomial(p[1], p[2])) }, []float64{0, 1, 9},
			func(b bits, x float64, p []num) num {
				if x == 0 {
					return b.log(p[0])
				}
				none := b.exp(logp(b, "NegativeBinomial", 0, p[1:]...))
				return b.add(b.log(b.div(one(b, p[0]), one(b, none))), logp(b, "NegativeBinomial", x, p[1:]...))
			}, true,
		},
		{
			"Hurdle Poisson", "up", []float64{0.9, 1e-7},
			func(p E) graph.Dist { return graph.Hurdle(p[0], graph.Poisson(p[1])) }, []float64{0, 1, 2},
			func(b bits, x float64, p []num) num {
				if x == 0 {
					return b.log(p[0])
				}
				none := b.exp(logp(b, "Poisson", 0, p[1]))
				return b.add(b.log(b.div(one(b, p[0]), one(b, none))), logp(b, "Poisson", x, p[1]))
			}, true,
		},
		{
			"Mixture of three on the line", "pppprprrpp", []float64{1, 0.5, 0.2, 0.1, -3, 1, 2, -1, 0.4, 3},
			func(p E) graph.Dist {
				return graph.Mixture(p[:4], graph.Normal(p[4], p[5]), graph.Normal(p[6], 0.5), graph.StudentsT(p[7], p[8], p[9]), graph.Laplace(0.5, 1))
			}, []float64{-50, -3, 0, 2.5, 700},
			func(b bits, x float64, p []num) num {
				sum := b.mul(p[0], b.exp(logp(b, "Normal", x, p[4], p[5])))
				sum = b.add(sum, b.mul(p[1], b.exp(logp(b, "Normal", x, p[6], b.num(0.5)))))
				sum = b.add(sum, b.mul(p[2], b.exp(logp(b, "StudentsT", x, p[7], p[8], p[9]))))
				sum = b.add(sum, b.mul(p[3], b.exp(logp(b, "Laplace", x, b.num(0.5), b.num(1)))))
				return b.log(b.div(sum, b.add(b.add(p[0], p[1]), b.add(p[2], p[3]))))
			}, true,
		},
		{
			"Mixture of different supports", "upr", []float64{0.3, 1.5, -0.5},
			func(p E) graph.Dist {
				return graph.Mixture([]graph.Expr{p[0], graph.Sub(1, p[0])}, graph.Exponential(p[1]), graph.Truncated(graph.Normal(p[2], 1.0), -2, 1))
			}, []float64{-1.5, 0, 0.5, 1, 4},
			func(b bits, x float64, p []num) num {
				sum := b.num(0)
				if x >= 0 {
					sum = b.mul(p[0], b.exp(logp(b, "Exponential", x, p[1])))
				}
				if x <= 1 {
					mass := b.sub(tail(b, "Normal", 1, false, p[2], b.num(1)), tail(b, "Normal", -2, false, p[2], b.num(1)))
					sum = b.add(sum, b.mul(one(b, p[0]), b.div(b.exp(logp(b, "Normal", x, p[2], b.num(1))), mass)))
				}
				return b.log(sum)
			}, true,
		},
		{
			"Mixture of counts", "upu", []float64{0.3, 4.5, 0.2},
			func(p E) graph.Dist {
				return graph.Mixture([]graph.Expr{p[0], graph.Sub(1, p[0])}, graph.Poisson(p[1]), graph.Geometric(p[2]))
			}, []float64{0, 1, 12},
			func(b bits, x float64, p []num) num {
				sum := b.mul(p[0], b.exp(logp(b, "Poisson", x, p[1])))
				if x >= 1 {
					sum = b.add(sum, b.mul(one(b, p[0]), b.exp(logp(b, "Geometric", x, p[2]))))
				}
				return b.log(sum)
			}, true,
		},
	}
}

// Observed under a combination, values and gradients by all its parameters are right to a
// relative 1e-12.
func TestExactCombinations(t *testing.T) {
	skipShort(t)
	keepExact(t)
	const b = bits(2400)
	for _, c := range combinations() {
		for _, x := range c.xs {
			compareExact(t, b, c.name, fmt.Sprint(c.name, " at ", x), c.kinds, c.p, nats, func(m *graph.Model, p []graph.Expr) {
				m.Observe("x", c.make(p), x)
			}, func(p []num) num { return c.exact(b, x, p) })
		}
	}
}

// Draws of combinations have their distribution functions, and these are integrals or
// sums of what TestExactCombinations has compared.
func TestCombinationDraws(t *testing.T) {
	long.Skip(t)
	skipShort(t)
	for _, c := range combinations() {
		if !c.draws {
			continue
		}
		of := c.make(numbers(c.p))
		m := graph.NewModel()
		m.Sample("z", graph.Normal(0, 1))
		m.Observe("x", of, c.xs[len(c.xs)/2])
		d, rng, xs := mustCompile(t, m), rand.New(rand.NewPCG(8, 1)), make([]float64, 25_000)
		for i := range xs {
			d.Replicate(xs[i:i+1], []float64{0}, rng)
		}
		require.Less(t, distance(t, of, xs), kolmogorovLimit, c.name)
		_, err := d.WithData(map[string][]float64{"x": xs[:1]})
		require.NoError(t, err, c.name)
		d, err = d.WithData(map[string][]float64{"x": xs[len(xs)-1:]})
		require.NoError(t, err, c.name)
		_, err = d.LogProb([]float64{0})
		require.NoError(t, err, c.name)

		// The distribution function between two quantiles of the draws is the density's.
		lo, hi := xs[len(xs)/10], xs[len(xs)*9/10]
		run, err := d.Executor(1, graph.Compute{Out: true, NewData: true})
		require.NoError(t, err)
		density := func(x float64) float64 {
			d, err := d.WithData(map[string][]float64{"x": {x}})
			require.NoError(t, err)
			require.NoError(t, d.Feed(run))
			require.NoError(t, run.Run())
			return math.Exp(run.Out[0] - logNormalPDF(0, 0, 1))
		}
		between := constant(t, graph.CDF(of, hi)) - constant(t, graph.CDF(of, lo))
		sum, whole := 0.0, !slices.ContainsFunc(xs, func(x float64) bool { return x != math.Trunc(x) })
		if whole {
			for k := lo + 1; k <= hi; k++ {
				sum += density(k)
			}
		} else if c.name != "Mixture of different supports" { // which jumps
			const n = 4000
			h := (hi - lo) / n
			for k := range n + 1 { // Simpson's rule
				weight := h / 3 * float64(2+2*(k%2))
				if k == 0 || k == n {
					weight = h / 3
				}
				sum += weight * density(lo+float64(k)*h)
			}
		} else {
			continue
		}
		require.InDelta(t, between, sum, 1e-8, c.name)
		if upper := constant(t, graph.LogCCDF(of, hi)); !math.IsInf(upper, -1) {
			require.InDelta(t, 1, math.Exp(upper)+constant(t, graph.CDF(of, hi)), 1e-12, c.name)
		}
	}
}

func constant(t *testing.T, x graph.Expr) float64 {
	t.Helper()
	v, known := x.IsConst()
	require.True(t, known)
	return v
}

// Censored draws are the inner ones, moved to the bounds.
func TestCensoredDraws(t *testing.T) {
	skipShort(t)
	m := graph.NewModel()
	m.Sample("z", graph.Normal(0, 1))
	m.Observe("x", graph.Censored(graph.Normal(0.3, 1.2), -1, 2), 0.5)
	d, rng := mustCompile(t, m), rand.New(rand.NewPCG(8, 2))
	var between []float64
	const n = 100000
	low, high, x := 0.0, 0.0, []float64{0}
	for range n {
		switch d.Replicate(x, []float64{0}, rng); x[0] {
		case -1:
			low++
		case 2:
			high++
		default:
			between = append(between, x[0])
		}
	}
	below, above := constant(t, graph.CDF(graph.Normal(0.3, 1.2), -1)), constant(t, graph.Exp(graph.LogCCDF(graph.Normal(0.3, 1.2), 2)))
	require.InDelta(t, below, low/n, 5*math.Sqrt(below*(1-below)/n))
	require.InDelta(t, above, high/n, 5*math.Sqrt(above*(1-above)/n))
	require.Less(t, distance(t, graph.Truncated(graph.Normal(0.3, 1.2), -1, 2), between), kolmogorovLimit)
}

// As priors, truncated distributions and mixtures are densities of their coordinates,
// which draws, starts and residuals agree with.
func TestCombinedPriors(t *testing.T) {
	skipShort(t)
	for name, prior := range map[string]graph.Dist{
		"both":      graph.Truncated(graph.Normal(0.3, 1.2), -1, 2.5),
		"above":     graph.Truncated(graph.Normal(0.3, 1.2), 8, inf),
		"below":     graph.Truncated(graph.StudentsT(0.3, 1.2, 3), -inf, -1),
		"none":      graph.Truncated(graph.Normal(0.3, 1.2), -inf, inf),
		"positive":  graph.Truncated(graph.Normal(0.3, 1.2), 0, inf),
		"gamma":     graph.Truncated(graph.Gamma(2, 0.5), 0, 3),
		"beta":      graph.Truncated(graph.Beta(2, 0.5), 0.25, 2),
		"mixture":   graph.Mixture([]float64{1, 2}, graph.Normal(-2, 0.5), graph.Normal(1, 1)),
		"positives": graph.Mixture([]float64{1, 2}, graph.Gamma(3, 1), graph.Gamma(3, 7)),
		"of it":     graph.Truncated(graph.Mixture([]float64{1, 2}, graph.Normal(-2, 0.5), graph.Normal(1, 1)), -2, inf),
	} {
		m := graph.NewModel()
		m.Sample("x", prior)
		d := mustCompile(t, m)
		rng, u := rand.New(rand.NewPCG(8, 3)), make([]float64, 12000)
		for i := range u {
			d.PriorDraw(u[i:i+1], rng)
			require.True(t, finite(u[i]), name)
		}
		for _, z := range u[:5] {
			x := d.Constrain([]float64{z})[0]
			back, err := d.Coordinate(0).Inverse(x)
			require.NoError(t, err)
			require.InDelta(t, z, back, 1e-9*(1+math.Abs(z)), name)
			r, err := d.Residuals(1)
			require.NoError(t, err)
			r.Z[0] = z
			r.Invert()
			scale := []float64{0}
			r.LogScale(scale)
			require.InDelta(t, logProb(t, d, z), r.LogPrior[0]-scale[0], 1e-9, name)
			slope, trust := central(func(z float64) float64 { return logProb(t, d, z) }, z)
			require.True(t, trust)
			require.InDelta(t, slope, gradient(t, d, z)[0], 1e-6*(1+math.Abs(slope)), name)
		}
		slices.Sort(u)
		require.Less(t, kolmogorov(t, d, u), kolmogorovLimit, name)
		center, scale := d.PriorStart()
		require.InDelta(t, u[6000], center[0], 1.5*scale[0], name)
		require.InDelta(t, 0, math.Log((u[10095]-u[1904])/2/scale[0]), math.Log(3), name)
	}
}

// Plates of combinations are the loops, bit for bit.
func TestCombinationsInPlates(t *testing.T) {
	for _, c := range combinations() {
		build := func(plate bool) *graph.Density {
			m := graph.NewModel()
			z := m.Sample("z", graph.Beta(2, 2))
			if plate {
				m.Plate(len(c.xs), func(p *graph.Plate) {
					params := make([]graph.Expr, len(c.p))
					for i, v := range c.p {
						params[i] = p.Data(slices.Repeat([]float64{v}, len(c.xs)))
					}
					params[0] = graph.Mul(params[0], z)
					p.Observe("x", c.make(params), c.xs)
				})
				return mustCompile(t, m)
			}
			for _, x := range c.xs {
				params := numbers(c.p)
				params[0] = graph.Mul(params[0], z)
				m.Observe("x", c.make(params), x)
			}
			return mustCompile(t, m)
		}
		sameDensity(t, build(false), build(true), c.name)
	}
}

// A plate whose rows are censored at their own times is the loop, bit for bit, and new
// data may be censored where the old were not.
func TestCombinedInPlates(t *testing.T) {
	times, ends := []float64{1.5, 3, 0.7, 3}, []float64{inf, 3, 2, inf}
	build := func(plate bool) *graph.Density {
		m := graph.NewModel()
		k, scale := m.Sample("k", graph.Gamma(2, 1)), m.Sample("scale", graph.Gamma(2, 1))
		w := m.Sample("w", graph.Beta(2, 2))
		weights := []graph.Expr{w, graph.Sub(1, w)}
		if plate {
			m.Plate(len(times), func(p *graph.Plate) {
				d := graph.Weibull(k, graph.Mul(scale, p.Data(times)))
				p.Observe("time", graph.Censored(d, -inf, p.Data(ends)), times)
				p.Factor(graph.LogCDF(d, p.Data(times)))
				p.Observe("y", graph.Mixture(weights, graph.Normal(p.Data(times), 1), graph.Exponential(scale)), times)
			})
			return mustCompile(t, m)
		}
		for i, x := range times {
			d := graph.Weibull(k, graph.Mul(scale, x))
			m.Observe("time", graph.Censored(d, -inf, ends[i]), x)
			m.Factor(graph.LogCDF(d, x))
			m.Observe("y", graph.Mixture(weights, graph.Normal(x, 1), graph.Exponential(scale)), x)
		}
		return mustCompile(t, m)
	}
	loop := build(false)
	sameDensity(t, loop, build(true))

	changed, err := loop.WithData(map[string][]float64{"time": {1.5, 2, 2, 3}})
	require.NoError(t, err)
	z := []float64{0.3, -0.2, 0.4}
	m := graph.NewModel()
	d := graph.Weibull(math.Exp(0.3), graph.Mul(math.Exp(-0.2), 0.7))
	m.Factor(m.Sample("z", graph.Normal(0, 1)))
	before := constantLog(0.7, d)
	after := constant(t, graph.LogCCDF(d, 2))
	d = graph.Weibull(math.Exp(0.3), graph.Mul(math.Exp(-0.2), 3))
	before += constant(t, graph.LogCCDF(d, 3))
	after += constantLog(2, d)
	require.InDelta(t, after-before, logProb(t, changed, z...)-logProb(t, loop, z...), 1e-12)
	_, err = loop.WithData(map[string][]float64{"time": {1.5, 3.5, 2, 3}})
	require.ErrorContains(t, err, "outside the support")
}

// constantLog is the log density of a distribution of numbers at x.
func constantLog(x float64, d graph.Dist) float64 {
	m := graph.NewModel()
	m.Sample("z", graph.Normal(0, 1))
	m.Observe("x", d, x)
	c, err := m.Compile()
	if err != nil {
		return math.NaN()
	}
	v, err := c.LogProb([]float64{0})
	if err != nil {
		return math.NaN()
	}
	return v - logNormalPDF(0, 0, 1)
}

// What a combination cannot be made of, or cannot be, is said.
func TestRefusedCombinations(t *testing.T) {
	normal, poisson := graph.Normal(0, 1), graph.Poisson(2)
	for want, d := range map[string]graph.Dist{
		"Truncated(Normal): the interval [3, 2] is empty":                           graph.Truncated(normal, 3, 2),
		"Truncated(Poisson): the interval [3, 2] is empty":                          graph.Truncated(poisson, 2.5, 2.7),
		"Normal: sigma = -1 must be positive":                                       graph.Truncated(graph.Normal(0, -1), 0, 1),
		"Censored(Normal): nothing else can be made of it; let it be the outermost": graph.Truncated(graph.Censored(normal, 0, 1), 0, 1),
		"Censored(Poisson): the bounds 0.5 and 3 of whole numbers must be whole":    graph.Censored(poisson, 0.5, 3),
		"IntervalCensored(Normal): edge 2 comes before 1: they must increase":       graph.IntervalCensored(normal, 2.0, 1),
		"ZeroInflated(Normal): needs counts from 0 on":                              graph.ZeroInflated(0.5, normal),
		"Hurdle(Geometric): needs counts from 0 on":                                 graph.Hurdle(0.5, graph.Geometric(0.5)),
		"Hurdle(Poisson): zero = 2 must lie strictly between 0 and 1":               graph.Hurdle(2, poisson),
		"Mixture(Normal, Poisson): has whole numbers and others":                    graph.Mixture([]float64{1, 1}, normal, poisson),
		"Mixture(Normal): 2 weights for 1 distributions":                            graph.Mixture([]float64{1, 1}, normal),
		"Mixture(Normal): weight 0 = -1 must be positive":                           graph.Mixture([]float64{-1}, normal),
		"Categorical of 0: needs at least one category":                             graph.Categorical[float64](),
		"OrderedLogistic of 2 cuts: cut 3 comes before 3: they must increase":       graph.OrderedLogistic(0, 3, 3),
		"the distribution is empty":                                                 graph.Truncated(graph.Dist{}, 0, 1),
	} {
		m := graph.NewModel()
		m.Observe("x", d, 1)
		require.ErrorContains(t, m.Err(), want)
	}
	for want, d := range map[string]graph.Dist{
		"Censored(Normal) is for observations: its bounds have probabilities of their own":      graph.Censored(normal, 0, 1),
		"Mixture(Normal, Gamma) is for observations: its distributions have different supports": graph.Mixture([]float64{1, 1}, normal, graph.Gamma(1, 1)),
	} {
		m := graph.NewModel()
		m.Sample("x", d)
		require.ErrorContains(t, m.Err(), want)
	}
	m := graph.NewModel()
	z := m.Sample("z", normal)
	graph.CDF(graph.Censored(graph.Normal(z, 1), 0, 1), 0.5)
	require.ErrorContains(t, m.Err(), "Censored(Normal) has no distribution function")
	m = graph.NewModel()
	z = m.Sample("z", normal)
	m.Observe("x", graph.Truncated(normal, z, 1), 0)
	require.ErrorContains(t, m.Err(), "lo must be a number")
	m = graph.NewModel()
	graph.CDF(graph.Normal(0, m.Sample("z", normal)), 0.5)
	require.ErrorContains(t, m.Err(), "sigma = z can be negative or 0")
}
