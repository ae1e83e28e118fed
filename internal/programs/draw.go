package programs

import (
	"math/rand/v2"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// Draw draws a program. Shapes are drawn by t, and numbers, which are to be in general
// position, from a source that t seeds.
func Draw(t *rapid.T, l Limits) *Program {
	if l.Most == 0 {
		l.Most = 6
	}
	if l.Depth == 0 {
		l.Depth = 2
	}
	if l.Laws == nil {
		l.Laws = fewLaws
	}
	if !l.NoCombined {
		l.Laws = slices.Concat(l.Laws, combinedLaws)
	}
	g := &generator{t: t, Limits: l, rng: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "numbers"), 0)), p: &Program{}}
	if !l.NoParams {
		for range g.pick(5) - 2 { // three of five programs have none
			g.param()
		}
	}
	for range 1 + g.pick(4) {
		g.p.body = append(g.p.body, g.sample())
	}
	g.p.body = append(g.p.body, stmt{op: "factor", e: []expr{apply("tanh", g.choice(1))}})
	g.p.body = append(g.p.body, g.block(l.Depth)...)
	if !l.NoPlates && g.pick(3) == 0 { // of which the second uses what the first has
		g.p.body = append(g.p.body, g.plate(l.Depth), g.plate(l.Depth))
	}
	for l.Require && g.pick(2) == 0 {
		g.p.body = append(g.p.body, g.require())
	}
	return g.p
}

func (g *generator) param() {
	v := variable{space: []Space{Line, Half, Interval}[g.pick(3)], lo: -1 - g.rng.Float64(), hi: 1 + g.rng.Float64(), start: 0.3 + 0.5*g.rng.Float64()}
	g.p.params = append(g.p.params, v)
	g.define(v.space, parameter)
	g.p.dim++
}

// sample is a latent whose prior has numbers as parameters, or expressions.
func (g *generator) sample() stmt {
	s := stmt{op: "sample", name: g.name("z"), law: g.continuous()}
	first := len(g.defined) == g.p.Params()
	if first || g.pick(2) == 0 {
		s.law = g.Laws[0] // a real one, which affine guards need
	}
	if !first && g.pick(4) == 0 {
		return g.discrete(s)
	}
	s.e = g.lawParams(s.law, first || g.pick(2) == 0)
	s.variable = s.law.variable()
	s.i = g.define(s.law.Space, latent)
	g.p.dim += g.size()
	return s
}

// continuous is a law that is not discrete.
func (g *generator) continuous() Law {
	for {
		if law := g.Laws[g.pick(len(g.Laws))]; law.Space != Discrete {
			return law
		}
	}
}

// variable is a latent with this law.
func (l Law) variable() variable {
	v := variable{space: l.Space}
	if l.Space == Interval || l.Space == Cut {
		v.lo, v.hi = l.Params[0], l.Params[1]
	}
	return v
}

// discrete makes the latent that s samples a discrete one.
func (g *generator) discrete(s stmt) stmt {
	k := discreteLaws[g.pick(len(discreteLaws))]
	fixed := g.pick(2) == 0
	s.law, s.variable = k.Law, variable{first: k.first, last: k.last}
	s.e = g.lawParams(k.Law, fixed)
	if at := strings.IndexAny(k.Kinds, "pu"); !fixed && at >= 0 {
		s.e[at] = apply("affine", expr{op: "var", i: g.defined[g.p.Params()].id}, s.e[at]) // of a latent, surely
	}
	s.i = g.define(Discrete, discrete)
	g.defined[len(g.defined)-1].last = k.last
	g.p.dim += g.size()
	return s
}

func (g *generator) lawParams(law Law, fixed bool) (list []expr) {
	for i, k := range []byte(law.Kinds) {
		switch {
		case k == 'c':
			list = append(list, number(law.Params[i]))
		case fixed:
			list = append(list, number(g.number()))
		default:
			list = append(list, g.value(1))
		}
	}
	return list
}

func (g *generator) block(depth int) (list []stmt) {
	for range 1 + g.pick(3) {
		list = append(list, g.stmt(depth))
	}
	return list
}

// inner is a block in a scope of its own.
func (g *generator) inner(depth int) []stmt {
	outside := g.scope
	g.defined, g.vectors, g.made = slices.Clip(g.defined), slices.Clip(g.vectors), slices.Clip(g.made)
	list := g.block(depth)
	g.scope = outside
	return list
}

