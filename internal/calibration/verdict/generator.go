package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/facetvi/facet/graph"
)

// A generator draws programs: some as people write them, some nasty.
type generator struct {
	*builder
	reals, positives, units, counts []term // latents; positive ones are among the reals, too
	most                            []int  // of the counts
	conditions                      []condition
}

func source(seed, n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, n^0x9e3779b97f4a7c15)) }

// generate draws program number n of a seed.
func generate(seed, n uint64) *program {
	rng := rand.New(rand.NewPCG(seed, n))
	g := &generator{builder: &builder{program: &program{model: graph.NewModel()}, rng: rng}}
	g.latents()
	for range []int{0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5}[rng.IntN(12)] {
		if g.guards < 5 {
			g.conditions = append(g.conditions, g.name(fmt.Sprint("g", len(g.conditions)), g.condition(1)))
		}
	}
	for k := range g.pick(1, 5, 4, 3) {
		g.statement(k)
	}
	return g.program
}

// pick is a number with these weights.
func (g *generator) pick(weights ...int) int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	u := g.rng.IntN(sum)
	for k, w := range weights {
		if u -= w; u < 0 {
			return k
		}
	}
	panic("unreachable")
}

func (g *generator) of(list []term) term { return list[g.rng.IntN(len(list))] }

func (g *generator) one(list ...float64) term { return g.number(list[g.rng.IntN(len(list))]) }

// latents samples 1 to 3 continuous latents and 0 to 2 discrete ones.
func (g *generator) latents() {
	n := 1 + g.pick(38, 42, 20)
	discrete := []int{g.pick(55, 30, 15), g.pick(60, 32, 8), g.pick(75, 25)}[n-1]
	for n+discrete > 0 {
		if g.rng.IntN(n+discrete) < n {
			g.continuous()
			n--
		} else {
			g.count(n)
			discrete--
		}
	}
}

func (g *generator) continuous() {
	scale := func() term {
		if len(g.positives) > 0 && g.rng.IntN(8) == 0 {
			return g.of(g.positives)
		}
		return g.one(0.3, 0.5, 1, 1, 1, 2, 3, 5, 10)
	}
	location := func() term {
		if len(g.reals) > 0 && g.rng.IntN(6) == 0 {
			return g.of(g.reals)
		}
		return g.one(0, 0, 0, 0.5, 1, -1, 2, 5)
	}
	var t term
	switch g.pick(10, 6, 2, 4) {
	case 0:
		l := reals[g.pick(24, 3, 3, 3, 3, 2, 3)]
		l.letter = "x"
		if g.rng.IntN(20) == 0 {
			mixture := mixture
			mixture.letter = "x"
			t = g.sample(mixture, g.one(0.5, 0.3, 0.1, 0.01), g.number(0), g.one(0.5, 1), g.one(2, 4, 10), g.one(0.3, 1))
			break
		}
		t = g.sample(l, location(), scale())
	case 1:
		l := positives[g.pick(6, 5, 5, 4, 2, 2, 1)]
		l.letter = "p"
		switch l.kinds {
		case "p":
			t = g.sample(l, g.one(0.2, 0.5, 1, 1, 2))
		case "rp":
			t = g.sample(l, g.one(0, 0, 0.5, -0.5, 1), g.one(0.3, 0.5, 1, 1))
		default:
			t = g.sample(l, g.one(0.7, 1, 1.5, 2, 2, 3), g.one(0.5, 1, 1, 2, 3))
		}
		g.positives = append(g.positives, t)
	case 2:
		l := beta
		l.letter = "u"
		t = g.sample(l, g.one(0.5, 1, 1, 2, 2, 5), g.one(0.5, 1, 1, 2, 3))
		g.units = append(g.units, t)
	case 3:
		l := []law{uniform(0, 1), uniform(-1, 1), uniform(0, 10), uniform(-10, 10), uniform(-5, 5), uniform(0, 3), truncated(-1, 2), truncated(0, math.Inf(1))}[g.rng.IntN(8)]
		l.letter = "x"
		if math.IsInf(l.hi, 1) {
			l.space = half
		}
		if l.kinds == "" {
			t = g.sample(l)
		} else {
			t = g.sample(l, g.one(0, 0.5, 1), g.one(0.5, 1, 2))
		}
		if l.lo == 0 {
			g.positives = append(g.positives, t)
		}
	}
	g.reals = append(g.reals, t)
}

