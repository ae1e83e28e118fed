package graph_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/graph"
)

// A writer writes the body of a plate: by the plate, or by the loop that it stands
// for.
type writer interface {
	data(depth int, xs []float64) graph.Expr // of the plate at a depth, 0 for the outer one
	index(depth int, values []graph.Expr, at []int) graph.Expr
	sample(name string, prior graph.Dist) graph.Expr
	observe(name string, d graph.Dist, xs []float64)
	factor(x graph.Expr)
	branch(g graph.Guard, then, otherwise func())
	deterministic(name string, x graph.Expr)
	name(name string, g graph.Guard) graph.Guard
	collect(dst *[]graph.Expr, x graph.Expr)
	nest(n int, body func())
}

// plated writes plates.
type plated struct {
	m    *graph.Model
	open []*graph.Plate
}

func (w *plated) top() *graph.Plate { return w.open[len(w.open)-1] }

func (w *plated) data(depth int, xs []float64) graph.Expr { return w.open[depth].Data(xs) }
func (w *plated) index(depth int, values []graph.Expr, at []int) graph.Expr {
	return w.open[depth].Index(values, at)
}
func (w *plated) sample(name string, prior graph.Dist) graph.Expr { return w.top().Sample(name, prior) }
func (w *plated) observe(name string, d graph.Dist, xs []float64) { w.top().Observe(name, d, xs) }
func (w *plated) factor(x graph.Expr)                             { w.top().Factor(x) }
func (w *plated) branch(g graph.Guard, then, otherwise func())    { w.top().If(g, then, otherwise) }
func (w *plated) deterministic(name string, x graph.Expr)         { w.top().Deterministic(name, x) }
func (w *plated) name(name string, g graph.Guard) graph.Guard     { return w.top().Name(name, g) }
func (w *plated) collect(dst *[]graph.Expr, x graph.Expr)         { w.top().Collect(dst, x) }
func (w *plated) nest(n int, body func()) {
	in := func(p *graph.Plate) {
		w.open = append(w.open, p)
		body()
		w.open = w.open[:len(w.open)-1]
	}
	if len(w.open) == 0 {
		w.m.Plate(n, in)
	} else {
		w.top().Plate(n, in)
	}
}

// looped writes loops.
type looped struct {
	m         *graph.Model
	rows, row []int
}

func (w *looped) at(depth int) (k int) {
	for d := range depth + 1 {
		k = k*w.rows[d] + w.row[d]
	}
	return k
}
func (w *looped) last() int { return w.at(len(w.row) - 1) }

func (w *looped) data(depth int, xs []float64) graph.Expr { return graph.Add(xs[w.at(depth)], 0) }
func (w *looped) index(depth int, values []graph.Expr, at []int) graph.Expr {
	return values[at[w.at(depth)]]
}
func (w *looped) sample(name string, prior graph.Dist) graph.Expr {
	index := fmt.Sprint(w.row[0])
	for _, k := range w.row[1:] {
		index += fmt.Sprintf(",%d", k)
	}
	return w.m.Sample(fmt.Sprintf("%s[%s]", name, index), prior)
}
func (w *looped) observe(name string, d graph.Dist, xs []float64) { w.m.Observe(name, d, xs[w.last()]) }
func (w *looped) factor(x graph.Expr)                             { w.m.Factor(x) }
func (w *looped) branch(g graph.Guard, then, otherwise func())    { w.m.If(g, then, otherwise) }
func (w *looped) deterministic(name string, x graph.Expr)         { w.m.Deterministic(name, x) }
func (w *looped) name(name string, g graph.Guard) graph.Guard     { return w.m.Name(name, g) }
func (w *looped) collect(dst *[]graph.Expr, x graph.Expr)         { *dst = append(*dst, x) }
func (w *looped) nest(n int, body func()) {
	w.rows, w.row = append(w.rows, n), append(w.row, 0)
	for i := range n {
		w.row[len(w.row)-1] = i
		body()
	}
	w.rows, w.row = w.rows[:len(w.rows)-1], w.row[:len(w.row)-1]
}

// plateProgram draws a program with plates, to be written by either.
type plateProgram struct {
	t     *rapid.T
	sizes []int // of the open plates
	names int
}

