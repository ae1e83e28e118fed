package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// A pathSum is a forward sum of numbers: the first moves are used for all steps if there is one set.
type pathSum struct {
	initial  []float64
	moves    [][][]float64
	emission [][]float64
}

// brute is the sum path by path, and its gradient by each number, in the order of all.
func (p pathSum) brute() (value float64, grad []float64) {
	states, steps := len(p.initial), len(p.emission)
	type path struct {
		score float64
		used  []int
	}
	var paths []path
	square := states * states
	first := states + len(p.moves)*square
	state := make([]int, steps)
	var walk func(t int)
	walk = func(t int) {
		if t == steps {
			x := path{p.initial[state[0]], []int{state[0]}}
			for t, s := range state {
				if t > 0 {
					set := min(t, len(p.moves)) - 1
					x.score += p.moves[set][state[t-1]][s]
					x.used = append(x.used, states+set*square+state[t-1]*states+s)
				}
				x.score += p.emission[t][s]
				x.used = append(x.used, first+t*states+s)
			}
			paths = append(paths, x)
			return
		}
		for state[t] = range states {
			walk(t + 1)
		}
	}
	walk(0)
	most := math.Inf(-1)
	for _, x := range paths {
		most = math.Max(most, x.score)
	}
	total, grad := 0.0, make([]float64, first+steps*states)
	for _, x := range paths {
		w := math.Exp(x.score - most)
		total += w
		for _, i := range x.used {
			grad[i] += w
		}
	}
	for i := range grad {
		grad[i] /= total
	}
	return most + math.Log(total), grad
}

// all lists the numbers: initial, moves, emissions.
func (p pathSum) all() []float64 {
	all := append([]float64(nil), p.initial...)
	for _, m := range p.moves {
		for _, row := range m {
			all = append(all, row...)
		}
	}
	for _, row := range p.emission {
		all = append(all, row...)
	}
	return all
}

// exprs are the numbers as expressions, each made by f from its place in all.
func (p pathSum) sum(f func(i int) graph.Expr) graph.Expr {
	i := 0
	take := func(n int) []graph.Expr {
		row := make([]graph.Expr, n)
		for k := range row {
			row[k] = f(i)
			i++
		}
		return row
	}
	initial := take(len(p.initial))
	var moves [][][]graph.Expr
	for _, m := range p.moves {
		var matrix [][]graph.Expr
		for _, row := range m {
			matrix = append(matrix, take(len(row)))
		}
		moves = append(moves, matrix)
	}
	var emission [][]graph.Expr
	for _, row := range p.emission {
		emission = append(emission, take(len(row)))
	}
	return graph.ForwardSum(initial, emission, moves...)
}

func randomPathSum(states, steps, sets int, size float64, rng *rand.Rand) pathSum {
	row := func() []float64 {
		r := make([]float64, states)
		for i := range r {
			r[i] = size * rng.NormFloat64()
		}
		return r
	}
	p := pathSum{initial: row()}
	for range sets {
		var m [][]float64
		for range states {
			m = append(m, row())
		}
		p.moves = append(p.moves, m)
	}
	for range steps {
		p.emission = append(p.emission, row())
	}
	return p
}

// The forward sum of latents is the sum over all paths, with its gradient, on plan and TapeMachine; the numbers of all sizes.
func TestForwardSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct{ states, steps, sets int }{
		{2, 10, 1}, {2, 10, 9}, {3, 6, 1}, {3, 5, 4}, {2, 1, 1}, {3, 1, 0}, {1, 4, 1}, {1, 1, 0}, {4, 2, 1}, {5, 4, 3},
	} {
		for _, size := range []float64{1, 30, 1000} {
			p := randomPathSum(c.states, c.steps, c.sets, size, rng)
			want, slopes := p.brute()
			all := p.all()

			number, ok := p.sum(func(i int) graph.Expr { return graph.Add(all[i], 0) }).IsConst()
			require.True(t, ok)
			close12(t, want, number, c, size)

			m := graph.NewModel()
			latents := m.Sample("z", graph.Normal(0, 1)) // the first one
			z := []graph.Expr{latents}
			for i := 1; i < len(all); i++ {
				z = append(z, m.Sample(fmt.Sprint("z", i), graph.Normal(0, 1)))
			}
			m.Factor(p.sum(func(i int) graph.Expr { return z[i] }))
			d := mustCompile(t, m)
			prior := 0.0
			for _, x := range all {
				prior += logNormalPDF(x, 0, 1)
			}
			for name, x := range both(t, d, all, d.Arrangement().Signs(all)) {
				close12(t, want+prior, x.Out[0], c, size, name)
				for i := range all {
					close12(t, slopes[i]-all[i], x.Grad[i], c, size, name, i)
				}
			}
		}
	}
}

