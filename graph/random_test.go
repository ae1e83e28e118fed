package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
)

// A program is a random model as a small syntax tree, which is read in two
// ways: by build, in the language under test, and by a scalar interpreter that
// shares no code with it.
type program struct {
	priors []prior
	body   []stmt
	conds  []cond // the pool of comparisons: different surfaces
}

// A prior is a law with constant parameters, or a normal around a multiple of
// the latent before it.
type prior struct {
	law     law
	params  []float64
	chained bool
}

// A cond is the comparison Σ coef·u + c > 0, or form(values of latents) + c > 0.
type cond struct {
	coef []float64
	c    float64
	form *form
	at   []int
}

// A form is what a comparison can be of that is not affine.
type form struct {
	arity int
	plain bool // of untransformed latents only, so that it is not simplified
	build func(x ...graph.Expr) graph.Expr
	value func(x ...float64) float64
}

var forms = []form{
	{2, true, func(x ...graph.Expr) graph.Expr { return graph.Mul(x[0], x[1]) }, func(x ...float64) float64 { return x[0] * x[1] }},
	{3, true, func(x ...graph.Expr) graph.Expr { return graph.Add(x[0], graph.Mul(x[1], x[2])) },
		func(x ...float64) float64 { return x[0] + x[1]*x[2] }},
	{2, true, func(x ...graph.Expr) graph.Expr { return graph.Sub(graph.Exp(graph.Mul(0.3, x[0])), x[1]) },
		func(x ...float64) float64 { return math.Exp(0.3*x[0]) - x[1] }},
	{2, true, func(x ...graph.Expr) graph.Expr {
		return graph.Add(graph.Square(x[0]), graph.Mul(-0.5, graph.Square(x[1])))
	},
		func(x ...float64) float64 { return x[0]*x[0] - 0.5*x[1]*x[1] }},
	{2, true, func(x ...graph.Expr) graph.Expr {
		return graph.Sub(graph.Add(graph.Tanh(x[0]), x[0]), graph.Softplus(x[1]))
	},
		func(x ...float64) float64 {
			return math.Tanh(x[0]) + x[0] - math.Max(x[1], 0) - math.Log1p(math.Exp(-math.Abs(x[1])))
		}},
	{2, true, func(x ...graph.Expr) graph.Expr {
		return graph.Sub(graph.Div(x[0], graph.Add(1, graph.Square(x[1]))), graph.Pow(x[1], 3))
	}, func(x ...float64) float64 { return x[0]/(1+x[1]*x[1]) - x[1]*x[1]*x[1] }},
	{3, true, func(x ...graph.Expr) graph.Expr {
		return graph.Add(graph.Div(x[0], graph.Softplus(x[1])), graph.Sigmoid(x[2]))
	}, func(x ...float64) float64 {
		return x[0]/(math.Max(x[1], 0)+math.Log1p(math.Exp(-math.Abs(x[1])))) + sigmoid(x[2])
	}},
	{2, true, func(x ...graph.Expr) graph.Expr {
		return graph.Sub(graph.Add(graph.Square(x[0]), x[0]), graph.Exp(graph.Mul(0.5, x[1])))
	},
		func(x ...float64) float64 { return x[0]*x[0] + x[0] - math.Exp(0.5*x[1]) }},
	{2, false, func(x ...graph.Expr) graph.Expr { return graph.Sub(graph.Mul(2, x[0]), x[1]) }, func(x ...float64) float64 { return 2*x[0] - x[1] }},
}

type guard struct {
	op    string // cmp, not, and, or, lift
	cond  int
	scale float64
	kids  []guard
}

type expr struct {
	op   string // const, latent, loop (the index of a loop), if, max, abs, or an operation
	v    float64
	i    int
	kids []expr
	g    guard
}

type stmt struct {
	op         string // factor, observe, if, loop
	e          []expr
	law        law
	params     []float64
	x          []float64
	g          guard
	then, othw []stmt
}

// --- generation

type generator struct {
	t      *rapid.T
	latent int
	plain  []bool // which latents are untransformed
	conds  int
	kinks  bool // there may be some
}

func (g *generator) pick(n int) int { return rapid.IntRange(0, n-1).Draw(g.t, "n") }

func (g *generator) number() float64 {
	return float64(rapid.IntRange(-20, 20).Draw(g.t, "v")) / 8
}

func (g *generator) program() program {
	var p program
	continuous := laws()[:15] // all that are neither Uniform nor discrete
	g.latent = 2 + g.pick(3)
	for i := range g.latent {
		pr := prior{law: continuous[0], params: []float64{g.number(), 1.5}}
		switch {
		case i > 0 && g.pick(3) == 0:
			pr.chained = true
		case i > 0 && g.pick(2) == 0:
			pr.law = continuous[g.pick(len(continuous))]
			pr.params = pr.law.params[0]
		}
		g.plain = append(g.plain, pr.law.space == line)
		p.priors = append(p.priors, pr)
	}
	for range 1 + g.pick(4) {
		c := cond{coef: make([]float64, g.latent), c: g.number()}
		for i := range c.coef {
			if g.plain[i] && g.pick(2) == 0 {
				c.coef[i] = float64(1 + g.pick(7) - 3)
			}
		}
		if len(p.conds) == 0 {
			c.coef[0] = 1 // at least one comparison compares something
		}
		if g.distinct(p.conds, c) {
			p.conds = append(p.conds, c)
		}
	}
	for k := range forms {
		c := cond{coef: make([]float64, g.latent), c: g.number() + 1./64, form: &forms[k]}
		if g.pick(4) == 0 && g.choose(&c) {
			p.conds = append(p.conds, c)
		}
	}
	g.conds = len(p.conds)
	p.body = g.block(2)
	return p
}