func (g *plateProgram) pick(n int) int { return rapid.IntRange(0, n-1).Draw(g.t, "n") }

func (g *plateProgram) name(of string) string {
	g.names++
	return fmt.Sprint(of, g.names)
}

func (g *plateProgram) rows(depth int) int {
	n := 1
	for _, k := range g.sizes[:depth+1] {
		n *= k
	}
	return n
}

// numbers is a column, with the numbers that simplify expressions among them.
func (g *plateProgram) numbers(depth int, of ...float64) []float64 {
	xs := make([]float64, g.rows(depth))
	for i := range xs {
		if len(of) > 0 {
			xs[i] = of[g.pick(len(of))]
		} else {
			xs[i] = []float64{0, 1, -1, 2, 0.1, 0.3, float64(g.pick(40)-20) / 8, float64(g.pick(1000)) / 7}[g.pick(8)]
		}
	}
	return xs
}

// scope is what a body may use.
type scope struct {
	w      writer
	values []graph.Expr // outside all plates
	local  []graph.Expr // of the open plates
	affine []graph.Expr // those that guards may compare
}

type making func(s *scope) graph.Expr

// plateStmt is a statement in both readings.
type plateStmt func(s *scope)

func (g *plateProgram) expr(depth int) making {
	d := g.pick(len(g.sizes))
	switch k := g.pick(12); {
	case depth == 0 && k < 3:
		xs := g.numbers(d)
		return func(s *scope) graph.Expr { return s.w.data(d, xs) }
	case depth == 0 && k < 5:
		at := make([]int, g.rows(d))
		for i := range at {
			at[i] = g.pick(3)
		}
		return func(s *scope) graph.Expr { return s.w.index(d, s.values, at) }
	case depth == 0:
		which := g.pick(100)
		return func(s *scope) graph.Expr {
			all := slices.Concat(s.values[:3], s.local)
			return all[which%len(all)]
		}
	case k < 2:
		guard, a, b := g.guard(1), g.expr(depth-1), g.expr(depth-1)
		return func(s *scope) graph.Expr {
			g := guard(s)
			x := a(s)
			return graph.If(g, x, b(s))
		}
	case k < 5:
		x, xs, c := g.expr(depth-1), g.numbers(d), g.pick(3)
		return func(s *scope) graph.Expr {
			col := s.w.data(d, xs)
			switch c {
			case 0:
				return graph.Mul(col, x(s))
			case 1:
				return graph.Sub(x(s), col)
			}
			return graph.Add(graph.Mul(2, col), graph.Div(x(s), -4))
		}
	case k < 6:
		xs, which, c := g.numbers(d), g.pick(100), g.pick(4)
		return func(s *scope) graph.Expr {
			x, y := s.affine[which%len(s.affine)], s.w.data(d, xs)
			switch c {
			case 0:
				return graph.Max(x, y)
			case 1:
				return graph.Min(graph.Mul(2, x), graph.Add(y, 1))
			case 2:
				return graph.Abs(graph.Sub(x, y))
			}
			return graph.Clip(x, y, graph.Add(y, 2))
		}
	}
	op := operations[operationNames[g.pick(len(operationNames))]]
	kids := make([]making, op.arity)
	for i := range kids {
		kids[i] = g.expr(depth - 1)
	}
	return func(s *scope) graph.Expr {
		var args []graph.Expr
		for _, k := range kids {
			args = append(args, k(s))
		}
		return op.build(args...)
	}
}

func (g *plateProgram) guard(depth int) func(s *scope) graph.Guard {
	if depth > 0 && g.pick(3) == 0 {
		a, b, k := g.guard(depth-1), g.guard(depth-1), g.pick(3)
		return func(s *scope) graph.Guard {
			x := a(s)
			switch k {
			case 0:
				return graph.Not(x)
			case 1:
				return graph.And(x, b(s))
			}
			return graph.Or(x, graph.Not(b(s)))
		}
	}
	d := g.pick(len(g.sizes))
	c, a, which, fixed := g.numbers(d), g.numbers(d, 0, 1, -1, 2, 0.1, -0.3), g.pick(100), g.pick(5) == 0
	return func(s *scope) graph.Guard {
		x, y := s.affine[which%len(s.affine)], s.affine[which/2%len(s.affine)]
		if fixed {
			return graph.Less(x, graph.Mul(2, y))
		}
		return graph.Greater(graph.Add(graph.Mul(s.w.data(d, a), x), graph.Mul(0.5, y)), s.w.data(d, c))
	}
}

