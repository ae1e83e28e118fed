package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
)

// sameDensity requires equal node counts and bit-equal values and gradients in
// every region.
func sameDensity(t *testing.T, a, b *graph.Density, what ...any) {
	t.Helper()
	require.Equal(t, a.Program().Nodes(), b.Program().Nodes(), what...)
	require.Equal(t, a.Arrangement().Len(), b.Arrangement().Len(), what...)
	rng := rand.New(rand.NewPCG(5, 6))
	signVectors(a, func(s regions.Signs) {
		z := make([]float64, a.Dim())
		for i := range z {
			z[i] = rng.NormFloat64()
		}
		va, err := a.LogProbAt(z, s)
		require.NoError(t, err)
		vb, err := b.LogProbAt(z, s)
		require.NoError(t, err)
		require.Equal(t, math.Float64bits(va), math.Float64bits(vb), what...)
		ga, err := a.GradAt(z, s)
		require.NoError(t, err)
		gb, err := b.GradAt(z, s)
		require.NoError(t, err)
		require.Equal(t, ga, gb, what...)
	})
}

// abc is a model with three latents, written by build.
func abc(t *testing.T, build func(m *graph.Model, a, b, c graph.Expr)) *graph.Density {
	t.Helper()
	m := graph.NewModel()
	a, b, c := m.Sample("a", graph.Normal(0, 1)), m.Sample("b", graph.Normal(0, 2)), m.Sample("c", graph.Logistic(0, 1))
	build(m, a, b, c)
	return mustCompile(t, m)
}

func TestNegatedGuardWithSwappedBranches(t *testing.T) {
	for name, negate := range map[string]func(a, b graph.Expr) graph.Guard{
		"not":     func(a, b graph.Expr) graph.Guard { return graph.Not(graph.Greater(a, b)) },
		"less":    func(a, b graph.Expr) graph.Guard { return graph.Less(a, b) },
		"swapped": func(a, b graph.Expr) graph.Guard { return graph.Greater(b, a) },
		"scaled":  func(a, b graph.Expr) graph.Guard { return graph.Greater(graph.Mul(-4, a), graph.Mul(-4, b)) },
		"not not not": func(a, b graph.Expr) graph.Guard {
			return graph.Not(graph.Not(graph.Not(graph.Greater(a, b))))
		},
	} {
		want := abc(t, func(m *graph.Model, a, b, c graph.Expr) {
			g := graph.Greater(a, b)
			m.Observe("y", graph.Normal(graph.If(g, graph.Sin(c), graph.Mul(a, c)), graph.If(g, 1, graph.Exp(b))), 0.5)
			m.If(g, func() { m.Observe("w", graph.Poisson(graph.Exp(a)), 2) }, func() { m.Factor(graph.Tanh(b)) })
		})
		got := abc(t, func(m *graph.Model, a, b, c graph.Expr) {
			n := negate(a, b)
			m.Observe("y", graph.Normal(graph.If(n, graph.Mul(a, c), graph.Sin(c)), graph.If(n, graph.Exp(b), 1)), 0.5)
			m.If(n, func() { m.Factor(graph.Tanh(b)) }, func() { m.Observe("w", graph.Poisson(graph.Exp(a)), 2) })
		})
		require.Equal(t, want.Program().Nodes(), got.Program().Nodes(), name)
		require.Equal(t, 1, got.Arrangement().Len(), name)
		for _, z := range [][]float64{{1, 2, 3}, {2, 1, -0.5}, {0.3, -4, 1}} {
			require.Equal(t, logProb(t, want, z...), logProb(t, got, z...), name)
			// the order of sums may differ where statements have swapped places
			require.InDeltaSlice(t, gradient(t, want, z...), gradient(t, got, z...), 1e-13, name)
		}
	}
}

