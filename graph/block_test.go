package graph_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/graph"
)

// A writer writes the body of a plate: by the plate, or by the loop that it stands for.
type writer interface {
	data(xs []float64) graph.Expr
	index(values []graph.Expr, at []int) graph.Expr
	sample(name string, prior graph.Dist) graph.Expr
	observe(name string, d graph.Dist, xs []float64)
	factor(x graph.Expr)
	collect(dst *[]graph.Expr, x graph.Expr)
	branch(g graph.Guard, then, otherwise func())
	record(name string, x graph.Expr)
	name(name string, g graph.Guard) graph.Guard
	nest(n int, body func())
}

// plated writes plates.
type plated struct {
	m *graph.Model
	p *graph.Plate
}

func (w *plated) data(xs []float64) graph.Expr                    { return w.p.Data(xs) }
func (w *plated) index(values []graph.Expr, at []int) graph.Expr  { return w.p.Index(values, at) }
func (w *plated) sample(name string, prior graph.Dist) graph.Expr { return w.p.Sample(name, prior) }
func (w *plated) observe(name string, d graph.Dist, xs []float64) { w.p.Observe(name, d, xs) }
func (w *plated) factor(x graph.Expr)                             { w.p.Factor(x) }
func (w *plated) collect(dst *[]graph.Expr, x graph.Expr)         { w.p.Collect(dst, x) }
func (w *plated) branch(g graph.Guard, a, b func())               { w.p.If(g, a, b) }
func (w *plated) record(name string, x graph.Expr)                { w.p.Deterministic(name, x) }
func (w *plated) name(name string, g graph.Guard) graph.Guard     { return w.p.Name(name, g) }
func (w *plated) nest(n int, body func()) {
	w.m.Plate(n, func(p *graph.Plate) {
		w.p = p
		body()
	})
}

// looped writes loops.
type looped struct {
	m   *graph.Model
	row int
}

func (w *looped) data(xs []float64) graph.Expr                   { return graph.Add(xs[w.row], 0) }
func (w *looped) index(values []graph.Expr, at []int) graph.Expr { return values[at[w.row]] }
func (w *looped) sample(name string, prior graph.Dist) graph.Expr {
	return w.m.Sample(fmt.Sprintf("%s[%d]", name, w.row), prior)
}
func (w *looped) observe(name string, d graph.Dist, xs []float64) { w.m.Observe(name, d, xs[w.row]) }
func (w *looped) factor(x graph.Expr)                             { w.m.Factor(x) }
func (w *looped) collect(dst *[]graph.Expr, x graph.Expr)         { *dst = append(*dst, x) }
func (w *looped) branch(g graph.Guard, a, b func())               { w.m.If(g, a, b) }
func (w *looped) record(name string, x graph.Expr)                { w.m.Deterministic(name, x) }
func (w *looped) name(name string, g graph.Guard) graph.Guard     { return w.m.Name(name, g) }
func (w *looped) nest(n int, body func()) {
	for w.row = range n {
		body()
	}
}