func (g *plateProgram) body(depth int, inIf bool) plateStmt {
	var list []plateStmt
	for range 1 + g.pick(3) {
		list = append(list, g.stmt(depth, inIf))
	}
	return func(s *scope) {
		for _, f := range list {
			f(s)
		}
	}
}

func (g *plateProgram) stmt(depth int, inIf bool) plateStmt {
	last := len(g.sizes) - 1
	switch k := g.pick(12); {
	case k < 4:
		name, all := g.name("y"), laws()
		law := all[g.pick(len(all))]
		xs, ps := g.numbers(last, law.xs...), make([]making, len(law.kinds))
		for i, kind := range []byte(law.kinds) {
			e := g.expr(2)
			if kind == 'c' {
				c := g.numbers(last, law.params[0][i])
				e = func(s *scope) graph.Expr { return s.w.data(last, c) }
			}
			ps[i] = e
		}
		return func(s *scope) {
			var params []graph.Expr
			for i, kind := range []byte(law.kinds) {
				p := ps[i](s)
				switch kind {
				case 'r':
					p = graph.Mul(2, graph.Tanh(p))
				case 'p':
					p = graph.Exp(graph.Tanh(p))
				case 'u':
					p = graph.Sigmoid(graph.Tanh(p))
				}
				params = append(params, p)
			}
			s.w.observe(name, law.make(params), xs)
		}
	case k < 6:
		name, loc := g.name("local"), g.expr(1)
		kind, other := g.pick(6), g.expr(1)
		return func(s *scope) {
			switch kind {
			case 0:
				k := s.w.sample(name, graph.Binomial(2, graph.Sigmoid(graph.Tanh(loc(s)))))
				s.local = append(s.local, k, graph.Switch(k, other(s), graph.Expr{}, loc(s)), graph.If(graph.Equal(k, 1), other(s), 2))
				return
			case 1, 2:
				s.local = append(s.local, s.w.sample(name, graph.LogNormal(graph.Tanh(loc(s)), 1)))
				return
			}
			x := s.w.sample(name, graph.Normal(graph.Tanh(loc(s)), 1.5))
			s.local, s.affine = append(s.local, x), append(s.affine, x)
		}
	case k < 7:
		x := g.expr(2)
		return func(s *scope) { s.w.factor(graph.Tanh(x(s))) }
	case k < 8:
		name, x := g.name("det"), g.expr(2)
		return func(s *scope) { s.w.deterministic(name, x(s)) }
	case k < 9:
		name, on := g.name("on"), g.guard(1)
		return func(s *scope) { s.w.name(name, on(s)) }
	case depth == 0:
		x := g.expr(1)
		return func(s *scope) { s.local = append(s.local, x(s)) }
	case k < 11:
		on, then, otherwise := g.guard(1), g.body(depth-1, true), g.body(depth-1, true)
		return func(s *scope) {
			g := on(s)
			s.w.branch(g, func() { then(s) }, func() { otherwise(s) })
		}
	}
	n := 1 + g.pick(3)
	g.sizes = append(g.sizes, n)
	inner := g.body(depth-1, inIf)
	g.sizes = g.sizes[:len(g.sizes)-1]
	return func(s *scope) {
		local, affine := s.local, s.affine
		s.w.nest(n, func() {
			s.local, s.affine = slices.Clip(local), slices.Clip(affine)
			inner(s)
		})
		s.local, s.affine = local, affine
	}
}