// choose chooses the latents of a form, different ones, if there are enough.
func (g *generator) choose(c *cond) bool {
	var from []int
	for i, plain := range g.plain {
		if plain || !c.form.plain {
			from = append(from, i)
		}
	}
	transformed := false
	for range c.form.arity {
		if len(from) == 0 {
			return false
		}
		k := g.pick(len(from))
		c.at = append(c.at, from[k])
		transformed = transformed || !g.plain[from[k]]
		from = slices.Delete(from, k, k+1)
	}
	return c.form.plain || transformed
}

// distinct reports whether c has coefficients, and a zero set of its own.
func (g *generator) distinct(conds []cond, c cond) bool {
	some := false
	for _, a := range c.coef {
		some = some || a != 0
	}
	for _, o := range conds {
		if _, same := ratio(o.coef, o.c, c.coef, c.c); same {
			return false
		}
	}
	return some
}

// ratio is f with b = f·a, if there is one.
func ratio(a []float64, ac float64, b []float64, bc float64) (f float64, ok bool) {
	x, y := append([]float64{ac}, a...), append([]float64{bc}, b...)
	for i := range x {
		if x[i] != 0 && math.Abs(y[i]/x[i]) > math.Abs(f) {
			f = y[i] / x[i]
		}
	}
	for i := range x {
		if math.Abs(y[i]-f*x[i]) > 1e-12*math.Abs(f) {
			return 0, false
		}
	}
	return f, f != 0
}

func (g *generator) block(depth int) []stmt {
	var list []stmt
	for range 1 + g.pick(2) {
		list = append(list, g.stmt(depth))
	}
	return list
}

func (g *generator) stmt(depth int) stmt {
	ops := []string{"factor", "observe", "observe", "loop", "if", "if"}
	if depth == 0 {
		ops = ops[:4]
	}
	s := stmt{op: ops[g.pick(len(ops))]}
	switch s.op {
	case "factor":
		s.e = []expr{g.expr(3)}
	case "observe", "loop":
		all := laws()
		s.law = all[g.pick(len(all))]
		s.params = s.law.params[0]
		for range s.law.kinds {
			s.e = append(s.e, g.expr(2))
		}
		for range map[string]int{"observe": 1, "loop": 5}[s.op] {
			s.x = append(s.x, s.law.xs[g.pick(len(s.law.xs))])
		}
	case "if":
		s.g = g.guard(2)
		s.then = g.block(depth - 1)
		if g.pick(2) == 0 {
			s.othw = g.block(depth - 1)
		}
	}
	return s
}

func (g *generator) guard(depth int) guard {
	if depth == 0 || g.pick(2) == 0 {
		return guard{op: "cmp", cond: g.pick(g.conds), scale: []float64{1, -1, 2, -0.5, 3}[g.pick(5)]}
	}
	b := guard{op: []string{"not", "and", "or", "lift"}[g.pick(4)]}
	for range map[string]int{"not": 1, "and": 2, "or": 3, "lift": 1}[b.op] {
		b.kids = append(b.kids, g.guard(depth-1))
	}
	if b.op == "lift" {
		b.kids = append(b.kids, g.guard(0), g.guard(0))
	}
	return b
}