// Without priors, whose size would hide it, the sum and its gradient by one number are exact to 1e-12 even where all weights underflow.
func TestForwardSumFar(t *testing.T) {
	inf := math.Inf(-1)
	for name, p := range map[string]pathSum{
		"way back": { // what is unlikely by e^−2000 at step 0 is what the next one needs
			initial: []float64{0, -2000}, moves: [][][]float64{{{0, -2500}, {-0.5, -1}}}, emission: [][]float64{{0, 0}, {-4000, 0}, {0.3, 0.1}},
		},
		"impossible": {
			initial: []float64{0, inf}, moves: [][][]float64{{{inf, -1}, {inf, 0}}}, emission: [][]float64{{-3, 0}, {0, -2}, {inf, -800}},
		},
		"never one state":   {initial: []float64{0, -1}, moves: [][][]float64{{{0, -1}, {-1, 0}}}, emission: [][]float64{{-3, inf}, {0, inf}, {-1, inf}}},
		"large":             {initial: []float64{1e5, 1e5 + 1}, moves: [][][]float64{{{0, -1}, {-1, 0}}}, emission: [][]float64{{-3, 0}, {1e4, 1e4}, {0, 0}}},
		"another at a step": {initial: []float64{0, 0}, moves: [][][]float64{{{inf, 0}, {0, inf}}, {{0, inf}, {0, 0}}}, emission: [][]float64{{-3, 0}, {1, 2}, {0, 0}}},
	} {
		want, slopes := p.brute()
		all := p.all()
		for at := range all {
			if math.IsInf(all[at], 0) {
				continue
			}
			m := graph.NewModel()
			x := m.Sample("x", graph.Normal(0, 1))
			m.Factor(p.sum(func(i int) graph.Expr {
				if i == at {
					return graph.Add(x, all[at])
				}
				return graph.Numbers(all[i])[0]
			}))
			d := mustCompile(t, m)
			for how, x := range both(t, d, []float64{0}, d.Arrangement().Signs([]float64{0})) {
				close12(t, want+logNormalPDF(0, 0, 1), x.Out[0], name, how)
				closeTo(t, slopes[at], x.Grad[0], 1e-12, name, how, at)
			}
		}
	}
}

// Nothing is possible: log r is −∞, not NaN.
func TestForwardSumImpossible(t *testing.T) {
	p := pathSum{initial: []float64{0, math.Inf(-1)}, moves: [][][]float64{{{math.Inf(-1), 0}, {0, 0}}}, emission: [][]float64{{0, 0}, {0, math.Inf(-1)}, {0, 0}}}
	all := p.all()
	v, ok := p.sum(func(i int) graph.Expr { return graph.Numbers(all[i])[0] }).IsConst()
	require.True(t, ok)
	require.True(t, math.IsInf(v, -1), v)
}

// Sums of one form are rows of one operation, whatever their number; a sum of numbers alone among them too.
func TestForwardSumsBatch(t *testing.T) {
	nodes := func(chains int) int {
		rng := rand.New(rand.NewPCG(2, 2))
		m := graph.NewModel()
		x, y := m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1))
		want, z := logNormalPDF(0.3, 0, 1)+logNormalPDF(-0.8, 0, 1), []float64{0.3, -0.8}
		for c := range chains {
			p := randomPathSum(2+c/2%2, 4-c%2, 1, 1, rng) // of several shapes
			all := p.all()
			m.Factor(p.sum(func(i int) graph.Expr {
				return graph.Add(all[i], graph.Mul(float64(1+i%3+c), graph.If(graph.Greater(x, float64(i)), graph.Tanh(y), x)))
			}))
			inside := 0
			add := func(row []float64) {
				for k := range row {
					v := z[0]
					if z[0] > float64(inside) {
						v = math.Tanh(z[1])
					}
					row[k] += float64(1+inside%3+c) * v
					inside++
				}
			}
			add(p.initial)
			for _, row := range p.moves[0] {
				add(row)
			}
			for _, row := range p.emission {
				add(row)
			}
			v, _ := p.brute()
			want += v
		}
		d := mustCompile(t, m)
		close12(t, want, logProb(t, d, z...))
		s := d.Arrangement().Signs(z)
		runs := both(t, d, z, s)
		for i := range z {
			close12(t, runs["plan"].Grad[i], runs["tape"].Grad[i])
			slope, _ := partial(func(z []float64) float64 {
				v, err := d.LogProbAt(z, s)
				require.NoError(t, err)
				return v
			}, z, i)
			closeTo(t, slope, runs["plan"].Grad[i], 1e-7)
		}
		return d.Program().Nodes()
	}
	require.Equal(t, nodes(4), nodes(20))
}

// A batch of samples has each sample's own value and gradient.
func TestForwardSumOfSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	p := randomPathSum(3, 7, 1, 1, rng)
	all := p.all()
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Factor(p.sum(func(i int) graph.Expr { return graph.Mul(all[i], x) }))
	d := mustCompile(t, m)
	const n = 37
	e, err := d.Executor(n, graph.Compute{Out: true, Grad: true})
	require.NoError(t, err)
	for i := range e.Z {
		e.Z[i] = rng.NormFloat64()
	}
	require.NoError(t, e.Run())
	for i, z := range e.Z {
		close12(t, logProb(t, d, z), e.Out[i])
		close12(t, gradient(t, d, z)[0], e.Grad[i])
	}
}