// program is a few latents, and two plates, of which the second can use what the
// first has collected.
func (g *plateProgram) program() func(m *graph.Model, w writer) {
	var bodies []plateStmt
	var sizes []int
	for range 2 {
		g.sizes = []int{3 + g.pick(4)}
		sizes = append(sizes, g.sizes[0])
		bodies = append(bodies, g.body(2, false))
	}
	g.sizes = sizes[:1]
	collected, branched := g.expr(1), g.pick(2) == 0
	return func(m *graph.Model, w writer) {
		s := &scope{w: w}
		for i := range 3 {
			s.values = append(s.values, m.Sample(fmt.Sprint("z", i), graph.Normal(float64(i), 2)))
		}
		outside := slices.Clone(s.values)
		for k, body := range bodies {
			var effects []graph.Expr
			s.w.nest(sizes[k], func() {
				s.local, s.affine = nil, slices.Clone(outside)
				body(s)
				if k == 0 {
					w.collect(&effects, collected(s))
				}
			})
			s.values = append(effects, outside...)
			if branched {
				m.If(graph.Less(outside[1], 0.5), func() {
					s.w.nest(2, func() {
						s.w.observe("branched", graph.Normal(graph.Mul(outside[2], s.w.data(0, []float64{1, 2})), 1), []float64{3, 4})
					})
				}, nil)
			}
			m.Observe("between", graph.Normal(outside[0], 1), 0.3)
		}
	}
}

// A plate has the density of the written loop: the same bits of values, gradients,
// jumps, and draws, and the same program in all else that can be asked.
func TestPlatesAreLoops(t *testing.T) {
	tried, compiled, planes := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		tried++
		g := &plateProgram{t: t}
		write := g.program()
		a, b := graph.NewModel(), graph.NewModel()
		write(a, &plated{m: a})
		write(b, &looped{m: b})
		d, err := a.Compile()
		e, wrong := b.Compile()
		require.Equal(t, wrong == nil, err == nil, "%v and %v", err, wrong)
		if err != nil {
			return
		}
		compiled++
		planes += d.Arrangement().Len()
		requireSameDensity(t, d, e, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "points"), 0)))
	})
	t.Logf("%d programs, %d planes", compiled, planes)
	require.Greater(t, 2*compiled, tried)
	require.Greater(t, planes, tried)
}

// requireSameDensity compares two densities, bit for bit.
func requireSameDensity(t fataler, d, e *graph.Density, rng *rand.Rand) {
	t.Helper()
	require.Equal(t, e.Latents(), d.Latents())
	require.Equal(t, e.Fingerprint(), d.Fingerprint())
	require.Equal(t, e.Data(), d.Data())
	require.Equal(t, e.Observations(), d.Observations())
	require.Equal(t, e.Deterministics(), d.Deterministics())
	require.Equal(t, e.GuardNames(), d.GuardNames())
	require.Equal(t, e.Parents(), d.Parents())
	require.Equal(t, e.Switches(), d.Switches())
	require.Equal(t, fmt.Sprint(e.Guards()), fmt.Sprint(d.Guards()))
	require.Equal(t, slices.Collect(planesOf(e)), slices.Collect(planesOf(d)))
	drawn, err := d.DOT()
	require.NoError(t, err)
	want, err := e.DOT()
	require.NoError(t, err)
	if string(want) != string(drawn) {
		t.Fatalf("DOT differs")
	}
	seed := rng.Uint64()
	z := d.PriorDraw(nil, rand.New(rand.NewPCG(seed, 1)))
	same(t, e.PriorDraw(nil, rand.New(rand.NewPCG(seed, 1))), z)
	same(t, e.Replicate(nil, z, rand.New(rand.NewPCG(seed, 2))), d.Replicate(nil, z, rand.New(rand.NewPCG(seed, 2))))
	same(t, e.DeterministicAt(nil, z), d.DeterministicAt(nil, z))
	for _, n := range []int{1, 3} {
		x, y := executorOf(t, d, n), executorOf(t, e, n)
		for i := range x.Z {
			x.Z[i] = 2 * rng.NormFloat64()
		}
		for i := range x.Signs {
			x.Signs[i] = float64(rng.IntN(2))
		}
		copy(y.Z, x.Z)
		copy(y.Signs, x.Signs)
		require.NoError(t, x.Run())
		require.NoError(t, y.Run())
		same(t, y.Out, x.Out)
		same(t, y.Grad, x.Grad)
	}
	same(t, jumpsAt(t, e, seed), jumpsAt(t, d, seed))
}

func planesOf(d *graph.Density) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, h := range d.Arrangement().Planes() {
			if !yield(h.String()) {
				return
			}
		}
	}
}