// count samples a discrete latent; more says how many continuous ones are still to come.
func (g *generator) count(more int) {
	unitParam := func() term {
		if len(g.reals) > 0 && g.rng.IntN(3) == 0 {
			return g.unit(0)
		}
		return g.one(0.5, 0.5, 0.3, 0.2, 0.1, 0.02, 0.7)
	}
	var l law
	var params []term
	switch g.pick(10, 5, 4, 3, 3) {
	case 0:
		l, params = bernoulli, []term{unitParam()}
	case 1:
		l = [...]law{categorical(1, 1, 1), categorical(0.5, 0.3, 0.2), categorical(1, 2, 0.5), categorical(0.9, 0.09, 0.01)}[g.rng.IntN(4)]
	case 2:
		l, params = binomial(2+g.rng.IntN(4)), []term{unitParam()}
	case 3:
		l, params = poisson, []term{g.one(0.5, 1, 1.5, 3)}
		l.most = 4
		for tail := 1.0; tail > rareMost; l.most++ {
			tail = math.Exp(logPoisson(float64(l.most+1), g.at(params[0])))
		}
	case 4:
		l, params = few, []term{g.positive(0)}
	}
	if len(g.reals)+more > 2 && l.most > 2 { // which would take long to integrate
		l, params = bernoulli, []term{unitParam()}
	}
	l.letter = "k"
	g.counts, g.most = append(g.counts, g.sample(l, params...)), append(g.most, l.most)
}

// real is any expression.
func (g *generator) real(depth int) term {
	if depth <= 0 {
		return g.of(g.reals)
	}
	sub := func() term { return g.real(depth - 1) }
	for {
		switch g.pick(30, 10, 10, 6, 12, 12, 6, 8, 9) {
		case 0:
			return g.of(g.reals)
		case 1:
			return g.add(g.one(-2, -1, 0.5, 1, 2), g.mul(g.one(-1, 0.5, 0.8, 2, 3), sub()))
		case 2:
			if g.rng.IntN(2) == 0 {
				return g.sub(sub(), sub())
			}
			return g.add(sub(), sub())
		case 3:
			return g.mul(sub(), sub())
		case 4:
			x := g.one(-1, 0, 1, 2)
			if g.rng.IntN(2) == 0 {
				x = sub()
			}
			return g.choose(g.some(), x, sub())
		case 5:
			if k, most, ok := g.latentCount(); ok && most <= 2 {
				values := []term{sub()}
				for len(values) <= most {
					if g.rng.IntN(2) == 0 {
						values = append(values, g.one(-1, 0, 1, 2, 3))
					} else {
						values = append(values, sub())
					}
				}
				return g.choice(k, values...)
			}
		case 6:
			if k, _, ok := g.latentCount(); ok {
				if g.rng.IntN(2) == 0 {
					return g.mul(k, sub())
				}
				return g.add(sub(), g.mul(g.one(0.5, 1, -1, 2), k))
			}
		case 7:
			switch g.rng.IntN(4) {
			case 0:
				return g.clip(sub(), g.one(-1, 0, -0.5), g.one(0.5, 1, 2.5))
			case 1:
				return g.max(sub(), g.one(-1, 0, 0.5))
			case 2:
				return g.min(sub(), sub())
			}
			return g.abs(sub())
		default:
			return g.curve(sub())
		}
	}
}