// A plate whose rows differ in their numbers alone makes them in blocks. It is the loop
// also where numbers are 0, 1, equal, or such that the row's own is another one.
func TestRecordedRowsAreLoops(t *testing.T) {
	blocks, tried := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		const n = 30
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
		odd := pick(4) // how often numbers are special
		column := func(special ...float64) []float64 {
			xs := make([]float64, n)
			for i := range xs {
				if xs[i] = float64(1+pick(1<<20)) / 1000; pick(100) < odd*odd {
					xs[i] = special[pick(len(special))]
				}
			}
			return xs
		}
		var columns [][]float64
		var how, kind []int
		for range 1 + pick(3) + 7*(pick(4)/3) { // or more than are in one affine sum
			columns = append(columns, column(0, 1, -1, 0.5, 2, 3, 1e-320, 1e308))
			how, kind = append(how, pick(6)), append(kind, pick(4))
		}
		law, twice, guards, ys := pick(9), pick(2), pick(12), make([]float64, n)
		counts := law == 2 || law == 5 || law == 6 || law == 8
		for i, y := range column(1, 1, 2) {
			switch {
			case law == 3:
				ys[i] = float64(pick(2))
			case counts:
				ys[i] = float64(pick(300))
			default:
				ys[i] = y
			}
		}
		write := func(m *graph.Model, w writer) {
			level := m.Sample("level", graph.Normal(0, 5))
			noise := m.Sample("noise", graph.HalfNormal(1))
			when := m.Sample("when", graph.Uniform(0, 600))
			var slopes []graph.Expr
			for k := range columns {
				slopes = append(slopes, m.Sample(fmt.Sprint("slope", k), graph.Normal(0, 1)))
			}
			w.nest(n, func() {
				mean := level
				if len(columns)%2 == 0 {
					mean = graph.Expr{}
				}
				for k, xs := range columns {
					x := w.data(xs)
					switch kind[k] {
					case 0:
						x = graph.Square(x)
					case 1:
						x = graph.Sub(graph.Log1p(graph.Mul(x, x)), 0.5)
					}
					switch how[k] {
					case 0:
						mean = graph.Sub(mean, graph.Mul(x, slopes[k]))
					case 1:
						mean = graph.Add(mean, graph.Mul(2, graph.Mul(slopes[k], x)))
					case 2:
						mean = graph.Add(mean, graph.Tanh(graph.Mul(slopes[k], x)))
					case 3:
						mean = graph.Add(mean, graph.Mul(x, graph.Add(slopes[k], x)))
					case 4:
						mean = graph.Add(mean, x)
					default:
						mean = graph.Add(mean, graph.Mul(slopes[k], x))
					}
				}
				x, y := w.data(columns[0]), w.data(columns[len(columns)-1])
				switch on := graph.Greater(slopes[0], x); guards {
				case 0:
					mean = graph.If(on, mean, level)
				case 1:
					mean = graph.If(graph.Less(graph.Mul(graph.Sub(1, x), slopes[0]), graph.Mul(y, level)), mean, graph.Neg(level))
				case 2:
					mean = graph.If(graph.And(on, graph.Not(graph.Greater(level, y))), mean, x)
				case 3:
					mean = graph.If(w.name("past", graph.Greater(x, when)), mean, level)
				case 4: // continuous
					mean = graph.Add(mean, graph.If(graph.Greater(x, when), graph.Mul(-0.3, graph.Sub(x, when)), 0))
				case 5:
					mean = graph.If(graph.Greater(graph.Mul(graph.Sub(2, y), when), graph.Add(x, 0.1)), mean, graph.Neg(level))
				case 6:
					past := graph.Less(when, graph.Mul(2, x))
					mean = graph.If(graph.And(past, graph.Not(graph.Greater(noise, y))), mean, graph.If(past, level, x))
				case 7:
					w.branch(w.name("few", graph.Less(graph.Mul(-3, noise), graph.Neg(x))), func() { w.factor(graph.Tanh(mean)) }, nil)
				case 8:
					mean = graph.If(graph.And(w.name("both", graph.And(graph.Greater(x, when), on)), w.name("same", graph.Greater(level, 0))), mean, level)
				}
				positive, p := graph.Exp(graph.Tanh(mean)), graph.Sigmoid(mean)
				for range 1 + twice {
					w.observe("y", []graph.Dist{
						graph.Normal(mean, noise), graph.StudentsT(mean, noise, 4), graph.Poisson(positive), graph.Bernoulli(p),
						graph.Gamma(2, positive), graph.NegativeBinomial(3, p), graph.Poisson(graph.Exp(mean)), graph.Gamma(positive, noise),
						graph.Binomial(300, p),
					}[law], ys)
				}
				if twice > 0 {
					w.factor(graph.Tanh(mean))
				}
			})
		}
		a, b := graph.NewModel(), graph.NewModel()
		t.Logf("law %d twice %d guards %d how %v kind %v columns %v ys %v", law, twice, guards, how, kind, columns, ys)
		plates := &plated{m: a}
		write(a, plates)
		write(b, &looped{m: b})
		d, err := a.Compile()
		e, wrong := b.Compile()
		require.Equal(t, wrong == nil, err == nil, "%v and %v", err, wrong)
		tried++
		if graph.Blocks(plates.p) > 0 {
			blocks++
		}
		if err == nil {
			requireSameDensity(t, d, e, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "points"), 0)))
		}
	})
	t.Logf("%d of %d programs have blocks of rows", blocks, tried)
	require.Greater(t, 2*blocks, tried)
}

