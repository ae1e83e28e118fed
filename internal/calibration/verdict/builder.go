package main

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/facetvi/facet/graph"
)

// A term is an expression in three readings: source text, an expression of the language, and
// a register of the tape.
type term struct {
	text string
	expr graph.Expr
	reg  int
	deps uint // latents that it depends on, as bits
}

func (l law) of(params []term) string {
	texts := make([]any, len(params))
	for i, p := range params {
		texts[i] = p.text
	}
	return fmt.Sprintf(l.format, texts...)
}

// A condition is a guard in the same readings. Its register is 1 or 0.
type condition struct {
	text   string
	guard  graph.Guard
	reg    int
	deps   uint
	curved bool
}

// A latent is continuous on a space, or discrete with the values 0, 1, …, most.
type latent struct {
	name   string
	space  space
	lo, hi float64 // of an interval
	most   int
	reg    int
	law    law
	params []int // registers
}

func (l latent) discrete() bool { return l.space == counts }

// An instruction computes registers from others.
type instruction struct {
	run  func(r []float64)
	deps uint
}

// A program is a model, and a tape that computes its log joint density: registers, from those
// of its latents.
type program struct {
	model   *graph.Model
	lines   []string
	latents []latent
	named   []condition // guards, as named in the model
	names   []string
	tape    []instruction
	terms   []condition // terms of log r: their registers
	splits  []split
	first   []float64 // registers at a draw from the prior
}

// A split is a comparison of two registers, where the density may have a jump or a kink.
type split struct {
	a, b int
	deps uint
}

// A builder writes a program: each part in all readings at once.
type builder struct {
	*program
	rng    *rand.Rand
	indent string
	live   []condition // of open If blocks
	guards int         // comparisons so far
	curved bool        // some guard
}

func (b *builder) line(format string, args ...any) {
	b.lines = append(b.lines, b.indent+fmt.Sprintf(format, args...))
}

// register adds an instruction for one register, and runs it.
func (b *builder) register(deps uint, value func(r []float64) float64) int {
	out := len(b.first)
	b.first = append(b.first, 0)
	run := func(r []float64) { r[out] = value(r) }
	run(b.first)
	b.tape = append(b.tape, instruction{run, deps})
	return out
}

// at is the value of a term at the draw from the prior.
func (b *builder) at(t term) float64 { return b.first[t.reg] }

// number is a constant, with three digits.
func (b *builder) number(v float64) term {
	text := strconv.FormatFloat(v, 'g', 3, 64)
	v, _ = strconv.ParseFloat(text, 64)
	return term{text: text, expr: graph.Add(v, 0), reg: b.register(0, func([]float64) float64 { return v })}
}

func (b *builder) unary(name string, of func(graph.Expr) graph.Expr, value func(float64) float64, x term) term {
	return term{fmt.Sprintf("%s(%s)", name, x.text), of(x.expr), b.register(x.deps, func(r []float64) float64 { return value(r[x.reg]) }), x.deps}
}

func (b *builder) binary(name string, of func(x, y graph.Expr) graph.Expr, value func(x, y float64) float64, x, y term) term {
	deps := x.deps | y.deps
	return term{
		fmt.Sprintf("%s(%s, %s)", name, x.text, y.text), of(x.expr, y.expr),
		b.register(deps, func(r []float64) float64 { return value(r[x.reg], r[y.reg]) }), deps,
	}
}

func (b *builder) add(x, y term) term {
	return b.binary("Add", graph.Add[e, e], func(x, y float64) float64 { return x + y }, x, y)
}

func (b *builder) sub(x, y term) term {
	return b.binary("Sub", graph.Sub[e, e], func(x, y float64) float64 { return x - y }, x, y)
}

func (b *builder) mul(x, y term) term {
	return b.binary("Mul", graph.Mul[e, e], func(x, y float64) float64 { return x * y }, x, y)
}