// One statement each: nothing may differ, not even rounding.
func TestNegatedGuardIsBitEqual(t *testing.T) {
	want := abc(t, func(m *graph.Model, a, b, c graph.Expr) {
		m.Observe("y", graph.Normal(graph.If(graph.Greater(a, b), graph.Sin(c), graph.Cos(c)), 1), 0.5)
	})
	got := abc(t, func(m *graph.Model, a, b, c graph.Expr) {
		m.Observe("y", graph.Normal(graph.If(graph.Not(graph.Greater(a, b)), graph.Cos(c), graph.Sin(c)), 1), 0.5)
	})
	sameDensity(t, want, got)
	block := abc(t, func(m *graph.Model, a, b, c graph.Expr) {
		m.If(graph.Greater(a, b), func() { m.Factor(graph.Sin(c)) }, nil)
	})
	swapped := abc(t, func(m *graph.Model, a, b, c graph.Expr) {
		m.If(graph.Not(graph.Greater(a, b)), nil, func() { m.Factor(graph.Sin(c)) })
	})
	sameDensity(t, block, swapped)
}

// Guards that do not depend on a latent are none.
func TestConstantGuards(t *testing.T) {
	want := abc(t, func(m *graph.Model, a, b, _ graph.Expr) { m.Factor(graph.Mul(a, b)) })
	for name, g := range map[string]func(a, b graph.Expr) graph.Guard{
		"numbers":   func(_, _ graph.Expr) graph.Guard { return graph.Greater(2, 1) },
		"a > a − 1": func(a, _ graph.Expr) graph.Guard { return graph.Greater(a, graph.Sub(a, 1)) },
		"a+b−b > a−1": func(a, b graph.Expr) graph.Guard {
			return graph.Greater(graph.Sub(graph.Add(a, b), b), graph.Sub(a, 1))
		},
		"0·a < 1":      func(a, _ graph.Expr) graph.Guard { return graph.Less(graph.Mul(0, a), 1) },
		"not a > a":    func(a, _ graph.Expr) graph.Guard { return graph.Not(graph.Greater(a, a)) },
		"empty and":    func(_, _ graph.Expr) graph.Guard { return graph.And() },
		"not empty or": func(_, _ graph.Expr) graph.Guard { return graph.Not(graph.Or()) },
		"not zero":     func(_, _ graph.Expr) graph.Guard { return graph.Not(graph.Guard{}) },
		"or true": func(a, _ graph.Expr) graph.Guard {
			return graph.Or(graph.Greater(a, graph.Sub(a, 1)), graph.Less(1, 2))
		},
		"1/3 sums": func(a, _ graph.Expr) graph.Guard { // 0.1·3 − 0.3 leaves rounding, which is no coefficient
			third := graph.Mul(0.1, a)
			return graph.Greater(graph.Sub(graph.Add(graph.Add(third, third), third), graph.Mul(0.3, a)), -1)
		},
	} {
		got := abc(t, func(m *graph.Model, a, b, c graph.Expr) {
			m.Factor(graph.If(g(a, b), graph.Mul(a, b), graph.Exp(c)))
			m.If(g(a, b), nil, func() { m.Observe("y", graph.Normal(c, 1), 0) })
		})
		require.Zero(t, got.Arrangement().Len(), name)
		for _, z := range [][]float64{{1, 2, 3}, {-2, 0.1, 0}} {
			require.Equal(t, logProb(t, want, z...), logProb(t, got, z...), name)
		}
	}
}