// operations in the two readings. Each takes any real arguments: where the bare
// function does not, its argument is tamed, and where it has a simplification
// to be tried, it comes in that form.
var operations = map[string]struct {
	arity int
	build func(a ...graph.Expr) graph.Expr
	plain func(a ...float64) float64
}{
	"add":  {2, func(a ...graph.Expr) graph.Expr { return graph.Add(a[0], a[1]) }, func(a ...float64) float64 { return a[0] + a[1] }},
	"sub":  {2, func(a ...graph.Expr) graph.Expr { return graph.Sub(a[0], a[1]) }, func(a ...float64) float64 { return a[0] - a[1] }},
	"sum3": {3, func(a ...graph.Expr) graph.Expr { return graph.Sum(a...) }, func(a ...float64) float64 { return a[0] + a[1] + a[2] }},
	"affine": {2, func(a ...graph.Expr) graph.Expr {
		return graph.Sub(graph.Mul(3, a[0]), graph.Add(graph.Div(a[1], -4), 1))
	},
		func(a ...float64) float64 { return 3*a[0] + a[1]/4 - 1 }},
	"mul": {2, func(a ...graph.Expr) graph.Expr { return graph.Mul(a[0], a[1]) }, func(a ...float64) float64 { return a[0] * a[1] }},
	"div": {2, func(a ...graph.Expr) graph.Expr { return graph.Div(a[0], graph.Add(graph.Square(a[1]), 1)) },
		func(a ...float64) float64 { return a[0] / (a[1]*a[1] + 1) }},
	"recip": {1, func(a ...graph.Expr) graph.Expr { return graph.Div(2, graph.Mul(-3, graph.Add(graph.Square(a[0]), 1))) },
		func(a ...float64) float64 { return -2 / (3 * (a[0]*a[0] + 1)) }},
	"divexp": {2, func(a ...graph.Expr) graph.Expr { return graph.Div(a[0], graph.Mul(2, graph.Exp(graph.Tanh(a[1])))) },
		func(a ...float64) float64 { return a[0] / (2 * math.Exp(math.Tanh(a[1]))) }},
	"pow": {2, func(a ...graph.Expr) graph.Expr {
		return graph.Pow(graph.Add(graph.Softplus(a[0]), 0.1), graph.Tanh(a[1]))
	},
		func(a ...float64) float64 {
			return math.Pow(math.Max(a[0], 0)+math.Log1p(math.Exp(-math.Abs(a[0])))+0.1, math.Tanh(a[1]))
		}},
	"pow3":  {1, func(a ...graph.Expr) graph.Expr { return graph.Pow(graph.Tanh(a[0]), 3) }, func(a ...float64) float64 { return math.Pow(math.Tanh(a[0]), 3) }},
	"2pow":  {1, func(a ...graph.Expr) graph.Expr { return graph.Pow(2, graph.Sin(a[0])) }, func(a ...float64) float64 { return math.Pow(2, math.Sin(a[0])) }},
	"neg":   {1, func(a ...graph.Expr) graph.Expr { return graph.Neg(a[0]) }, func(a ...float64) float64 { return -a[0] }},
	"exp":   {1, func(a ...graph.Expr) graph.Expr { return graph.Exp(graph.Tanh(a[0])) }, func(a ...float64) float64 { return math.Exp(math.Tanh(a[0])) }},
	"log":   {1, func(a ...graph.Expr) graph.Expr { return graph.Log(graph.Add(graph.Square(a[0]), 0.5)) }, func(a ...float64) float64 { return math.Log(a[0]*a[0] + 0.5) }},
	"log3e": {1, func(a ...graph.Expr) graph.Expr { return graph.Log(graph.Mul(3, graph.Exp(a[0]))) }, func(a ...float64) float64 { return math.Log(3) + a[0] }},
	"logs":  {1, func(a ...graph.Expr) graph.Expr { return graph.Log(graph.Div(graph.Sigmoid(a[0]), 2)) }, func(a ...float64) float64 { return logSigmoid(a[0]) - math.Ln2 }},
	"log1s": {1, func(a ...graph.Expr) graph.Expr { return graph.Log1p(graph.Neg(graph.Sigmoid(a[0]))) }, func(a ...float64) float64 { return logSigmoid(-a[0]) }},
	"log1p": {1, func(a ...graph.Expr) graph.Expr { return graph.Log1p(graph.Square(a[0])) }, func(a ...float64) float64 { return math.Log1p(a[0] * a[0]) }},
	"expm1": {1, func(a ...graph.Expr) graph.Expr { return graph.Expm1(graph.Sin(a[0])) }, func(a ...float64) float64 { return math.Expm1(math.Sin(a[0])) }},
	"sqrt":  {1, func(a ...graph.Expr) graph.Expr { return graph.Sqrt(graph.Add(1, graph.Square(a[0]))) }, func(a ...float64) float64 { return math.Sqrt(1 + a[0]*a[0]) }},
	"sq":    {1, func(a ...graph.Expr) graph.Expr { return graph.Square(graph.Mul(-2, graph.Tanh(a[0]))) }, func(a ...float64) float64 { return 4 * math.Pow(math.Tanh(a[0]), 2) }},
	"sin":   {1, func(a ...graph.Expr) graph.Expr { return graph.Sin(a[0]) }, func(a ...float64) float64 { return math.Sin(a[0]) }},
	"cos":   {1, func(a ...graph.Expr) graph.Expr { return graph.Cos(a[0]) }, func(a ...float64) float64 { return math.Cos(a[0]) }},
	"tan":   {1, func(a ...graph.Expr) graph.Expr { return graph.Tan(graph.Tanh(a[0])) }, func(a ...float64) float64 { return math.Tan(math.Tanh(a[0])) }},
	"tanh":  {1, func(a ...graph.Expr) graph.Expr { return graph.Tanh(a[0]) }, func(a ...float64) float64 { return math.Tanh(a[0]) }},
	"sigm":  {1, func(a ...graph.Expr) graph.Expr { return graph.Sigmoid(a[0]) }, func(a ...float64) float64 { return sigmoid(a[0]) }},
	"softp": {1, func(a ...graph.Expr) graph.Expr { return graph.Softplus(a[0]) },
		func(a ...float64) float64 { return math.Max(a[0], 0) + math.Log1p(math.Exp(-math.Abs(a[0]))) }},
	"erf":  {1, func(a ...graph.Expr) graph.Expr { return graph.Erf(a[0]) }, func(a ...float64) float64 { return math.Erf(a[0]) }},
	"ncdf": {1, func(a ...graph.Expr) graph.Expr { return graph.NormalCDF(a[0]) }, func(a ...float64) float64 { return distuv.UnitNormal.CDF(a[0]) }},
	"lncdf": {1, func(a ...graph.Expr) graph.Expr { return graph.LogNormalCDF(graph.Mul(3, graph.Tanh(a[0]))) },
		func(a ...float64) float64 { return math.Log(distuv.UnitNormal.CDF(3 * math.Tanh(a[0]))) }},
	"nquant": {1, func(a ...graph.Expr) graph.Expr {
		return graph.NormalQuantile(graph.Sigmoid(graph.Mul(3, graph.Tanh(a[0]))))
	},
		func(a ...float64) float64 { return distuv.UnitNormal.Quantile(sigmoid(3 * math.Tanh(a[0]))) }},
	"lgamma": {1, func(a ...graph.Expr) graph.Expr { return graph.Lgamma(graph.Add(graph.Square(a[0]), 0.1)) },
		func(a ...float64) float64 { return lgamma(a[0]*a[0] + 0.1) }},
	"lse": {2, func(a ...graph.Expr) graph.Expr { return graph.LogSumExp(graph.Tanh(a[0]), a[1], graph.Neg(a[1])) },
		func(a ...float64) float64 {
			b := math.Abs(a[1])
			return b + math.Log1p(math.Exp(-2*b)+math.Exp(math.Tanh(a[0])-b))
		}},
	"lde": {2, func(a ...graph.Expr) graph.Expr {
		return graph.LogDiffExp(graph.Add(2, graph.Tanh(a[0])), graph.Tanh(a[1]))
	},
		func(a ...float64) float64 { return math.Log(math.Exp(2+math.Tanh(a[0])) - math.Exp(math.Tanh(a[1]))) }},
	"cdf": {2, func(a ...graph.Expr) graph.Expr {
		return graph.CDF(graph.Gamma(1.5, graph.Exp(graph.Tanh(a[0]))), graph.Exp(graph.Tanh(a[1])))
	},
		func(a ...float64) float64 {
			return distuv.Gamma{Alpha: 1.5, Beta: math.Exp(math.Tanh(a[0]))}.CDF(math.Exp(math.Tanh(a[1])))
		}},
	"lcdf": {2, func(a ...graph.Expr) graph.Expr { return graph.LogCDF(graph.Logistic(a[0], 2), a[1]) }, func(a ...float64) float64 { return logSigmoid((a[1] - a[0]) / 2) }},
	"lccdf": {1, func(a ...graph.Expr) graph.Expr {
		return graph.LogCCDF(graph.Exponential(graph.Exp(graph.Tanh(a[0]))), 2)
	},
		func(a ...float64) float64 { return -2 * math.Exp(math.Tanh(a[0])) }},
	"moments": {2, func(a ...graph.Expr) graph.Expr {
		return graph.Add(graph.Mean(graph.Normal(a[0], 2)), graph.Variance(graph.Gamma(graph.Exp(graph.Tanh(a[1])), 2)))
	},
		func(a ...float64) float64 { return a[0] + math.Exp(math.Tanh(a[1]))/4 }},
	"forward": {2, func(a ...graph.Expr) graph.Expr {
		return graph.ForwardSum(a, [][]graph.Expr{{a[1], a[0]}, {graph.Add(a[0], 1), a[1]}}, [][]graph.Expr{{a[0], {}}, graph.Numbers(-1, math.Inf(-1))})
	},
		func(a ...float64) float64 {
			v, _ := pathSum{a, [][][]float64{{{a[0], 0}, {-1, math.Inf(-1)}}}, [][]float64{{a[1], a[0]}, {a[0] + 1, a[1]}}}.brute()
			return v
		}},
}