func TestForwardSumPanics(t *testing.T) {
	row := graph.Numbers(0.0, 0)
	square := [][]graph.Expr{row, row}
	for want, f := range map[string]func(){
		"graph: a forward sum of 2 states, 0 steps and 1 transitions": func() { graph.ForwardSum(row, nil, square) },
		"graph: a forward sum of 2 states, 3 steps and 0 transitions": func() { graph.ForwardSum(row, [][]graph.Expr{row, row, row}) },
		"graph: a forward sum of 2 states has a transition of 1 rows": func() { graph.ForwardSum(row, square, square[:1]) },
		"graph: a forward sum of 2 states has 1 numbers in a row of its emission": func() {
			graph.ForwardSum(row, [][]graph.Expr{row, row[:1]}, square)
		},
	} {
		require.PanicsWithValue(t, want, f)
	}
}

// Inside a plate a forward sum is one in each row.
func TestForwardSumInPlate(t *testing.T) {
	xs := []float64{0.3, -1, 2}
	build := func(plate bool) *graph.Density {
		m := graph.NewModel()
		z := m.Sample("z", graph.Normal(0, 1))
		sum := func(x graph.Expr) graph.Expr {
			row := []graph.Expr{graph.Mul(z, x), graph.Tanh(z)}
			return graph.ForwardSum(row, [][]graph.Expr{row, {x, z}}, [][]graph.Expr{row, row})
		}
		if plate {
			m.Plate(len(xs), func(p *graph.Plate) { p.Factor(sum(p.Data(xs))) })
		} else {
			for _, x := range xs {
				m.Factor(sum(graph.Add(x, 0)))
			}
		}
		return mustCompile(t, m)
	}
	require.Equal(t, build(false).Fingerprint(), build(true).Fingerprint())
	require.Equal(t, logProb(t, build(false), 0.4), logProb(t, build(true), 0.4))
}

// Sums of different shapes on the same operands, one after another, stay apart.
func TestForwardSumsOfShapes(t *testing.T) {
	m := graph.NewModel()
	x, y := m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1))
	z := []float64{0.3, -0.8}
	want := logNormalPDF(z[0], 0, 1) + logNormalPDF(z[1], 0, 1)
	for c, steps := range []int{2, 2, 2, 3, 3, 2, 1, 1, 3} {
		p := randomPathSum(2, steps, 1, 1, rand.New(rand.NewPCG(uint64(c), 1)))
		if c%3 == 2 {
			p.moves[0][0][1] = math.Inf(-1)
		}
		k := c
		m.Factor(p.sum(func(i int) graph.Expr {
			if v := p.all()[i]; math.IsInf(v, 0) {
				return graph.Numbers(v)[0]
			}
			k++
			return []graph.Expr{x, y}[k%2]
		}))
		k = c
		set := func(row []float64) {
			for i, v := range row {
				if !math.IsInf(v, 0) {
					k++
					row[i] = z[k%2]
				}
			}
		}
		set(p.initial)
		for _, row := range p.moves[0] {
			set(row)
		}
		for _, row := range p.emission {
			set(row)
		}
		v, _ := p.brute()
		want += v
	}
	close12(t, want, logProb(t, mustCompile(t, m), z...))
}

// A forward sum may be a parameter of a prior too: draws and residuals follow it.
func TestForwardSumInPrior(t *testing.T) {
	m := graph.NewModel()
	x := m.SampleN("x", 2, graph.Normal(0, 1))
	y := m.Sample("y", graph.Normal(graph.ForwardSum(x, [][]graph.Expr{x, {x[1], graph.Numbers(0.5)[0]}}, [][]graph.Expr{x, graph.Numbers(math.Inf(-1), 0)}), 0.5))
	m.Sample("z", graph.Normal(graph.Tanh(y), 1))
	d := mustCompile(t, m)
	p := func(z []float64) float64 {
		v, _ := pathSum{z[:2], [][][]float64{{z[:2], {math.Inf(-1), 0}}}, [][]float64{z[:2], {z[1], 0.5}}}.brute()
		return v
	}
	z := []float64{0.3, -1, 0.4, 0.2}
	close12(t, logNormalPDF(z[0], 0, 1)+logNormalPDF(z[1], 0, 1)+logNormalPDF(z[2], p(z), 0.5)+logNormalPDF(z[3], math.Tanh(z[2]), 1), logProb(t, d, z...))
	center, _ := d.PriorStartAt(map[int]float64{0: 0.3, 1: -1})
	close12(t, p(z), center[2])
	sameResiduals(t, d)
	require.Equal(t, [][]int{nil, nil, {0, 1}, {2}}, d.Parents())
}