// Formulas of guards against truth tables, in every region, feasible or not.
func TestTruthTables(t *testing.T) {
	for name, c := range map[string]struct {
		guard func(a, b, c graph.Guard) graph.Guard
		plain func(a, b, c bool) bool
	}{
		"and": {func(a, b, c graph.Guard) graph.Guard { return graph.And(a, b, c) },
			func(a, b, c bool) bool { return a && b && c }},
		"or": {func(a, b, c graph.Guard) graph.Guard { return graph.Or(a, b, c) },
			func(a, b, c bool) bool { return a || b || c }},
		"nand": {func(a, b, c graph.Guard) graph.Guard { return graph.Not(graph.And(a, b, c)) },
			func(a, b, c bool) bool { return !(a && b && c) }},
		"nested": {func(a, b, c graph.Guard) graph.Guard {
			return graph.Or(graph.And(a, graph.Not(b)), graph.And(graph.Not(a), c))
		},
			func(a, b, c bool) bool { return a && !b || !a && c }},
		"xor": {func(a, b, _ graph.Guard) graph.Guard {
			return graph.And(graph.Or(a, b), graph.Not(graph.And(a, b)))
		}, func(a, b, _ bool) bool { return a != b }},
		"parity": {func(a, b, c graph.Guard) graph.Guard {
			xor := func(a, b graph.Guard) graph.Guard { return graph.And(graph.Or(a, b), graph.Not(graph.And(a, b))) }
			return graph.Not(xor(xor(a, b), c))
		}, func(a, b, c bool) bool { return (a != b) == c }},
		"majority": {func(a, b, c graph.Guard) graph.Guard {
			return graph.Or(graph.And(a, b), graph.And(b, c), graph.And(a, c))
		}, func(a, b, c bool) bool { return a && b || b && c || a && c }},
		"absurd": {func(a, b, _ graph.Guard) graph.Guard { return graph.And(a, graph.Not(a), b) },
			func(_, _, _ bool) bool { return false }},
		"with constants": {func(a, b, c graph.Guard) graph.Guard {
			return graph.Or(graph.Less(2, 1), graph.And(graph.Less(1, 2), a, c), graph.And(graph.Guard{}, b))
		}, func(a, _, c bool) bool { return a && c }},
		"de Morgan": {func(a, b, c graph.Guard) graph.Guard {
			return graph.Not(graph.Or(graph.Not(a), graph.Not(graph.And(b, graph.Not(graph.Not(c))))))
		}, func(a, b, c bool) bool { return a && b && c }},
	} {
		var g graph.Guard
		d := abc(t, func(m *graph.Model, x, y, z graph.Expr) {
			g = c.guard(graph.Greater(x, 0), graph.Greater(y, 1), graph.Greater(graph.Add(x, z), -1))
			m.Factor(graph.If(g, 100, graph.Mul(7, y)))
			m.If(g, func() { m.Factor(graph.Square(z)) }, func() { m.Factor(graph.Add(1, x)) })
		})
		require.Equal(t, 3, d.Arrangement().Len(), name)
		z := []float64{0.5, -0.25, 2}
		prior := logProb(t, abc(t, func(*graph.Model, graph.Expr, graph.Expr, graph.Expr) {}), z...)
		signVectors(d, func(s regions.Signs) {
			holds := c.plain(s.Positive(0), s.Positive(1), s.Positive(2))
			require.Equal(t, holds, g.Holds(s), name, s)
			want := prior + 7*z[1] + 1 + z[0]
			if holds {
				want = prior + 100 + z[2]*z[2]
			}
			got, err := d.LogProbAt(z, s)
			require.NoError(t, err)
			close12(t, want, got, name, s)
		})
	}
}

// An If block is an If expression between its terms and 0, on the guards of all
// blocks around them.
func TestBlockIsExpression(t *testing.T) {
	block := abc(t, func(m *graph.Model, a, b, c graph.Expr) {
		m.If(graph.Greater(a, 0), func() {
			m.If(graph.Less(b, c), func() { m.Factor(graph.Sin(a)) }, func() { m.Factor(graph.Mul(b, c)) })
		}, func() { m.Factor(graph.Square(c)) })
	})
	expr := abc(t, func(m *graph.Model, a, b, c graph.Expr) {
		g, h := graph.Greater(a, 0), graph.Less(b, c)
		m.Factor(graph.If(graph.And(g, h), graph.Sin(a), 0))
		m.Factor(graph.If(graph.And(g, graph.Not(h)), graph.Mul(b, c), 0))
		m.Factor(graph.If(g, 0, graph.Square(c)))
	})
	sameDensity(t, block, expr)
	one := abc(t, func(m *graph.Model, a, b, c graph.Expr) {
		m.Factor(graph.If(graph.Greater(a, 0), graph.If(graph.Less(b, c), graph.Sin(a), graph.Mul(b, c)), graph.Square(c)))
	})
	signVectors(one, func(s regions.Signs) {
		z := []float64{0.7, -1.2, 0.4}
		want, err := block.LogProbAt(z, s)
		require.NoError(t, err)
		got, err := one.LogProbAt(z, s)
		require.NoError(t, err)
		close12(t, want, got, s)
	})
}