var operationNames = []string{"add", "sub", "sum3", "affine", "mul", "div", "recip", "divexp", "pow", "pow3", "2pow", "neg", "exp", "log",
	"log3e", "logs", "log1s", "log1p", "expm1", "sqrt", "sq", "sin", "cos", "tan", "tanh", "sigm", "softp", "forward",
	"erf", "ncdf", "lncdf", "nquant", "lgamma", "lse", "lde", "cdf", "lcdf", "lccdf", "moments"}

func (g *generator) expr(depth int) expr {
	n := g.pick(10)
	switch {
	case depth == 0 && n < 2:
		return expr{op: "const", v: g.number()}
	case depth == 0 && n < 4:
		return expr{op: "loop"}
	case depth == 0:
		return expr{op: "latent", i: g.pick(g.latent)}
	case n < 3:
		return expr{op: "if", g: g.guard(1), kids: []expr{g.expr(depth - 1), g.expr(depth - 1)}}
	}
	if g.kinks && n == 9 {
		return expr{op: []string{"max", "abs"}[g.pick(2)], g: guard{op: "cmp", cond: g.pick(g.conds), scale: 1}}
	}
	e := expr{op: operationNames[g.pick(len(operationNames))]}
	for range operations[e.op].arity {
		e.kids = append(e.kids, g.expr(depth-1))
	}
	return e
}