// curve is a function of a real.
func (g *generator) curve(x term) term {
	if len(g.positives) > 0 && g.rng.IntN(2) == 0 {
		p := g.of(g.positives)
		switch g.rng.IntN(4) {
		case 0:
			return g.log(p)
		case 1:
			return g.sqrt(p)
		case 2:
			return g.div(x, p)
		}
		return g.mul(x, p)
	}
	switch g.rng.IntN(5) {
	case 0:
		return g.exp(g.mul(g.one(0.3, 0.5), x))
	case 1:
		return g.square(x)
	case 2:
		return g.unary("Tanh", graph.Tanh[e], math.Tanh, x)
	case 3:
		return g.unary("Sin", graph.Sin[e], math.Sin, x)
	}
	return g.unary("Softplus", graph.Softplus[e], func(v float64) float64 { return max(v, 0) + math.Log1p(math.Exp(-math.Abs(v))) }, x)
}

func (g *generator) latentCount() (k term, most int, ok bool) {
	if len(g.counts) == 0 {
		return k, 0, false
	}
	i := g.rng.IntN(len(g.counts))
	return g.counts[i], g.most[i], true
}

// positive is a positive expression, as for a scale or a rate.
func (g *generator) positive(depth int) term {
	for {
		switch g.pick(10, 7, 4, 3*min(depth, 1), 2) {
		case 0:
			if len(g.positives) > 0 {
				return g.of(g.positives)
			}
		case 1:
			return g.one(0.2, 0.5, 1, 1, 2)
		case 2:
			if len(g.reals) > 0 {
				return g.exp(g.mul(g.one(0.3, 0.5, 1), g.real(depth-1)))
			}
		case 3:
			return g.choose(g.some(), g.positive(0), g.positive(0))
		case 4:
			if len(g.reals) > 0 {
				return g.add(g.number(0.2), g.square(g.of(g.reals)))
			}
		}
	}
}

// unit is an expression in (0, 1).
func (g *generator) unit(depth int) term {
	for {
		switch g.pick(6, 6, 2, 3*min(depth, 1)) {
		case 0:
			if len(g.units) > 0 {
				return g.of(g.units)
			}
		case 1:
			return g.unary("Sigmoid", graph.Sigmoid[e], sigmoid, g.real(depth))
		case 2:
			return g.one(0.2, 0.5, 0.7)
		case 3:
			return g.choose(g.some(), g.one(0.9, 0.7, 0.99), g.one(0.1, 0.3, 0.02))
		}
	}
}

// some is one of the conditions, or a new one.
func (g *generator) some() condition {
	if n := len(g.conditions); n > 0 && (g.guards >= 5 || g.rng.IntN(4) > 0) {
		return g.conditions[g.rng.IntN(n)]
	}
	return g.comparison()
}

// condition is a guard, to a depth.
func (g *generator) condition(depth int) condition {
	if depth > 0 && g.rng.IntN(6) == 0 && g.guards < 4 {
		switch a := g.condition(depth - 1); g.rng.IntN(3) {
		case 0:
			return g.not(a)
		case 1:
			return g.and(a, g.condition(depth-1))
		default:
			return g.or(a, g.condition(depth-1))
		}
	}
	return g.comparison()
}

// comparison is a guard with a threshold near, or far from, a draw of the prior.
func (g *generator) comparison() condition {
	greater := g.rng.IntN(3) > 0
	than := func(x term, curved bool) condition {
		v, scale := g.at(x), []float64{0.2, 0.5, 1, 2}[g.rng.IntN(4)]
		if !(math.Abs(v) < 50) {
			v = 50
		}
		return g.compare(greater, x, g.number(v+scale*g.rng.NormFloat64()), curved)
	}
	x, y := g.of(g.reals), g.of(g.reals)
	scaled := func(x term) term { return g.mul(g.one(-1, 0.5, 2, 3), x) }
	if len(g.counts) > 0 && g.rng.IntN(3) == 0 {
		return g.ofCounts(greater, x, than)
	}
	if len(g.positives) > 0 && g.rng.IntN(5) == 0 {
		p := g.of(g.positives)
		switch g.rng.IntN(5) {
		case 0:
			return g.compare(greater, g.log(p), scaled(x), true)
		case 1:
			return g.compare(greater, g.sqrt(p), g.div(x, g.number(2)), true)
		case 2:
			return than(g.div(x, p), true)
		case 3:
			return than(g.mul(p, g.log(p)), true)
		case 4:
			return than(g.add(x, g.mul(p, y)), true)
		}
	}
	switch g.pick(20, 5, 6, 4, 4, 4, 3, 3, 8) {
	case 0:
		return than(x, false)
	case 1:
		if x.reg != y.reg {
			return g.compare(greater, x, y, false)
		}
		return than(x, false)
	case 2:
		return than(g.add(x, scaled(y)), false)
	case 3:
		if x.reg == y.reg {
			return than(g.square(x), true)
		}
		return than(g.mul(x, y), true)
	case 4:
		return than(g.add(g.square(x), y), true)
	case 5:
		return than(g.add(g.square(x), g.square(y)), true)
	case 6:
		return than(g.add(g.exp(g.mul(g.number(0.5), x)), y), true)
	case 7:
		return than(g.abs(x), false)
	}
	return than(g.real(2), true)
}