// Parameters stand in plates as in loops, guards included, and may be made after a plate.
func TestParametersInPlates(t *testing.T) {
	xs, ys := []float64{0.3, 1.7, 2.9, 0.1, 4.2, 1.1}, []float64{0.5, 2, 3, -1, 2, 0}
	write := func(m *graph.Model, w writer) {
		cut := m.Param("cut", 1)
		z := m.Sample("z", graph.Normal(0, 1))
		var effects []graph.Expr
		w.nest(len(xs), func() {
			e := w.sample("e", graph.Normal(z, 1))
			w.observe("w", graph.Normal(graph.Mul(e, w.data(xs)), 1), ys)
			w.collect(&effects, e)
		})
		spread := m.Param("spread", 2, graph.Positive())
		w.nest(len(xs), func() {
			x := w.data(xs)
			mean := graph.If(graph.Greater(graph.Add(z, cut), x), graph.Mul(cut, x), w.index(effects, []int{5, 4, 3, 2, 1, 0}))
			w.observe("y", graph.Normal(mean, spread), ys)
		})
		w.nest(len(xs), func() {
			x := w.data(xs)
			w.observe("u", graph.Normal(graph.If(graph.Greater(graph.Add(z, cut), graph.Mul(2, x)), graph.Mul(cut, x), z), spread), ys)
		})
	}
	a, b := graph.NewModel(), graph.NewModel()
	write(a, &plated{m: a})
	write(b, &looped{m: b})
	d, err := a.Compile()
	require.NoError(t, err)
	e, err := b.Compile()
	require.NoError(t, err)
	require.Equal(t, 2, d.Params())
	require.Equal(t, 2*len(xs), d.Arrangement().Len())
	requireSameDensity(t, d, e, rand.New(rand.NewPCG(1, 2)))
}

// A model goes on after Compile: what is added to rows that are columns is not in the
// density that was compiled before.
func TestPlatesAfterCompile(t *testing.T) {
	xs, ys := []float64{0.3, 1.7, 2.9, 0.1, 4.2, 1.1}, []float64{0.5, 2, 3, -1, 2, 0}
	build := func(plate bool) (first, second *graph.Density) {
		m := graph.NewModel()
		var w writer = &looped{m: m}
		if plate {
			w = &plated{m: m}
		}
		z, slope := m.Sample("z", graph.Normal(0, 1)), m.Sample("slope", graph.Normal(0, 1))
		var means []graph.Expr
		rows := func(by float64) {
			w.nest(len(xs), func() {
				mean := graph.Add(z, graph.Mul(by, graph.Mul(slope, w.data(xs))))
				w.observe("y", graph.Normal(mean, 1), ys)
				w.collect(&means, mean)
			})
		}
		rows(1)
		rows(0.1)
		first, err := m.Compile()
		require.NoError(t, err)
		rows(0.1)
		rows(3)
		for _, x := range means {
			m.Observe("again", graph.Normal(graph.Mul(2, x), 1), 0.5)
		}
		second, err = m.Compile()
		require.NoError(t, err)
		return first, second
	}
	first, second := build(true)
	loop, longer := build(false)
	requireSameDensity(t, second, longer, rand.New(rand.NewPCG(1, 2)))
	requireSameDensity(t, first, loop, rand.New(rand.NewPCG(1, 2)))
}