// --- the reading in the language

type builder struct {
	m    *graph.Model
	p    program
	z    []graph.Expr // the latents' values
	loop int
	obs  int
	made func(x graph.Expr) // is told of each expression, if not nil
}

func (p program) build() *graph.Model {
	b := &builder{m: graph.NewModel(), p: p}
	b.latents()
	b.block(p.body)
	return b.m
}

func (b *builder) latents() {
	for i, pr := range b.p.priors {
		name := fmt.Sprint("z", i)
		switch {
		case pr.chained:
			b.z = append(b.z, b.m.Sample(name, graph.Normal(graph.Tanh(b.z[i-1]), graph.Exp(graph.Tanh(b.z[0])))))
		default:
			b.z = append(b.z, b.m.Sample(name, pr.law.make(numbers(pr.params))))
		}
	}
}

func (b *builder) block(list []stmt) {
	for _, s := range list {
		switch s.op {
		case "factor":
			b.m.Factor(graph.Tanh(b.expr(s.e[0])))
		case "observe", "loop":
			b.obs++
			name := fmt.Sprint("y", b.obs)
			for k, x := range s.x {
				b.loop = k
				b.m.Observe(name, s.law.make(b.params(s)), x)
			}
			b.loop = 0
		case "if":
			var othw func()
			if s.othw != nil {
				othw = func() { b.block(s.othw) }
			}
			b.m.If(b.guard(s.g), func() { b.block(s.then) }, othw)
		}
	}
}

func (b *builder) params(s stmt) []graph.Expr {
	p := make([]graph.Expr, len(s.e))
	for i, kind := range []byte(s.law.kinds) {
		switch kind {
		case 'c':
			p[i] = graph.Add(s.params[i], 0)
		case 'r':
			p[i] = graph.Mul(2, graph.Tanh(b.expr(s.e[i])))
		case 'p':
			p[i] = graph.Exp(graph.Tanh(b.expr(s.e[i])))
		case 'u':
			p[i] = graph.Sigmoid(graph.Tanh(b.expr(s.e[i])))
		}
	}
	return p
}

func (b *builder) guard(g guard) graph.Guard {
	var kids []graph.Guard
	for _, k := range g.kids {
		kids = append(kids, b.guard(k))
	}
	switch g.op {
	case "not":
		return graph.Not(kids[0])
	case "and":
		return graph.And(kids...)
	case "or":
		return graph.Or(kids...)
	}
	if g.op == "lift" { // what it compares depends on a branch
		side := func(k int) graph.Expr {
			return graph.Div(b.phi(g.kids[k]), g.kids[k].scale)
		}
		return graph.Greater(graph.If(kids[0], side(1), side(2)), 0)
	}
	if left, c := b.phi(g), b.p.conds[g.cond].c; g.scale > 0 {
		return graph.Greater(left, 0)
	} else {
		return graph.Less(graph.Sub(left, g.scale*c), -g.scale*c)
	}
}

// phi is scale·Φ of a comparison.
func (b *builder) phi(g guard) graph.Expr {
	c := b.p.conds[g.cond]
	left := graph.Add(g.scale*c.c, 0)
	if c.form != nil {
		var x []graph.Expr
		for _, i := range c.at {
			x = append(x, b.z[i])
		}
		left = graph.Add(left, graph.Mul(g.scale, c.form.build(x...)))
	}
	for i, a := range c.coef {
		left = graph.Add(left, graph.Mul(g.scale*a, b.z[i]))
	}
	return left
}

func (b *builder) expr(e expr) graph.Expr {
	switch e.op {
	case "const":
		return graph.Add(e.v, 0)
	case "loop":
		return graph.Add(b.loop, 0)
	case "latent":
		return b.z[e.i]
	}
	var kids []graph.Expr
	for _, k := range e.kids {
		kids = append(kids, b.expr(k))
	}
	var x graph.Expr
	if e.op == "max" {
		x = graph.Max(b.phi(e.g), 0)
	} else if e.op == "abs" {
		x = graph.Abs(b.phi(e.g))
	} else if e.op == "if" {
		x = graph.If(b.guard(e.g), kids[0], kids[1])
	} else {
		x = operations[e.op].build(kids...)
	}
	if b.made != nil {
		b.made(x)
	}
	return x
}

// --- the interpreter

type interpreter struct {
	p    program
	u    []float64
	z    []float64 // values of the latents
	sign []bool    // of the pool's comparisons
	loop int
}

// signs are the signs of the pool's comparisons at u, and whether all are clear.
func (p program) signs(u []float64) (sign []bool, clear bool) {
	clear = true
	for _, c := range p.conds {
		phi := p.phi(c, u)
		sign = append(sign, phi > 0)
		clear = clear && math.Abs(phi) > 1e-9
	}
	return sign, clear
}

// phi is Φ of a comparison at u.
func (p program) phi(c cond, u []float64) float64 {
	phi := c.c
	for i, a := range c.coef {
		phi += a * u[i]
	}
	if c.form != nil {
		var x []float64
		for _, i := range c.at {
			v, _ := constrain(p.priors[i].law.space, p.priors[i].params, u[i])
			x = append(x, v)
		}
		phi += c.form.value(x...)
	}
	return phi
}

