package programs

import (
	"math"
	"slices"
)

// guard is a guard of comparisons, to a depth.
func (g *generator) guard(depth int) guard {
	if depth > 0 {
		switch g.pick(8) {
		case 0:
			return guard{op: "not", kids: []guard{g.guard(depth - 1)}}
		case 1:
			return guard{op: "and", kids: []guard{g.guard(depth - 1), g.guard(depth - 1)}}
		case 2:
			return guard{op: "or", kids: []guard{g.guard(depth - 1), g.guard(depth - 1), g.guard(0)}}
		}
	}
	c := guard{op: []string{"greater", "less"}[g.pick(2)]}
	switch k := g.pick(12); {
	case k < 3 && len(g.made) > 0:
		return g.again(g.made[g.pick(len(g.made))])
	case k == 3 && g.pick(4) == 0: // that does not depend on a latent
		c.a, c.b = number(g.number()), number(g.number())
		return c
	case k == 4:
		if x, ok := g.discreteLatent(math.MaxInt); ok {
			return guard{op: []string{"equal", c.op}[g.pick(2)], a: x, b: number(float64(g.pick(lastOfSwitch + 2)))}
		}
	}
	c.a, c.b = g.sides()
	if g.pick(3) == 0 {
		c.a, c.b = c.b, c.a
	}
	g.made = append(g.made, c)
	return c
}

// again is a comparison with the zero set of another.
func (g *generator) again(c guard) guard {
	swapped := map[string]string{"greater": "less", "less": "greater"}[c.op]
	switch by := number(g.coefficient()); g.pick(5) {
	case 0:
		return c
	case 1: // a > b, −b > −a
		return guard{op: c.op, a: apply("neg", c.b), b: apply("neg", c.a)}
	case 2: // the other way round
		return guard{op: swapped, a: c.a, b: c.b}
	case 3:
		return guard{op: []string{c.op, swapped}[g.pick(2)], a: apply("sub", c.a, c.b), b: number(0)}
	default:
		return guard{op: c.op, a: apply("mul", by, c.a), b: apply("mul", by, c.b)}
	}
}

// latents chooses so many of the variables in scope that suit, latents or parameters, of
// which the first is a latent: different ones, but now and then where there are few.
func (g *generator) latents(n int, suits func(d defined) bool) (list []expr, ok bool) {
	var all []defined
	for _, d := range g.defined {
		if (d.kind == latent || d.kind == parameter) && suits(d) {
			all = append(all, d)
		}
	}
	for len(list) < n {
		good := func(d defined) bool { return suits(d) && (d.kind == latent || d.kind == parameter && len(list) > 0) }
		if g.pick(3) == 0 {
			if x, ok := g.indexed(good); ok {
				list = append(list, x)
				continue
			}
		}
		var from []int
		for k, d := range all {
			if good(d) {
				from = append(from, k)
			}
		}
		if len(from) == 0 {
			return nil, false
		}
		k := from[g.pick(len(from))]
		list = append(list, expr{op: "var", i: all[k].id})
		if len(list) == n || len(all) > 1 || g.pick(8) > 0 {
			all = slices.Delete(all, k, k+1)
		}
	}
	return list, true
}

func anything(defined) bool { return true }

func real(d defined) bool { return d.space == Line }

func positive(d defined) bool { return d.space == Half || d.space == Unit }

// constant is a number, or a column of numbers.
func (g *generator) constant(draw func() float64) expr {
	if len(g.rows) > 0 && g.pick(2) == 0 {
		return g.data(draw)
	}
	return number(draw())
}

func add(a, b expr) expr { return apply("add", a, b) }
func mul(a, b expr) expr { return apply("mul", a, b) }

// sides are what a guard compares: of any form that can be solved for a latent.
func (g *generator) sides() (a, b expr) {
	g.nested++
	defer func() { g.nested-- }()
	for {
		if a, b, ok := g.form(); ok {
			return a, b
		}
	}
}

// needed is how many different variables a form needs to be solved for one of them.
var needed = [24]int{1: 2, 2: 3, 4: 2, 5: 3, 6: 3, 8: 3, 9: 3, 11: 2, 12: 2, 13: 2, 14: 2, 15: 3, 16: 2, 22: 2, 23: 2}