// Numbers that a plate collects are numbers to what comes after it.
func TestCollectedNumbers(t *testing.T) {
	xs := []float64{0.3, 1.7, 2.9, 0.1, 4.2, 1.1}
	build := func(plate bool) *graph.Density {
		m := graph.NewModel()
		var w writer = &looped{m: m}
		if plate {
			w = &plated{m: m}
		}
		z := m.Sample("z", graph.Normal(0, 1))
		var twice []graph.Expr
		w.nest(len(xs), func() { w.collect(&twice, graph.Mul(2, w.data(xs))) })
		for _, x := range twice {
			m.Observe("y", graph.Gamma(1.5, graph.Exp(graph.Mul(x, z))), 0.5)
		}
		w.nest(len(xs), func() { w.observe("y", graph.Normal(graph.Mul(twice[0], graph.Mul(twice[3], z)), 1), xs) })
		return mustCompile(t, m)
	}
	requireSameDensity(t, build(true), build(false), rand.New(rand.NewPCG(1, 2)))
}

// Rows of groups, of which what they use may also be used by itself, by two indices, or in
// a comparison, and rows with covariates of few values, are those of the loop.
func TestGroupedRowsAreLoops(t *testing.T) {
	const rows, groups = 48, 5
	rapid.Check(t, func(t *rapid.T) {
		pick := func(label string, n int) int { return rapid.IntRange(0, n-1).Draw(t, label) }
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "data"), 0))
		at, other := make([]int, rows), make([]int, rows)
		xs, ks, ys, counts := make([]float64, rows), make([]float64, rows), make([]float64, rows), make([]float64, rows)
		for i := range rows {
			at[i], other[i] = rng.IntN(groups), rng.IntN(groups)
			xs[i], ks[i], ys[i], counts[i] = rng.NormFloat64(), float64(rng.IntN(4)-1)/2, rng.NormFloat64(), float64(rng.IntN(30))
			if rng.IntN(8) == 0 {
				xs[i] = ks[i]
			}
		}
		kinds, late := []int{pick("values", 6), pick("values", 6)}, pick("late", 2) == 1
		parts := rapid.SliceOfN(rapid.IntRange(0, 11), 1, 4).Draw(t, "parts")
		local, guard, law := pick("local", 5), pick("guard", 7), pick("law", 7)
		build := func(plate bool) *graph.Model {
			m := graph.NewModel()
			var slope graph.Expr
			var collected []graph.Expr
			if !late {
				slope = m.Sample("slope", graph.Normal(0, 1))
			}
			tau := m.Sample("tau", graph.HalfNormal(1))
			level := m.Sample("level", graph.Normal(0, 1))
			values := make([][]graph.Expr, 2)
			for k, kind := range kinds {
				for g := range groups {
					name := fmt.Sprintf("%c[%d]", 'a'+k, g)
					var x graph.Expr
					switch {
					case kind == 0 || kind == 4 && g%2 == 0:
						x = m.Sample(name, graph.Normal(0, tau))
					case kind == 1 || kind == 4:
						x = graph.Add(level, graph.Mul(tau, m.Sample(name, graph.Normal(0, 1))))
					case kind == 2:
						x = m.Sample(name, graph.Gamma(2, float64(1+g%2)))
					case kind == 3:
						x = graph.Add(level, graph.Mul(1+g%3, m.Sample(name, graph.Normal(0, 1))))
					default:
						x = m.Sample(name, graph.Uniform(0, 1+g%2))
					}
					values[k] = append(values[k], x)
				}
			}
			if late {
				slope = m.Sample("slope", graph.Normal(0, 1))
			}
			var w writer = &looped{m: m}
			if plate {
				w = &plated{m: m}
			}
			w.nest(rows, func() {
				a := w.index(values[0], at)
				x, k := w.data(xs), w.data(ks)
				var mean, own graph.Expr
				switch local {
				case 1:
					own = w.sample("own", graph.Normal(a, tau))
				case 2:
					own = w.sample("own", graph.Exponential(graph.Exp(graph.Mul(0.3, slope))))
				case 3:
					own = graph.Add(w.sample("first", graph.Normal(0, 1)), w.sample("second", graph.Uniform(-1, 1)))
				}
				for _, part := range parts {
					switch part {
					case 10, 11:
						mean = graph.Add(mean, own)
					case 0:
						mean = graph.Add(mean, a)
					case 1:
						mean = graph.Add(mean, w.index(values[1], at))
					case 2:
						mean = graph.Sub(mean, w.index(values[0], other))
					case 3:
						mean = graph.Add(mean, graph.Mul(slope, x))
					case 4:
						mean = graph.Add(mean, graph.Mul(slope, k))
					case 5:
						mean = graph.Add(mean, graph.Mul(a, k))
					case 6:
						mean = graph.Add(mean, graph.Mul(a, w.index(values[1], other)))
					case 7:
						mean = graph.Add(mean, graph.Mul(0.5, values[0][2]))
					case 8:
						mean = graph.Add(mean, graph.Exp(graph.Mul(0.1, a)))
					case 9:
						mean = graph.Add(graph.Mul(k, mean), level)
					}
				}
				switch guard {
				case 1:
					mean = graph.If(graph.Greater(slope, x), mean, level)
				case 2:
					mean = graph.If(graph.Greater(a, x), mean, level)
				case 3:
					mean = graph.If(graph.Greater(slope, k), mean, a)
				case 4:
					mean = graph.If(graph.Greater(a, slope), mean, graph.Add(level, x))
				case 5:
					mean = graph.If(graph.Greater(own, x), mean, level)
				case 6:
					mean = graph.If(graph.And(graph.Greater(own, slope), graph.Less(slope, x)), graph.Add(mean, own), level)
				}
				w.collect(&collected, mean)
				switch law {
				case 0:
					w.observe("y", graph.Normal(mean, 1), ys)
				case 1:
					w.observe("y", graph.Normal(mean, tau), ys)
				case 2:
					w.observe("y", graph.Poisson(graph.Exp(mean)), counts)
				case 3:
					w.observe("y", graph.Normal(a, graph.Exp(mean)), ys)
				case 4:
					w.branch(graph.Greater(slope, x), func() { w.observe("y", graph.Normal(mean, 1), ys) }, func() {
						w.observe("y", graph.Normal(a, tau), ys)
						w.record("inside", graph.Mul(2, mean))
					})
				case 5:
					w.branch(graph.Greater(own, k), func() { w.factor(mean) }, nil)
					w.record("mean", mean)
				default:
					w.observe("y", graph.StudentsT(3, mean, graph.Softplus(a)), ys)
					w.factor(graph.Mul(-0.1, graph.Square(a)))
				}
			})
			m.Factor(graph.Mul(-0.01, graph.Square(graph.Sum(collected[:min(7, len(collected))]...))))
			return m
		}
		d, err := build(true).Compile()
		e, wrong := build(false).Compile()
		require.Equal(t, wrong == nil, err == nil, "%v and %v", err, wrong)
		if err == nil {
			requireSameDensity(t, d, e, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "points"), 0)))
		}
	})
}