func (p program) logProb(u []float64, sign []bool) float64 {
	in := &interpreter{p: p, u: u, sign: sign}
	sum := 0.0
	for i, pr := range p.priors {
		x, logJac := constrain(pr.law.space, pr.params, u[i])
		params := pr.params
		if pr.chained {
			params = []float64{math.Tanh(in.z[i-1]), math.Exp(math.Tanh(in.z[0]))}
			sum += logNormalPDF(x, params[0], params[1])
		} else {
			sum += pr.law.log(x, params) + logJac
		}
		in.z = append(in.z, x)
	}
	return sum + in.block(p.body)
}

func (in *interpreter) block(list []stmt) (sum float64) {
	for _, s := range list {
		switch s.op {
		case "factor":
			sum += math.Tanh(in.expr(s.e[0]))
		case "observe", "loop":
			for k, x := range s.x {
				in.loop = k
				sum += s.law.log(x, in.params(s))
			}
			in.loop = 0
		case "if":
			if in.guard(s.g) {
				sum += in.block(s.then)
			} else {
				sum += in.block(s.othw)
			}
		}
	}
	return sum
}

func (in *interpreter) params(s stmt) []float64 {
	p := make([]float64, len(s.e))
	for i, kind := range []byte(s.law.kinds) {
		switch kind {
		case 'c':
			p[i] = s.params[i]
		case 'r':
			p[i] = 2 * math.Tanh(in.expr(s.e[i]))
		case 'p':
			p[i] = math.Exp(math.Tanh(in.expr(s.e[i])))
		case 'u':
			p[i] = sigmoid(math.Tanh(in.expr(s.e[i])))
		}
	}
	return p
}

func (in *interpreter) guard(g guard) bool {
	switch g.op {
	case "not":
		return !in.guard(g.kids[0])
	case "and":
		return in.guard(g.kids[0]) && in.guard(g.kids[1])
	case "or":
		return in.guard(g.kids[0]) || in.guard(g.kids[1]) || in.guard(g.kids[2])
	case "lift":
		if in.guard(g.kids[0]) {
			return in.guard(g.kids[1])
		}
		return in.guard(g.kids[2])
	}
	// scale·Φ > 0 written with > for a positive scale; scale·Φ < 0, which is
	// Φ > 0 again, for a negative one
	return in.sign[g.cond]
}

func (in *interpreter) expr(e expr) float64 {
	switch e.op {
	case "const":
		return e.v
	case "loop":
		return float64(in.loop)
	case "latent":
		return in.z[e.i]
	case "if":
		if in.guard(e.g) {
			return in.expr(e.kids[0])
		}
		return in.expr(e.kids[1])
	case "max", "abs":
		phi := in.p.phi(in.p.conds[e.g.cond], in.u)
		switch {
		case in.sign[e.g.cond]:
			return phi
		case e.op == "max":
			return 0
		}
		return -phi
	}
	var kids []float64
	for _, k := range e.kids {
		kids = append(kids, in.expr(k))
	}
	return operations[e.op].plain(kids...)
}

// --- the comparison

// random is a program with its compiled density and the relation of their
// guards.
type random struct {
	program
	d     *graph.Density
	plane []int  // of the pool's comparison, −1 if the program does not use it
	up    []bool // whether Φ > 0 is the plane's positive side
}

func drawRandom(t *rapid.T) random { return drawProgram(t, true) }

func drawProgram(t *rapid.T, kinks bool) random {
	g := &generator{t: t, kinks: kinks}
	r := random{program: g.program()}
	b := &builder{m: graph.NewModel(), p: r.program}
	b.latents()
	b.block(r.body)
	r.d = mustCompile(t, b.m)
	used := 0
	for k, c := range r.conds {
		plane, up := -1, false
		if c.form != nil { // a guard that is made later is on the plane of those before
			side, ok := graph.Greater(b.phi(guard{cond: k, scale: 1}), 0).Side()
			require.True(t, ok)
			if side.Plane < r.d.Arrangement().Len() {
				plane, up = side.Plane, side.Positive
				used++
			}
			r.plane, r.up = append(r.plane, plane), append(r.up, up)
			continue
		}
		for l, h := range r.d.Arrangement().Planes() {
			if r.d.Arrangement().Curve(l) != nil {
				continue
			}
			dense := make([]float64, len(c.coef))
			for k, i := range h.Index {
				dense[i] = h.Coef[k]
			}
			if f, same := ratio(c.coef, c.c, dense, h.Const); same {
				require.Equal(t, -1, plane, "two planes for one comparison")
				plane, up = l, f > 0
				used++
			}
		}
		r.plane, r.up = append(r.plane, plane), append(r.up, up)
	}
	require.Equal(t, used, r.d.Arrangement().Len(), "a plane that the program does not have: %v, %+v, %v", r.d.Guards(), r.conds, r.body)
	return r
}