// The prior of a latent that is sampled in a branch counts on both sides, with
// the parameters that the branch gives it; what is observed there, on one.
func TestLatentInBranch(t *testing.T) {
	m := graph.NewModel()
	a := m.Sample("a", graph.Normal(0, 1))
	m.If(graph.Greater(a, 1), func() {
		b := m.Sample("b", graph.Gamma(graph.Exp(a), 2))
		m.Observe("y", graph.Normal(b, 1), 3)
	}, nil)
	d := mustCompile(t, m)
	require.Equal(t, []string{"a", "b"}, d.Latents())
	gamma := laws()[slices.IndexFunc(laws(), func(l law) bool { return l.name == "Gamma" })]
	z := []float64{0.6, -0.2}
	both := logNormalPDF(z[0], 0, 1) + gamma.log(math.Exp(z[1]), []float64{math.Exp(z[0]), 2}) + z[1]
	signVectors(d, func(s regions.Signs) {
		want := both
		if s.Positive(0) {
			want += logNormalPDF(3, math.Exp(z[1]), 1)
		}
		got, err := d.LogProbAt(z, s)
		require.NoError(t, err)
		close12(t, want, got, s)
	})
}

// Guards with one zero set are one plane, in however many disguises.
func TestCoincidentGuards(t *testing.T) {
	d := abc(t, func(m *graph.Model, a, b, _ graph.Expr) {
		s := graph.Sub(graph.Add(a, graph.Mul(2, b)), 3) // a + 2b − 3
		n := 0
		for _, f := range []float64{1, -1, 2, -0.5, 1e9, -1e-9, 0.1, 3, 7.7} {
			for _, g := range []graph.Guard{
				graph.Greater(graph.Mul(f, s), 0),
				graph.Less(graph.Mul(f, a), graph.Mul(f, graph.Sub(3, graph.Mul(2, b)))),
				graph.Greater(graph.Div(s, f), 0),
				graph.Not(graph.Less(graph.Add(graph.Mul(f/3, a), graph.Mul(2*f/3, b)), f)),
			} {
				n++
				m.Factor(graph.If(g, n, graph.Mul(n, a)))
			}
		}
	})
	require.Equal(t, 1, d.Arrangement().Len())
	require.Len(t, d.Guards(), 36)
	// and Φ > 0 is what each says of its own side
	for i, g := range d.Guards() {
		f := []float64{1, -1, 2, -0.5, 1e9, -1e-9, 0.1, 3, 7.7}[i/4]
		above := (f > 0) == (i%4 != 1) // the second form is f·s < 0
		if i%4 == 3 {
			above = f < 0 // Not(Less): Guards lists the comparison itself
		}
		require.Equal(t, above, g.Side.Holds(d.Arrangement().Signs([]float64{4, 1, 0})), "guard %d", i)
	}
}