// Which bodies are made in blocks is as the doc comment of Plate says.
func TestRecordedBodies(t *testing.T) {
	const n = 20
	xs, ys, counts, at := make([]float64, n), make([]float64, n), make([]float64, n), make([]int, n)
	for i := range n {
		xs[i], ys[i], counts[i], at[i] = 0.37+float64(i)/7, float64(i), float64(i%2), i%2
	}
	type E = graph.Expr
	for _, c := range []struct {
		name     string
		recorded bool
		body     func(p *graph.Plate, x, z, slope, noise E)
	}{
		{"regression", true, func(p *graph.Plate, x, z, slope, noise E) {
			p.Observe("y", graph.Normal(graph.Add(z, graph.Mul(slope, x)), noise), ys)
		}},
		{"polynomial", true, func(p *graph.Plate, x, z, slope, noise E) {
			p.Observe("y", graph.Normal(graph.Add(graph.Add(z, graph.Mul(slope, x)), graph.Mul(noise, graph.Square(x))), 2), ys)
		}},
		{"regression from 0", true, func(p *graph.Plate, x, z, slope, noise E) {
			p.Observe("y", graph.Normal(graph.Sum(graph.Mul(x, z), graph.Mul(slope, x)), noise), ys)
		}},
		{"product of sums", true, func(p *graph.Plate, x, z, slope, noise E) {
			p.Observe("y", graph.Normal(graph.Mul(x, graph.Add(z, x)), noise), ys)
		}},
		{"rates", true, func(p *graph.Plate, x, z, slope, noise E) {
			p.Observe("y", graph.Poisson(graph.Exp(graph.Add(z, graph.Mul(slope, x)))), ys)
		}},
		{"logistic regression", true, func(p *graph.Plate, x, z, slope, noise E) {
			p.Observe("y", graph.Bernoulli(graph.Sigmoid(graph.Add(z, graph.Mul(slope, x)))), counts)
		}},
		{"growth", true, func(p *graph.Plate, x, z, slope, noise E) {
			p.Observe("y", graph.StudentsT(graph.Tanh(graph.Mul(slope, x)), noise, 4), ys)
			p.Factor(graph.Square(graph.Sub(slope, x)))
		}},
		{"change point", true, func(p *graph.Plate, x, z, slope, noise E) {
			p.Observe("y", graph.Normal(graph.If(graph.Greater(z, x), slope, graph.Mul(slope, x)), noise), ys)
		}},
		{"change point of a transformed latent", true, func(p *graph.Plate, x, z, slope, noise E) {
			p.Observe("y", graph.Normal(graph.If(graph.Less(noise, x), slope, graph.Mul(slope, x)), noise), ys)
		}},
		{"change point by a curved guard", false, func(p *graph.Plate, x, z, slope, noise E) {
			p.Observe("y", graph.Normal(graph.If(graph.Greater(graph.Add(z, noise), x), slope, graph.Mul(slope, x)), noise), ys)
		}},
		{"known standard deviation", false, func(p *graph.Plate, x, z, slope, noise E) { p.Observe("y", graph.Normal(z, x), ys) }},
		{"division", false, func(p *graph.Plate, x, z, slope, noise E) { p.Observe("y", graph.Normal(graph.Div(z, x), 1), ys) }},
		{"kink", false, func(p *graph.Plate, x, z, slope, noise E) { p.Observe("y", graph.Normal(graph.Max(z, x), noise), ys) }},
		{"one guard", false, func(p *graph.Plate, x, z, slope, noise E) {
			p.Observe("y", graph.Normal(graph.If(graph.Greater(z, 0), slope, graph.Mul(slope, x)), noise), ys)
		}},
		{"latents", true, func(p *graph.Plate, x, z, slope, noise E) {
			p.Observe("y", graph.Normal(graph.Mul(x, p.Sample("e", graph.Normal(z, 1))), noise), ys)
		}},
		{"groups", true, func(p *graph.Plate, x, z, slope, noise E) {
			p.Observe("y", graph.Normal(graph.Mul(x, p.Index([]E{z, slope}, at)), noise), ys)
		}},
		{"switches", true, func(p *graph.Plate, x, z, slope, noise E) {
			e := p.Sample("e", graph.Normal(0, 1))
			p.If(graph.Greater(e, x), func() { p.Observe("y", graph.Normal(z, noise), ys) }, nil)
			p.Deterministic("e's", graph.Mul(2, e))
		}},
		{"a guard's name", true, func(p *graph.Plate, x, z, slope, noise E) {
			p.Observe("y", graph.Normal(graph.If(p.Name("on", graph.Greater(z, x)), slope, 0), noise), ys)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := graph.NewModel()
			z, slope, noise := m.Sample("z", graph.Normal(0, 1)), m.Sample("slope", graph.Normal(0, 1)), m.Sample("noise", graph.HalfNormal(1))
			var plate *graph.Plate
			m.Plate(n, func(p *graph.Plate) {
				plate = p
				c.body(p, p.Data(xs), z, slope, noise)
			})
			_, err := m.Compile()
			require.NoError(t, err)
			require.Equal(t, c.recorded, graph.Blocks(plate) > 0)
		})
	}
}