// forced turns signs of the pool's comparisons into signs of the arrangement.
func (r random) forced(sign []bool) regions.Signs {
	positive := make([]bool, r.d.Arrangement().Len())
	for k, l := range r.plane {
		if l >= 0 {
			positive[l] = sign[k] == r.up[k]
		}
	}
	return regions.NewSigns(positive)
}

// point is a random point and signs: its own, or any. It does not shrink.
func (r random) point(rng *rand.Rand) (u []float64, sign []bool) {
	u = make([]float64, len(r.priors))
	for i := range u {
		u[i] = 1.2 * rng.NormFloat64()
	}
	sign, clear := r.signs(u)
	if !clear || rng.IntN(2) == 0 {
		for k := range sign {
			sign[k] = rng.IntN(2) == 0
		}
	}
	return u, sign
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// tally counts the points that an oracle could not judge.
type tally struct{ all, skipped int }

func (c *tally) skip(skip bool) bool {
	c.all++
	if skip {
		c.skipped++
	}
	return skip
}

func (c *tally) check(t *testing.T, atMost float64) {
	t.Logf("%d of %d comparisons skipped", c.skipped, c.all)
	require.LessOrEqual(t, float64(c.skipped), atMost*float64(c.all), "the test proves little")
}

// Values under natural and forced signs, and gradients, are those of the
// interpreter.
func TestRandomModels(t *testing.T) {
	var values, slopes tally
	rapid.Check(t, func(t *rapid.T) { checkValues(t, drawRandom(t), &values, &slopes) })
	values.check(t, 0.01)
	slopes.check(t, 0.1)
}

func checkValues(t *rapid.T, r random, values, slopes *tally) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "points"), 0))
	var us [][]float64
	var signs [][]bool
	for range 4 {
		u, sign := r.point(rng)
		us, signs = append(us, u), append(signs, sign)
		if natural, clear := r.signs(u); clear && !slices.Equal(sign, natural) {
			us, signs = append(us, u), append(signs, natural)
		}
	}
	out, grad := r.run(t, r.d, len(us), false, us, signs)
	for k, u := range us {
		sign := signs[k]
		want := r.logProb(u, sign)
		if values.skip(!finite(want)) {
			continue
		}
		closeTo(t, want, out[k], 1e-11, "value at", u, sign)
		for i, g := range grad[k] {
			slope, trust := partial(func(u []float64) float64 { return r.logProb(u, sign) }, u, i)
			if !slopes.skip(!trust || !finite(slope)) {
				closeTo(t, slope, g, 1e-6, "gradient", i, "at", u, sign)
			}
		}
	}
}

// run evaluates points on an executor of n columns, and returns log r and the
// gradients.
func (r random) run(t fataler, d *graph.Density, n int, tape bool, us [][]float64, signs [][]bool) (out []float64, grad [][]float64) {
	t.Helper()
	x, err := d.Executor(n, graph.Compute{Out: true, Grad: true, Tape: tape})
	require.NoError(t, err)
	for from := 0; from < len(us); from += n {
		for c := range n {
			at := min(from+c, len(us)-1)
			for i, u := range us[at] {
				x.Z[i*n+c] = u
			}
			for l, s := range r.forced(signs[at]).Floats(nil) {
				x.Signs[l*n+c] = s
			}
		}
		require.NoError(t, x.Run())
		for c := range min(n, len(us)-from) {
			out = append(out, x.Out[c])
			g := make([]float64, len(us[0]))
			for i := range g {
				g[i] = x.Grad[i*n+c]
			}
			grad = append(grad, g)
		}
	}
	return out, grad
}

// Plan and TapeMachine agree, and so do batches of all widths; each want alone
// gives what both give; and a region's own graph gives the region's value.
func TestRandomModelsOnAllMachines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkMachines(t, drawRandom(t)) })
}

func checkMachines(t *rapid.T, r random) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "points"), 0))
	var us [][]float64
	var signs [][]bool
	for range 9 {
		u, sign := r.point(rng)
		us, signs = append(us, u), append(signs, sign)
	}
	out, grad := r.run(t, r.d, 1, false, us, signs)
	same := func(o []float64, g [][]float64, what ...any) {
		t.Helper()
		for k := range out {
			close12(t, out[k], o[k], what...)
			for i := range g[k] {
				close12(t, grad[k][i], g[k][i], append(what, "gradient", i, "of point", k)...)
			}
		}
	}
	for _, n := range []int{2, 7, 1 + rng.IntN(40)} {
		o, g := r.run(t, r.d, n, false, us, signs)
		same(o, g, "plan of", n)
	}
	n := 1 + rng.IntN(40)
	o, g := r.run(t, r.d, n, true, us, signs)
	same(o, g, "tape of", n)

	value, err := r.d.LogProbAt(us[0], r.forced(signs[0]))
	require.NoError(t, err)
	require.Equal(t, math.Float64bits(out[0]), math.Float64bits(value), "value without gradient")
	alone, err := r.d.GradAt(us[0], r.forced(signs[0]))
	require.NoError(t, err)
	for i := range alone {
		close12(t, grad[0][i], alone[i], "gradient without value", i)
	}
	if natural, clear := r.signs(us[0]); clear {
		own, err := r.d.LogProb(us[0])
		require.NoError(t, err)
		closeTo(t, r.logProb(us[0], natural), own, 1e-11, "value in its own region", us[0])
	}
	region, slope := r.runRegion(t, us[0], r.forced(signs[0]))
	close12(t, out[0], region, "at its region")
	for i := range slope {
		close12(t, grad[0][i], slope[i], "gradient at its region", i)
	}
}