// ofCounts is a comparison that a discrete latent takes part in.
func (g *generator) ofCounts(greater bool, x term, than func(x term, curved bool) condition) condition {
	k, most, _ := g.latentCount()
	switch g.rng.IntN(6) {
	case 0:
		return g.equal(k, g.rng.IntN(most+1))
	case 1:
		return g.compare(greater, k, g.number(float64(g.rng.IntN(most))+0.5), false)
	case 2:
		return than(g.add(x, g.mul(g.one(-1, 0.5, 2, 3), k)), false)
	case 3:
		return than(g.mul(x, k), false)
	case 4:
		return g.compare(greater, x, k, false)
	default:
		return than(g.mul(g.exp(g.mul(g.number(0.5), x)), g.add(k, g.number(1))), true)
	}
}

// statement is statement number k of what follows the latents.
func (g *generator) statement(k int) {
	name := func(i int) string { return fmt.Sprint("y", k, string(rune('a'+i))) }
	switch g.pick(24, 8, 6, 4, 2, 1) {
	case 0:
		g.data(name(0))
	case 1:
		g.factor(g.choose(g.some(), g.one(-30, -25, -100, -5, -2, -1, 1.5), g.number(0)))
	case 2:
		otherwise := func() { g.data(name(1)) }
		if g.rng.IntN(2) == 0 {
			otherwise = nil
		}
		g.when(g.some(), func() { g.data(name(0)) }, otherwise)
	case 3:
		g.observe(name(0), bernoulli, 1, 0, g.choose(g.some(), g.one(0.9, 0.99, 0.7), g.one(0.1, 0.02, 0.4)))
	case 4:
		g.factor(g.mul(g.one(-0.5, -2), g.square(g.sub(g.real(1), g.of(g.reals)))))
	case 5:
		c := g.some()
		if g.first[c.reg] == 0 {
			c = g.not(c)
		}
		g.require(c)
	}
}

// data observes a few draws of a law.
func (g *generator) data(name string) {
	l := []func() law{
		func() law { return reals[g.pick(14, 2, 1, 2, 2, 2, 1)] },
		func() law { return poisson },
		func() law { return bernoulli },
		func() law { return binomial(3 + g.rng.IntN(8)) },
		func() law { return positives[g.rng.IntN(6)] },
		func() law { return mixture },
		func() law {
			return []law{censored(1), censored(2.5), truncated(-3, 3), grouped(-1, 0.5, 2), graded}[g.rng.IntN(5)]
		},
		func() law { return []law{negativeBinomial, zeroInflated, hurdle}[g.rng.IntN(3)] },
	}[g.pick(16, 4, 3, 2, 3, 2, 5, 2)]()
	var params []term
	for _, kind := range l.kinds {
		switch kind {
		case 'r':
			params = append(params, g.real(2))
		case 'p':
			params = append(params, g.positive(1))
		case 'u':
			params = append(params, g.unit(1))
		}
	}
	outlier := 0.0
	if l.space == line && g.rng.IntN(15) == 0 && !slices.Contains([]byte("C"), l.format[0]) {
		outlier = 4 * g.rng.NormFloat64()
	}
	g.observe(name, l, 1+g.pick(4, 3, 2, 1, 1, 1), outlier, params...)
}