// same compares numbers by their bits.
func same(t fataler, want, got []float64) {
	t.Helper()
	require.Equal(t, len(want), len(got))
	for i := range want {
		if math.IsNaN(want[i]) && math.IsNaN(got[i]) {
			continue
		}
		require.Equal(t, math.Float64bits(want[i]), math.Float64bits(got[i]), "%d: %v, want %v", i, got[i], want[i])
	}
}

func executorOf(t fataler, d *graph.Density, n int) *graph.Executor {
	t.Helper()
	x, err := d.Executor(n, graph.Compute{Out: true, Grad: true})
	require.NoError(t, err)
	return x
}

// jumpsAt are the jumps of d on all planes, at points and signs from a seed.
func jumpsAt(t fataler, d *graph.Density, seed uint64) []float64 {
	t.Helper()
	made, err := d.Cached("all jumps", func() (any, error) {
		b := graph.NewBuilder(d)
		outs := make([]graph.Expr, d.Arrangement().Len())
		for l, h := range d.Arrangement().Planes() {
			points := map[int]graph.Expr{}
			outs[l] = b.Jump(l, graph.Substitution{Latent: func(i int) (graph.Expr, bool) {
				if _, known := points[i]; !known && slices.Contains(h.Index, i) {
					points[i] = b.Point()
				}
				x, ok := points[i]
				return x, ok
			}})
		}
		return b.Compile(outs)
	})
	require.NoError(t, err)
	const n = 2
	x, err := d.ExecutorOf(made.(*graph.Program), n, graph.Compute{Out: true, Grad: true})
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(seed, 3))
	for _, in := range [][]float64{x.Z, x.Points} {
		for i := range in {
			in[i] = rng.NormFloat64()
		}
	}
	for i := range x.Signs {
		x.Signs[i] = float64(rng.IntN(2))
	}
	require.NoError(t, x.Run())
	return append(x.Out, x.Grad...)
}