// Affine expressions stay affine through a recurrence, which is linear in its
// length, and a guard on it is the dense hyperplane that substitution gives.
func TestRecurrence(t *testing.T) {
	const steps, alpha = 2000, 0.9
	build := func(n int) (*graph.Density, int) {
		m := graph.NewModel()
		x := graph.Add(0, m.Sample("v0", graph.Normal(0, 1)))
		var last graph.Expr
		for i := 1; i < n; i++ {
			v := m.Sample(fmt.Sprint("v", i), graph.Normal(0, 1))
			x = graph.Add(graph.Sub(graph.Mul(alpha, x), 0.5), graph.Mul(0.3, v))
			m.Observe("y", graph.Normal(x, 0.7), float64(i%5))
			last = x
		}
		m.Factor(graph.If(graph.Greater(last, 1), 2, graph.Mul(0.1, last)))
		d := mustCompile(t, m)
		return d, d.Program().Nodes()
	}
	short, few := build(60)
	require.NotNil(t, short)
	d, many := build(steps)
	require.Equal(t, few, many)

	rng := rand.New(rand.NewPCG(1, 1))
	z := make([]float64, steps)
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	want := logNormalPDF(z[0], 0, 1)
	x := z[0]
	for i := 1; i < steps; i++ {
		x = alpha*x - 0.5 + 0.3*z[i]
		want += logNormalPDF(z[i], 0, 1) + logNormalPDF(float64(i%5), x, 0.7)
	}
	signVectors(d, func(s regions.Signs) {
		w := want + 0.1*x
		if s.Positive(0) {
			w = want + 2
		}
		got, err := d.LogProbAt(z, s)
		require.NoError(t, err)
		closeTo(t, w, got, 1e-12, s)
	})

	h := d.Arrangement().Plane(0)
	require.Equal(t, 1, d.Arrangement().Len())
	ratio := h.Coef[len(h.Coef)-1] / 0.3
	constant := -1.0
	coef := make([]float64, steps)
	coef[0] = math.Pow(alpha, steps-1)
	for i := 1; i < steps; i++ {
		coef[i] = 0.3 * math.Pow(alpha, float64(steps-1-i))
		constant -= 0.5 * math.Pow(alpha, float64(steps-1-i))
	}
	require.Len(t, h.Index, steps)
	for k, i := range h.Index {
		require.InEpsilon(t, coef[i]*ratio, h.Coef[k], 1e-11, "coefficient %d", i)
	}
	require.InEpsilon(t, constant*ratio, h.Const, 1e-11)

	// its gradient by the adjoint recurrence
	got, err := d.GradAt(z, regions.NewSigns([]bool{true}))
	require.NoError(t, err)
	xs := make([]float64, steps)
	xs[0] = z[0]
	for i := 1; i < steps; i++ {
		xs[i] = alpha*xs[i-1] - 0.5 + 0.3*z[i]
	}
	adjoint := 0.0
	for i := steps - 1; i >= 0; i-- {
		adjoint *= alpha
		scale := 1.0
		if i > 0 {
			adjoint += (float64(i%5) - xs[i]) / (0.7 * 0.7)
			scale = 0.3
		}
		closeTo(t, scale*adjoint-z[i], got[i], 1e-11, "latent", i)
	}
}

// A state machine whose selects share their sides has exponentially many paths,
// and as many nodes as steps.
func TestStateMachine(t *testing.T) {
	const steps = 60
	m := graph.NewModel()
	q := graph.Add(0, 0)
	scale := graph.Add(0, 1)
	for i := range steps {
		z := m.Sample(fmt.Sprint("z", i), graph.Normal(0, 1))
		up, down := graph.Greater(z, 0), graph.Greater(graph.Mul(2, z), 1)
		q = graph.If(up, graph.If(down, 1, q), graph.If(down, 0.25, q))
		scale = graph.If(up, graph.If(down, graph.Exp(z), scale), graph.If(down, graph.Exp(graph.Mul(2, z)), scale))
		m.Observe("y", graph.Normal(graph.Exp(q), graph.Add(0.5, q)), 1)
		m.Observe("w", graph.Normal(0, scale), 1)
	}
	d := mustCompile(t, m)
	z := make([]float64, steps)
	rng := rand.New(rand.NewPCG(3, 3))
	positive := make([]bool, 2*steps)
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	for l := range positive {
		positive[l] = rng.IntN(3) == 0
	}
	want, state, sd := 0.0, 0.0, 1.0
	for i := range z {
		up, down := positive[2*i], positive[2*i+1]
		if down {
			state, sd = 0.25, math.Exp(2*z[i])
			if up {
				state, sd = 1, math.Exp(z[i])
			}
		}
		want += logNormalPDF(z[i], 0, 1) + logNormalPDF(1, math.Exp(state), 0.5+state) + logNormalPDF(1, 0, sd)
	}
	got, err := d.LogProbAt(z, regions.NewSigns(positive))
	require.NoError(t, err)
	close12(t, want, got)
}