func (b *builder) div(x, y term) term {
	return b.binary("Div", graph.Div[e, e], func(x, y float64) float64 { return x / y }, x, y)
}

func (b *builder) exp(x term) term  { return b.unary("Exp", graph.Exp[e], math.Exp, x) }
func (b *builder) log(x term) term  { return b.unary("Log", graph.Log[e], math.Log, x) }
func (b *builder) sqrt(x term) term { return b.unary("Sqrt", graph.Sqrt[e], math.Sqrt, x) }

func (b *builder) square(x term) term {
	return b.unary("Square", graph.Square[e], func(x float64) float64 { return x * x }, x)
}

// split says that something may happen where two terms are equal.
func (b *builder) split(x, y term) { b.splits = append(b.splits, split{x.reg, y.reg, x.deps | y.deps}) }

func (b *builder) max(x, y term) term {
	b.split(x, y)
	return b.binary("Max", graph.Max[e, e], math.Max, x, y)
}

func (b *builder) min(x, y term) term {
	b.split(x, y)
	return b.binary("Min", graph.Min[e, e], math.Min, x, y)
}

func (b *builder) abs(x term) term {
	b.split(x, b.number(0))
	return b.unary("Abs", graph.Abs[e], math.Abs, x)
}

func (b *builder) clip(x, low, high term) term {
	b.split(x, low)
	b.split(x, high)
	t := b.unary("Clip", func(x e) e { return graph.Clip(x, low.expr, high.expr) },
		func(v float64) float64 { return min(max(v, b.first[low.reg]), b.first[high.reg]) }, x)
	t.text = fmt.Sprintf("Clip(%s, %s, %s)", x.text, low.text, high.text)
	return t
}

// compare is the guard x > y, or x < y.
func (b *builder) compare(greater bool, x, y term, curved bool) condition {
	b.split(x, y)
	b.guards++
	b.curved = b.curved || curved
	c := condition{text: fmt.Sprintf("Greater(%s, %s)", x.text, y.text), deps: x.deps | y.deps, curved: curved}
	if greater {
		c.guard = graph.Greater(x.expr, y.expr)
	} else {
		c.text, c.guard = fmt.Sprintf("Less(%s, %s)", x.text, y.text), graph.Less(x.expr, y.expr)
	}
	c.reg = b.register(c.deps, func(r []float64) float64 {
		return truth(greater && r[x.reg] > r[y.reg] || !greater && r[x.reg] < r[y.reg])
	})
	return c
}

func (b *builder) equal(k term, v int) condition {
	return condition{
		text: fmt.Sprintf("Equal(%s, %d)", k.text, v), guard: graph.Equal(k.expr, float64(v)), deps: k.deps,
		reg: b.register(k.deps, func(r []float64) float64 { return truth(r[k.reg] == float64(v)) }),
	}
}

func (b *builder) not(c condition) condition {
	d := condition{text: "Not(" + c.text + ")", guard: graph.Not(c.guard), deps: c.deps, curved: c.curved}
	d.reg = b.register(c.deps, func(r []float64) float64 { return 1 - r[c.reg] })
	return d
}

func (b *builder) and(c, d condition) condition {
	x := condition{text: fmt.Sprintf("And(%s, %s)", c.text, d.text), guard: graph.And(c.guard, d.guard), deps: c.deps | d.deps}
	x.reg = b.register(x.deps, func(r []float64) float64 { return r[c.reg] * r[d.reg] })
	return x
}

func (b *builder) or(c, d condition) condition {
	x := condition{text: fmt.Sprintf("Or(%s, %s)", c.text, d.text), guard: graph.Or(c.guard, d.guard), deps: c.deps | d.deps}
	x.reg = b.register(x.deps, func(r []float64) float64 { return max(r[c.reg], r[d.reg]) })
	return x
}