func (g *generator) form() (a, b expr, ok bool) {
	const most = 2 // nested ones
	c := g.constant(g.number)
	by := func() expr { return g.constant(g.coefficient) }
	k := g.pick(16)
	switch {
	case k < 4 || g.Affine:
		return g.affine()
	case k == 4 && g.nested <= most: // of a branch
		on := g.guard(0)
		x, y := g.sides()
		z, w := g.sides()
		return expr{op: "if", g: &on, kids: []expr{apply("sub", x, y), apply("sub", z, w)}}, c, true
	case k == 5 && g.nested <= most: // step network
		x, ok := g.latents(3, real)
		if !ok {
			return a, b, false
		}
		one, other := g.guard(0), g.guard(0)
		step := func(on *guard, w expr) expr { return mul(w, expr{op: "if", g: on, kids: []expr{number(1), number(0)}}) }
		return add(add(x[0], step(&one, x[1])), step(&other, x[2])), c, true
	case k == 6 && g.nested <= most: // of a kink
		x, y := g.sides()
		switch g.pick(4) {
		case 0:
			return apply("max", x, y), c, true
		case 1:
			return apply("min", x, apply("mul", number(g.positive()), y)), c, true
		case 2:
			return apply("abs", apply("sub", x, y)), number(g.positive()), true
		}
		low := g.number()
		return apply("clip", apply("sub", x, y), number(low), number(low+g.positive())), number(low + 0.5*g.positive()), true
	}
	return g.flat(c, by)
}

// flat is a form without comparisons inside. c is what it is compared with, and by draws coefficients.
func (g *generator) flat(c expr, by func() expr) (a, b expr, ok bool) {
	space := []func(defined) bool{anything, anything, real, positive}[g.pick(4)]
	x, ok := g.latents(1+g.pick(3), space)
	if !ok {
		return a, b, false
	}
	different := len(x)
	for len(x) < 3 {
		x = append(x, x[g.pick(len(x))])
	}
	p, positives := g.latents(2, positive)
	sign, signs := g.latents(2, func(d defined) bool { return d.kind == latent || positive(d) }) // not of a parameter
	f := g.pick(len(needed))
	if different < needed[f] {
		return a, b, false
	}
	switch {
	case f == 0: // a threshold of one
		return x[0], c, true
	case f == 1: // transformed latents compared
		return mul(by(), x[0]), mul(by(), x[1]), true
	case f == 2:
		return add(mul(by(), x[0]), mul(by(), x[1])), add(x[2], c), true
	case f == 3 && signs: // products
		return mul(sign[0], sign[1]), number(0), true
	case f == 4:
		return mul(x[0], x[1]), c, true
	case f == 5:
		return mul(by(), mul(x[0], x[1])), x[2], true
	case f == 6: // thresholds that are not centred
		return add(x[0], mul(x[1], x[2])), c, true
	case f == 7 && signs && !g.noPoles: // ratios
		return apply("over", sign[0], sign[1]), c, true
	case f == 8 && signs && !g.noPoles:
		return add(apply("over", sign[0], sign[1]), x[2]), c, true
	case f == 9 && positives:
		return add(apply("over", x[0], p[0]), x[2]), mul(by(), p[1]), true
	case f == 10: // squares
		return apply("square", add(x[0], c)), number(g.positive()), true
	case f == 11:
		return add(apply("square", x[0]), mul(number(g.positive()), apply("square", x[1]))), number(g.positive()), true
	case f == 12:
		return add(apply("square", x[0]), mul(by(), apply("square", x[1]))), add(x[0], c), true
	case f == 13: // monotone, without a closed form
		return add(add(x[0], apply("exp", mul(number(0.5), x[0]))), mul(by(), x[1])), c, true
	case f == 14:
		return apply("sum", apply("tanh", x[0]), x[0], mul(by(), apply("softp", x[1]))), c, true
	case f == 15:
		return add(apply("over", x[0], apply("softp", x[1])), apply("sigm", x[2])), c, true
	case f == 16: // powers
		return apply("pow", x[0], number(3)), add(mul(by(), x[1]), c), true
	case f == 17 && positives:
		return apply("pow", p[0], number(1.7)), mul(by(), p[1]), true
	case f == 18 && positives:
		return apply("pow", p[0], x[0]), number(g.positive()), true
	case f == 19 && positives: // logarithms
		return apply("log", p[0]), add(apply("log", p[1]), c), true
	case f == 20 && positives:
		return mul(p[0], p[1]), number(g.positive()), true
	case f == 21 && positives:
		return apply("sqrt", p[0]), mul(by(), x[0]), true
	case f == 22: // what is not monotone, beside what is
		return apply([]string{"sin", "cos"}[g.pick(2)], x[0]), mul(by(), x[1]), true
	case f == 23:
		return apply([]string{"exp", "expm1", "sigm", "tanh", "softp"}[g.pick(5)], add(x[0], mul(by(), x[1]))), c, true
	}
	return a, b, false
}

// affine is a form of one latent, or several.
func (g *generator) affine() (a, b expr, ok bool) {
	x, ok := g.latents(1+g.pick(3), real)
	if !ok {
		return a, b, false
	}
	sum := mul(g.constant(g.coefficient), x[0])
	for _, y := range x[1:] {
		sum = add(sum, mul(g.constant(g.coefficient), y))
	}
	return sum, g.constant(g.number), true
}