// FuzzRandomModels is both of these tests with programs that Go's fuzzer changes:
// it looks for code that none has come to yet.
func FuzzRandomModels(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		r := drawRandom(t)
		checkValues(t, r, new(tally), new(tally))
		checkMachines(t, r)
	}))
}

// runRegion runs a region's own graph on a TapeMachine.
func (r random) runRegion(t fataler, u []float64, s regions.Signs) (float64, []float64) {
	t.Helper()
	g, err := r.d.AtRegion(s, 1)
	require.NoError(t, err)
	require.Nil(t, g.Signs)
	require.NoError(t, gorgonia.Let(g.Z, tensor.New(tensor.WithShape(len(u), 1), tensor.WithBacking(append([]float64(nil), u...)))))
	if data := r.d.Data(); len(data) > 0 {
		require.NoError(t, gorgonia.Let(g.Data, tensor.New(tensor.WithShape(len(data), 1), tensor.WithBacking(data))))
	}
	var out, grad gorgonia.Value
	gorgonia.Read(g.Out, &out)
	gorgonia.Read(g.Grad, &grad)
	require.NoError(t, gorgonia.NewTapeMachine(g.G).RunAll())
	return firstNumber(out), append([]float64(nil), grad.Data().([]float64)...)
}

func firstNumber(v gorgonia.Value) float64 {
	if d, ok := v.Data().([]float64); ok {
		return d[0]
	}
	return v.Data().(float64)
}

// Jumps of a builder: for each plane log r on both sides, at replaced latents,
// differs as whole densities do.
func TestRandomBuilders(t *testing.T) {
	var jumps tally
	rapid.Check(t, func(t *rapid.T) {
		r := drawProgram(t, false) // of kinks the jump is that on the plane alone
		planes := r.d.Arrangement().Len()
		if planes == 0 {
			return
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "points"), 0))
		replaced := make([]bool, len(r.priors))
		fixed := make(map[int]float64)
		for i := range replaced {
			if replaced[i] = rng.IntN(2) == 0; !replaced[i] && rng.IntN(3) == 0 {
				fixed[i] = rng.NormFloat64()
			}
		}
		const n = 3
		made, err := r.d.Cached("builder", func() (any, error) {
			v := graph.NewBuilder(r.d)
			points := make([]graph.Expr, len(replaced))
			for i := range points {
				if replaced[i] {
					points[i] = v.Point()
				}
			}
			// a point sign for the last plane, the others as they are
			last := v.PointSign()
			outs := make([]graph.Expr, planes)
			for l := range outs {
				outs[l] = v.Jump(l, graph.Substitution{
					Latent: func(i int) (graph.Expr, bool) {
						if x, ok := fixed[i]; ok {
							return v.Number(x), true
						}
						return points[i], replaced[i]
					},
					Sign: func(k int) (graph.Guard, bool) { return last, k == planes-1 },
				})
			}
			return v.Compile(outs)
		})
		require.NoError(t, err)
		prog := made.(*graph.Program)
		for _, tape := range []bool{false, true} {
			x, err := r.d.ExecutorOf(prog, n, graph.Compute{Out: true, Tape: tape})
			require.NoError(t, err)
			us, at, signs := make([][]float64, n), make([][]float64, n), make([][]bool, n)
			for c := range n {
				us[c], signs[c] = r.point(rng)
				at[c] = append([]float64(nil), us[c]...)
				row := 0
				for i := range at[c] {
					x.Z[i*n+c] = us[c][i]
					if replaced[i] {
						at[c][i] = rng.NormFloat64()
						x.Points[row*n+c] = at[c][i]
						row++
					} else if v, ok := fixed[i]; ok {
						at[c][i] = v
					}
				}
				floats := r.forced(signs[c]).Floats(nil)
				for l, s := range floats {
					x.Signs[l*n+c] = s
				}
				x.PointSigns[c] = floats[planes-1]
				if planes > 0 {
					x.Signs[(planes-1)*n+c] = 1 - floats[planes-1] // must not be read but through PointSigns
				}
			}
			require.NoError(t, x.Run())
			for k, l := range r.plane {
				if l < 0 || graph.Kinked(r.d, l) {
					continue
				}
				for c := range n {
					force := func(positive bool) float64 {
						s := append([]bool(nil), signs[c]...)
						s[k] = positive == r.up[k]
						return r.logProb(at[c], s)
					}
					plus, minus := force(true), force(false)
					if !jumps.skip(!finite(plus - minus)) {
						require.InDelta(t, plus-minus, x.Out[l*n+c], 1e-11*(1+math.Abs(plus)+math.Abs(minus)), "plane %d, tape %v", l, tape)
					}
				}
			}
		}
	})
	jumps.check(t, 0.01)
}