func (g *generator) stmt(depth int) (s stmt) {
	switch k := g.pick(20); {
	case k < 2 && depth > 0:
		s = stmt{op: "if", g: g.guard(2)}
		s.then = g.inner(depth - 1)
		if g.pick(2) == 0 {
			s.othw = g.inner(depth - 1)
		}
	case k < 5 && depth > 0 && !g.NoPlates:
		return g.plate(depth)
	case k < 6 && g.p.dim+g.size() <= g.Most:
		return g.sample()
	case k < 8:
		return stmt{op: "factor", e: []expr{apply("tanh", g.value(3))}}
	case k < 9:
		s = stmt{op: "let", e: []expr{g.value(2)}}
		s.i = g.define(Line, computed)
	case k < 10:
		return stmt{op: "record", name: g.name("record"), e: []expr{g.value(2)}}
	case k < 11:
		return stmt{op: "name", name: g.name("on"), g: g.guard(1)}
	case k < 12 && len(g.rows) == 0:
		return g.vector()
	case k < 13:
		return g.observeVector()
	case k < 14 && len(g.rows) == 0:
		return g.chain()
	default:
		s = stmt{op: "observe", name: g.name("y"), law: g.Laws[g.pick(len(g.Laws))]}
		s.e = g.lawParams(s.law, false)
		s.xs = g.column(len(g.rows)-1, func() float64 { return s.law.Xs[g.pick(len(s.law.Xs))] })
	}
	return s
}

// require is a required condition, now and then only where another one holds.
func (g *generator) require() stmt {
	s := stmt{op: "require", g: g.guard(1)}
	if g.pick(3) == 0 {
		return stmt{op: "if", g: g.guard(1), then: []stmt{s}}
	}
	return s
}

func (g *generator) plate(depth int) stmt {
	s := stmt{op: "plate", n: 1 + g.pick(3)}
	outside := g.scope
	g.defined, g.vectors, g.made, g.rows = slices.Clip(g.defined), slices.Clip(g.vectors), slices.Clip(g.made), append(slices.Clip(g.rows), s.n)
	if g.p.dim+g.size() <= g.Most && g.pick(2) == 0 {
		s.then = append(s.then, g.sample())
	}
	s.then = append(s.then, g.block(depth-1)...)
	for _, d := range g.defined[len(outside.defined):] {
		s.then = append(s.then, stmt{op: "collect", i: g.p.vectors, e: []expr{{op: "var", i: d.id}}})
		g.collected = append(g.collected, vector{g.p.vectors, g.size(), d})
		g.p.vectors++
	}
	g.scope = outside
	if len(g.rows) == 0 { // all rows have been collected
		g.vectors, g.collected = append(g.vectors, g.collected...), nil
	}
	return s
}

// choice is an If expression.
func (g *generator) choice(depth int) expr {
	on := g.guard(1)
	return expr{op: "if", g: &on, kids: []expr{g.value(depth - 1), g.value(depth - 1)}}
}

// value is any expression.
func (g *generator) value(depth int) expr {
	n := g.pick(20)
	switch {
	case depth <= 0 && n < 3 || len(g.defined) == 0:
		return number(g.number())
	case depth <= 0 && n < 7 && len(g.rows) > 0:
		return g.data(g.number)
	case depth <= 0 && n < 14:
		if x, ok := g.indexed(anything); ok {
			return x
		}
		fallthrough
	case depth <= 0:
		return expr{op: "var", i: g.defined[g.pick(len(g.defined))].id}
	case n < 5:
		return g.choice(depth)
	case n < 8:
		return g.kink(depth)
	case n == 8:
		if k, ok := g.discreteLatent(lastOfSwitch); ok {
			return apply("switch", k, g.value(depth-1), g.value(depth-1), g.value(depth-1))
		}
	}
	x := apply(values[g.pick(len(values))])
	for range operations[x.op].arity {
		x.kids = append(x.kids, g.value(depth-1))
	}
	return x
}

// kink is continuous where its comparison changes, also in what it is part of.
func (g *generator) kink(depth int) expr {
	g.noPoles = true
	a, b := g.sides()
	g.noPoles = false
	switch g.pick(6) {
	case 0:
		return apply("max", a, b)
	case 1:
		return apply("min", a, b)
	case 2:
		return apply("abs", apply("sub", a, b))
	case 3:
		low := g.number()
		return apply("clip", apply("sub", a, b), number(low), number(low+g.positive()))
	case 4:
		x := g.value(depth - 1) // both sides have the same part
		return apply("max", apply("add", a, x), apply("add", b, x))
	}
	return apply("min", apply("sub", a, b), number(g.number()))
}