func (b *builder) choose(c condition, x, y term) term {
	deps := c.deps | x.deps | y.deps
	return term{
		fmt.Sprintf("If(%s, %s, %s)", c.text, x.text, y.text), graph.If(c.guard, x.expr, y.expr),
		b.register(deps, func(r []float64) float64 {
			if r[c.reg] > 0 {
				return r[x.reg]
			}
			return r[y.reg]
		}), deps,
	}
}

// choice is Switch.
func (b *builder) choice(k term, values ...term) term {
	t := term{text: "Switch(" + k.text, deps: k.deps}
	exprs, regs := make([]graph.Expr, len(values)), make([]int, len(values))
	for i, v := range values {
		t.text += ", " + v.text
		t.deps |= v.deps
		exprs[i], regs[i] = v.expr, v.reg
	}
	t.text += ")"
	t.expr = graph.Switch(k.expr, exprs...)
	t.reg = b.register(t.deps, func(r []float64) float64 { return r[regs[int(r[k.reg])]] })
	return t
}

// sample adds a latent and draws its value.
func (b *builder) sample(l law, params ...term) term {
	list, deps, p := b.params(params)
	z := latent{name: l.letter + strconv.Itoa(len(b.latents)), space: l.space, lo: l.lo, hi: l.hi, most: l.most, law: l, params: list, reg: len(b.first)}
	t := term{text: z.name, reg: z.reg, deps: 1 << len(b.latents)}
	b.line("%s := m.Sample(%q, %s)", z.name, z.name, l.of(params))
	t.expr = b.model.Sample(z.name, l.build(exprs(params)))
	b.latents = append(b.latents, z)
	b.first = append(b.first, l.draw(b.rng, p))
	b.logProb(deps|t.deps, l, list, func(r []float64) float64 { return r[z.reg] })
	return t
}

// params are the registers of parameters, on what they depend, and their values.
func (b *builder) params(params []term) (list []int, deps uint, p []float64) {
	for _, x := range params {
		list, deps, p = append(list, x.reg), deps|x.deps, append(p, b.at(x))
	}
	return list, deps, p
}

func exprs(params []term) (list []graph.Expr) {
	for _, x := range params {
		list = append(list, x.expr)
	}
	return list
}

// logProb adds a law's log density to log r.
func (b *builder) logProb(deps uint, l law, list []int, x func(r []float64) float64) {
	p := make([]float64, len(list))
	b.term(deps, func(r []float64) float64 {
		for i, k := range list {
			p[i] = r[k]
		}
		return l.log(x(r), p)
	})
}

// term adds to log r, in open blocks only.
func (b *builder) term(deps uint, value func(r []float64) float64) {
	for _, c := range b.live {
		inner := value
		deps |= c.deps
		value = func(r []float64) float64 {
			if r[c.reg] > 0 {
				return inner(r)
			}
			return 0
		}
	}
	b.terms = append(b.terms, condition{reg: b.register(deps, value), deps: deps})
}

// observe observes values that are drawn given the latents' first values.
func (b *builder) observe(name string, l law, n int, outlier float64, params ...term) {
	list, deps, p := b.params(params)
	var texts []string
	for range n {
		v := b.number(l.draw(b.rng, p) + outlier)
		x := b.at(v)
		texts = append(texts, v.text)
		b.model.Observe(name, l.build(exprs(params)), x)
		b.logProb(deps, l, list, func([]float64) float64 { return x })
	}
	if n == 1 {
		b.line("m.Observe(%q, %s, %s)", name, l.of(params), texts[0])
		return
	}
	b.line("for _, y := range []float64{%s} {", strings.Join(texts, ", "))
	b.line("\tm.Observe(%q, %s, y)", name, l.of(params))
	b.line("}")
}

func (b *builder) factor(t term) {
	b.line("m.Factor(%s)", t.text)
	b.model.Factor(t.expr)
	b.term(t.deps, func(r []float64) float64 { return r[t.reg] })
}