// Mistakes in plates are errors of Compile that name the line in the body, what is
// wrong there, and in which row, if it is wrong in one. Each case's mistake stands on
// the line above its return.
func TestPlateErrors(t *testing.T) {
	two, three := []float64{1, 2}, []float64{1, 2, 3}
	other := graph.NewModel().Sample("x", graph.Normal(0, 1))
	type P = graph.Plate
	in := func(body func(m *graph.Model, z graph.Expr, p *P) string) func(m *graph.Model, z graph.Expr) string {
		return func(m *graph.Model, z graph.Expr) (line string) {
			m.Plate(3, func(p *P) { line = body(m, z, p) })
			return line
		}
	}
	for _, c := range []struct {
		name  string
		says  []string
		build func(m *graph.Model, z graph.Expr) string
	}{
		{"negative size", []string{"plate of -1 rows"}, func(m *graph.Model, _ graph.Expr) string {
			m.Plate(-1, func(*P) {})
			return lineAbove()
		}},
		{"no body", []string{"without a body"}, func(m *graph.Model, _ graph.Expr) string {
			m.Plate(3, nil)
			return lineAbove()
		}},
		{"short column", []string{"Data: 2 values for 3 rows"}, in(func(_ *graph.Model, _ graph.Expr, p *P) string {
			p.Data(two)
			return lineAbove()
		})},
		{"short observations", []string{`"y": 2 values for 3 rows`}, in(func(_ *graph.Model, z graph.Expr, p *P) string {
			p.Observe("y", graph.Normal(z, 1), two)
			return lineAbove()
		})},
		{"column of the rows of the outer plate", []string{"3 values for 6 rows"}, in(func(_ *graph.Model, _ graph.Expr, p *P) (line string) {
			p.Plate(2, func(q *P) {
				q.Data(three)
				line = lineAbove()
			})
			return line
		})},
		{"index outside", []string{"row 1 has the index 2 into 1 values"}, in(func(_ *graph.Model, z graph.Expr, p *P) string {
			p.Index([]graph.Expr{z}, []int{0, 2, 0})
			return lineAbove()
		})},
		{"impossible observation", []string{`"y"`, "2.5", "whole number", "in row 1 of the plate"}, in(func(_ *graph.Model, z graph.Expr, p *P) string {
			p.Observe("y", graph.Poisson(graph.Exp(z)), []float64{1, 2.5, 3})
			return lineAbove()
		})},
		{"scale of one row", []string{"sigma = 0", "positive", "in row 2 of the plate"}, in(func(_ *graph.Model, z graph.Expr, p *P) string {
			p.Observe("y", graph.Normal(z, p.Data([]float64{1, 1, 0})), three)
			return lineAbove()
		})},
		{"infinite datum", []string{"+Inf is not finite", "row 0"}, in(func(_ *graph.Model, z graph.Expr, p *P) string {
			p.Factor(graph.Add(z, p.Data([]float64{math.Inf(1), 1, 1})))
			return lineAbove()
		})},
		{"prior of a nested row", []string{"latent a[0,1]", "sigma = -1", "row 0,1"}, in(func(_ *graph.Model, z graph.Expr, p *P) (line string) {
			p.Plate(2, func(q *P) {
				s := q.Data([]float64{1, -1, 1, 1, 1, 1})
				q.Sample("a", graph.Normal(z, s))
				line = lineAbove()
			})
			return line
		})},
		{"name of a latent taken", []string{`"a[1]" is already taken`}, func(m *graph.Model, _ graph.Expr) (line string) {
			m.Sample("a[1]", graph.Normal(0, 1))
			m.Plate(3, func(p *P) {
				p.Sample("a", graph.Normal(0, 1))
				line = lineAbove()
			})
			return line
		}},
		{"name twice", []string{`"a[0]" is already taken`}, in(func(_ *graph.Model, _ graph.Expr, p *P) string {
			p.Sample("a", graph.Normal(0, 1))
			p.Sample("a", graph.Normal(0, 1))
			return lineAbove()
		})},
		{"no name", []string{"latent needs a name"}, in(func(_ *graph.Model, _ graph.Expr, p *P) string {
			p.Sample("", graph.Normal(0, 1))
			return lineAbove()
		})},
		{"discrete latent", []string{"Poisson has more than 4096 values", "a[0]"}, in(func(_ *graph.Model, _ graph.Expr, p *P) string {
			p.Sample("a", graph.Poisson(1e8))
			return lineAbove()
		})},
		{"value of another model", []string{"another model"}, in(func(_ *graph.Model, _ graph.Expr, p *P) string {
			p.Factor(other)
			return lineAbove()
		})},
		{"not a value", []string{"Factor takes an expression or a number, not a string"}, in(func(_ *graph.Model, _ graph.Expr, p *P) string {
			p.Factor("z")
			return lineAbove()
		})},
		{"value outside the body", []string{"value of a plate", "Collect"}, func(m *graph.Model, z graph.Expr) string {
			var x graph.Expr
			m.Plate(3, func(p *P) { x = p.Data(three) })
			m.Factor(graph.Add(x, z))
			return lineAbove()
		}},
		{"value in a distribution outside the body", []string{"value of a plate", "Collect"}, func(m *graph.Model, z graph.Expr) string {
			var x graph.Expr
			m.Plate(3, func(p *P) { x = p.Data(three) })
			m.Observe("y", graph.Normal(x, 1), 0)
			return lineAbove()
		}},
		{"value in another plate", []string{"value of a plate", "Collect"}, func(m *graph.Model, z graph.Expr) (line string) {
			var x graph.Expr
			m.Plate(3, func(p *P) { x = p.Data(three) })
			m.Plate(3, func(p *P) {
				p.Factor(x)
				line = lineAbove()
			})
			return line
		}},
		{"value of an inner plate", []string{"plate inside this one", "Collect"}, in(func(_ *graph.Model, _ graph.Expr, p *P) string {
			var x graph.Expr
			p.Plate(2, func(q *P) { x = q.Sample("a", graph.Normal(0, 1)) })
			p.Factor(x)
			return lineAbove()
		})},
		{"guard outside the body", []string{"guard of a plate", "Named"}, func(m *graph.Model, z graph.Expr) string {
			var g graph.Guard
			m.Plate(3, func(p *P) { g = graph.Greater(z, p.Data(three)) })
			m.If(g, func() {}, nil)
			return lineAbove()
		}},
		{"method of the model", []string{"Sample of the model", "that of the plate"}, in(func(m *graph.Model, _ graph.Expr, _ *P) string {
			m.Sample("a", graph.Normal(0, 1))
			return lineAbove()
		})},
		{"plate of the model in a plate", []string{"Plate of the model"}, in(func(m *graph.Model, _ graph.Expr, _ *P) string {
			m.Plate(2, func(*P) {})
			return lineAbove()
		})},
		{"compiled in a plate", []string{"Compile of the model"}, in(func(m *graph.Model, _ graph.Expr, _ *P) string {
			_, _ = m.Compile()
			return lineAbove()
		})},
		{"method after the body", []string{"Sample of a plate is called outside its body"}, func(m *graph.Model, _ graph.Expr) string {
			var q *P
			m.Plate(3, func(p *P) { q = p })
			q.Sample("a", graph.Normal(0, 1))
			return lineAbove()
		}},
		{"column after the body", []string{"Data of a plate is called outside its body"}, func(m *graph.Model, _ graph.Expr) string {
			var q *P
			m.Plate(3, func(p *P) { q = p })
			q.Data(three)
			return lineAbove()
		}},
		{"outer method in an inner body", []string{"Factor of a plate", "inside it"}, in(func(_ *graph.Model, z graph.Expr, p *P) (line string) {
			p.Plate(2, func(*P) {
				p.Factor(z)
				line = lineAbove()
			})
			return line
		})},
		{"guard that cannot be solved", []string{"z - exp(z) = 0 cannot be solved", "row 0"}, in(func(_ *graph.Model, z graph.Expr, p *P) string {
			g := graph.Greater(graph.Exp(z), graph.Mul(p.Data(three), z))
			line := lineAbove()
			p.If(g, func() { p.Factor(z) }, nil)
			return line
		})},
		{"guard on NaN", []string{"NaN"}, in(func(_ *graph.Model, z graph.Expr, p *P) string {
			p.If(graph.Greater(p.Data([]float64{1, math.NaN(), 1}), 0), func() { p.Factor(z) }, nil)
			return lineAbove()
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := graph.NewModel()
			z := m.Sample("z", graph.Normal(0, 1))
			line := c.build(m, z)
			_, err := m.Compile()
			require.Error(t, err)
			t.Log(err)
			for _, s := range append(c.says, line) {
				require.ErrorContains(t, err, s)
			}
		})
	}
}

// The guard of a plate is no guard of a density.
func TestGuardOfAPlate(t *testing.T) {
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	var g graph.Guard
	m.Plate(2, func(p *graph.Plate) {
		g = p.Name("on", graph.Greater(z, p.Data([]float64{1, 2})))
		p.If(g, func() { p.Factor(z) }, nil)
	})
	d, err := m.Compile()
	require.NoError(t, err)
	require.Len(t, d.Named("on"), 2)
	require.False(t, g.Of(d))
	_, err = d.ArrangementWith(g)
	require.ErrorContains(t, err, "each row")
	_, ok := g.Side()
	require.False(t, ok)
	require.PanicsWithValue(t, "graph: a guard of a plate is another one in each row: give it a name, and ask Density.Named",
		func() { g.Holds(d.Arrangement().Signs([]float64{0})) })
}

// Every function that makes a value, a guard or a distribution is one that
// TestPlatesAreLoops draws: a new one is not forgotten there.
func TestPlatesKnowTheLanguage(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var drawn strings.Builder // where its generator takes functions from
	for _, name := range []string{"plate_test.go", "random_test.go", "dist_test.go", "combined_test.go"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		drawn.Write(text)
	}
	found := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() || f.Type.Results == nil || len(f.Type.Results.List) != 1 {
				continue
			}
			made, ok := f.Type.Results.List[0].Type.(*ast.Ident)
			if ok && slices.Contains([]string{"Expr", "Guard", "Dist"}, made.Name) {
				found++
				require.True(t, strings.Contains(drawn.String(), "graph."+f.Name.Name+"("), "%s: draw it in TestPlatesAreLoops", f.Name.Name)
			}
		}
	}
	require.Greater(t, found, 30)
}