func (b *builder) require(c condition) {
	b.line("m.Require(%s)", c.text)
	b.model.Require(c.guard)
	b.term(c.deps, func(r []float64) float64 { return math.Log(r[c.reg]) })
}

// when is Model.If.
func (b *builder) when(c condition, then, otherwise func()) {
	side := func(c condition, body func()) func() {
		if body == nil {
			return nil
		}
		return func() {
			outer, indent := b.live, b.indent
			b.live, b.indent = append(outer[:len(outer):len(outer)], c), indent+"\t"
			body()
			b.live, b.indent = outer, indent
		}
	}
	b.line("m.If(%s, func() {", c.text)
	var other func()
	if otherwise != nil {
		other = side(b.not(c), func() {
			b.lines = append(b.lines, strings.TrimSuffix(b.indent, "\t")+"}, func() {")
			otherwise()
		})
	}
	b.model.If(c.guard, side(c, then), other)
	if otherwise == nil {
		b.line("}, nil)")
	} else {
		b.line("})")
	}
}

// name names a guard.
func (b *builder) name(name string, c condition) condition {
	b.line("%s := m.Name(%q, %s)", name, name, c.text)
	c.text, c.guard = name, b.model.Name(name, c.guard)
	b.named, b.names = append(b.named, c), append(b.names, name)
	return c
}

// String is the program's source.
func (p *program) String() string { return strings.Join(p.lines, "\n") }

// continuous are the numbers of the continuous latents.
func (p *program) continuous() (list []int) {
	for i, l := range p.latents {
		if !l.discrete() {
			list = append(list, i)
		}
	}
	return list
}

// registers is a new set of registers, with all constants in it.
func (p *program) registers() []float64 { return append([]float64(nil), p.first...) }

// draw draws the latents from their priors in their order, and returns log r − log prior.
func (p *program) draw(r []float64, rng *rand.Rand, params []float64) float64 {
	next := 0
	for _, in := range p.tape {
		// the instructions before a latent's density compute its parameters
		for next < len(p.latents) && in.deps>>next != 0 {
			l := &p.latents[next]
			params = params[:0]
			for _, k := range l.params {
				params = append(params, r[k])
			}
			r[l.reg] = l.law.draw(rng, params)
			next++
		}
		in.run(r)
	}
	likelihood := 0.0
	for k, t := range p.terms {
		if !p.prior(k) {
			likelihood += r[t.reg]
		}
	}
	return likelihood
}

// prior reports whether term k of log r is a prior.
func (p *program) prior(k int) bool { return k < len(p.latents) }

// levels are the instructions that follow when the latents up to each position of an order
// are known, and so for the terms of log r and the splits.
func (p *program) levels(order []int) (levels []level) {
	place := func(deps uint) (at int) { // 0 for none of them
		for k, i := range order {
			if deps>>i&1 != 0 {
				at = k + 1
			}
		}
		return at
	}
	levels = make([]level, len(order)+1)
	for _, in := range p.tape {
		l := &levels[place(in.deps)]
		l.run = append(l.run, in.run)
	}
	for _, t := range p.terms {
		l := &levels[place(t.deps)]
		l.terms = append(l.terms, t.reg)
	}
	for _, s := range p.splits {
		l := &levels[place(s.deps)]
		if bits.OnesCount(s.deps) > 0 && len(l.splits) < 64 {
			l.splits = append(l.splits, s)
		}
	}
	return levels
}

// A level is what is computed once a latent is known and those before it.
type level struct {
	run    []func(r []float64)
	terms  []int
	splits []split
}

func (l *level) compute(r []float64) (log float64) {
	for _, f := range l.run {
		f(r)
	}
	for _, k := range l.terms {
		log += r[k]
	}
	return log
}

// sides are which sides of the splits the registers are on, as bits.
func (l *level) sides(r []float64) (set uint64) {
	for i, s := range l.splits {
		if r[s.a] > r[s.b] {
			set |= 1 << i
		}
	}
	return set
}
