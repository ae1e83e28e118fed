package graph_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
)

// A number of trials may be a discrete latent: k of 6 things are there, and each that is there is seen with probability p, so that
// Binomial(6, 0.4·p) are seen. No more can be seen than are there.
func TestBinomialOfLatent(t *testing.T) {
	const p, seen = 0.3, 2.0
	one := func(m *graph.Model, k graph.Expr) {
		m.Observe("seen", graph.Binomial(k, p), seen)
	}
	plate := func(m *graph.Model, k graph.Expr) {
		m.Plate(1, func(row *graph.Plate) {
			row.Observe("seen", graph.Binomial(row.Index([]graph.Expr{k}, []int{0}), p), []float64{seen})
		})
	}
	sum := func(m *graph.Model, k graph.Expr) {
		m.Observe("seen", graph.Binomial(graph.If(graph.Greater(k, 100), 7, k), p), seen)
	}
	mixture := func(m *graph.Model, k graph.Expr) {
		m.Observe("seen", graph.Mixture(graph.Numbers(0.25, 0.75), graph.Binomial(k, p), graph.Binomial(k, p)), seen)
	}
	for _, observe := range []func(*graph.Model, graph.Expr){one, plate, sum, mixture} {
		m := graph.NewModel()
		observe(m, m.Sample("k", graph.Binomial(6, 0.4)))
		d := mustCompile(t, m)
		values, cuts := d.Values(0)
		total := 0.0
		for j, k := range values {
			u := append(append([]float64{cuts[0] - 1}, cuts...), cuts[len(cuts)-1]+1)
			at := 0.5 * (u[j] + u[j+1])
			likelihood := math.Exp(logProb(t, d, at) - logNormalPDF(at, 0, 1))
			if k < seen {
				require.Zero(t, likelihood)
				continue
			}
			close12(t, distuv.Binomial{N: k, P: p}.Prob(seen), likelihood, k)
			total += likelihood * distuv.Binomial{N: 6, P: 0.4}.Prob(k)
		}
		close12(t, distuv.Binomial{N: 6, P: 0.4 * p}.Prob(seen), total)
	}
}

// With more zeros, too: no thing is seen with probability 0.2, and else each that is there with probability p.
func TestInflatedBinomialOfLatent(t *testing.T) {
	const p, more = 0.3, 0.2
	for seen := range 3 {
		m := graph.NewModel()
		k := m.Sample("k", graph.Binomial(6, 0.4))
		m.Observe("seen", graph.ZeroInflated(more, graph.Binomial(k, p)), float64(seen))
		d := mustCompile(t, m)
		values, cuts := d.Values(0)
		for j, k := range values {
			u := append(append([]float64{cuts[0] - 1}, cuts...), cuts[len(cuts)-1]+1)
			at := 0.5 * (u[j] + u[j+1])
			want := (1 - more) * distuv.Binomial{N: k, P: p}.Prob(float64(seen))
			if seen == 0 {
				want += more
			}
			if k < float64(seen) {
				want = 0
			}
			closeTo(t, want, math.Exp(logProb(t, d, at)-logNormalPDF(at, 0, 1)), 1e-12, k)
		}
	}
	m := graph.NewModel()
	m.Observe("seen", graph.Truncated(graph.Binomial(m.Sample("k", graph.Binomial(6, 0.4)), p), 1, 5), 2)
	require.ErrorContains(t, m.Err(), "Truncated(Binomial): needs a distribution function")
}

// A Binomial latent whose number of trials is another latent has the probabilities of the program, and a gradient by what they depend on.
func TestBinomialOfLatentAsPrior(t *testing.T) {
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	n := m.Sample("n", graph.Categorical(graph.Numbers(0.2, 0.3, 0.5)...))
	k := m.Sample("k", graph.Binomial(graph.Add(n, 1), graph.Sigmoid(z)))
	m.Name("all", graph.Equal(k, 3))
	d := mustCompile(t, m)
	_, cutsN := d.Values(1)
	values, cutsK := d.Values(2)
	require.Equal(t, []float64{0, 1, 2, 3}, values)
	inside := func(cuts []float64, j int) float64 {
		u := append(append([]float64{cuts[0] - 1}, cuts...), cuts[len(cuts)-1]+1)
		return 0.5 * (u[j] + u[j+1])
	}
	for j := range 3 {
		for k := range 4 {
			u := []float64{0.7, inside(cutsN, j), inside(cutsK, k)}
			want := func(u []float64) float64 {
				law := distuv.Binomial{N: float64(j + 1), P: sigmoid(u[0])}
				return logNormalPDF(u[0], 0, 1) + logNormalPDF(u[1], 0, 1) + logNormalPDF(u[2], 0, 1) + math.Log(4) + law.LogProb(float64(k))
			}
			if k > j+1 {
				require.Equal(t, math.Inf(-1), logProb(t, d, u...))
				continue
			}
			closeTo(t, want(u), logProb(t, d, u...), 1e-11, j, k)
			slope, ok := partial(want, u, 0)
			require.True(t, ok)
			closeTo(t, slope, gradient(t, d, u...)[0], 1e-6, j, k)
		}
	}
}

// What a guard says of a discrete latent holds in its block, and where its side is chosen.
func TestRangesInsideGuards(t *testing.T) {
	build := func(below float64) (inBlock, chosen error) {
		compile := func(write func(m *graph.Model, x, p graph.Expr, g graph.Guard)) error {
			m := graph.NewModel()
			x := m.Sample("x", graph.Truncated(graph.Poisson(3), 1, 20))
			write(m, x, graph.Sub(1, graph.Mul(0.2, x)), graph.Less(x, below))
			_, err := m.Compile()
			return err
		}
		inBlock = compile(func(m *graph.Model, _, p graph.Expr, g graph.Guard) {
			m.If(g, func() { m.Observe("y", graph.Bernoulli(p), 1) }, nil)
		})
		chosen = compile(func(m *graph.Model, _, p graph.Expr, g graph.Guard) {
			m.Observe("y", graph.Bernoulli(graph.If(g, p, 0.5)), 1)
		})
		return inBlock, chosen
	}
	inBlock, chosen := build(5)
	require.NoError(t, inBlock)
	require.NoError(t, chosen)
	inBlock, chosen = build(7)
	require.ErrorContains(t, inBlock, "can leave (0, 1)")
	require.ErrorContains(t, chosen, "if(x > 6")
}

// An expression with an atom may be compared with it.
func TestEqualToAnAtom(t *testing.T) {
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	g := m.Name("at the edge", graph.Equal(graph.Clip(z, 0, 1), 1))
	zero := m.Sample("zero", graph.Bernoulli(0.01))
	h := m.Name("absent", graph.Equal(graph.If(graph.Equal(zero, 1), 0, z), 0))
	d := mustCompile(t, m)
	for _, u := range [][]float64{{-0.5, 0}, {0.5, 0}, {1.5, 0}, {0, 5}} {
		s := d.Arrangement().Signs(u)
		require.Equal(t, u[0] > 1, g.Holds(s))
		require.Equal(t, u[1] > 3, h.Holds(s))
	}
	m.Name("between", graph.Equal(graph.Clip(z, 0, 1), 0.5))
	require.ErrorContains(t, m.Err(), "holds with probability 0")
}

// A Switch by an expression has a value for each that the expression may have.
func TestSwitchOutOfRange(t *testing.T) {
	build := func(choose func(m *graph.Model, sum graph.Expr)) error {
		m := graph.NewModel()
		a, b := m.Sample("a", graph.Bernoulli(0.5)), m.Sample("b", graph.Bernoulli(0.5))
		choose(m, graph.Add(a, b))
		_, err := m.Compile()
		return err
	}
	require.NoError(t, build(func(m *graph.Model, sum graph.Expr) { m.Factor(graph.Switch(sum, 0.1, 0.2, 0.3)) }))
	require.NoError(t, build(func(m *graph.Model, sum graph.Expr) { m.Factor(graph.Switch(graph.Min(sum, 1), 0.1, 0.2)) }))
	require.NoError(t, build(func(m *graph.Model, sum graph.Expr) {
		m.If(graph.Greater(sum, 0), func() { m.Factor(graph.Switch(graph.Sub(sum, 1), 0.1, 0.2)) }, nil)
	}))
	for says, choose := range map[string]func(m *graph.Model, sum graph.Expr){
		"can be 2, and there are 2 values, for 0 to 1":   func(m *graph.Model, sum graph.Expr) { m.Factor(graph.Switch(sum, 0.1, 0.2)) },
		"can be -1, and there are 3 values, for 0 to 2":  func(m *graph.Model, sum graph.Expr) { m.Factor(graph.Switch(graph.Sub(sum, 1), 0.1, 0.2, 0.3)) },
		"can be 0.5, and there are 3 values, for 0 to 2": func(m *graph.Model, sum graph.Expr) { m.Factor(graph.Switch(graph.Mul(sum, 0.5), 0.1, 0.2, 0.3)) },
	} {
		require.ErrorContains(t, build(choose), says)
	}
}

// States of one step have all densities, or all probabilities, and atoms at the same places.
func TestHMMOfOneKind(t *testing.T) {
	build := func(first, second graph.Dist) error {
		m := graph.NewModel()
		stay := m.Sample("stay", graph.Beta(9, 1))
		m.ObserveHMM("y", graph.HMM{
			Initial:    graph.Numbers(0.5, 0.5),
			Transition: [][]graph.Expr{{stay, graph.Sub(1, stay)}, {graph.Sub(1, stay), stay}},
			Emission:   func(_ int, s []int) graph.Dist { return []graph.Dist{first, second}[s[0]] },
		}, []float64{1, 2})
		_, err := m.Compile()
		return err
	}
	require.NoError(t, build(graph.Poisson(1), graph.Binomial(3, 0.5)))
	require.NoError(t, build(graph.Normal(0, 1), graph.LogNormal(0, 1)))
	require.NoError(t, build(graph.Censored(graph.Normal(0, 1), 0, 2), graph.Censored(graph.Normal(1, 1), 0, 2)))
	require.ErrorContains(t, build(graph.Poisson(1), graph.Normal(0, 1)), "the distributions Poisson and Normal")
	require.ErrorContains(t, build(graph.Normal(0, 1), graph.Censored(graph.Normal(0, 1), 0, 2)), "the distributions Normal and Censored(Normal)")
	require.ErrorContains(t, build(graph.Censored(graph.Normal(0, 1), 0, 2), graph.Censored(graph.Normal(0, 1), 1, 2)), "the same bounds")
}

// Probabilities in place of logarithms are found where they add up to 1.
func TestForwardSumOfProbabilities(t *testing.T) {
	logs := graph.Numbers(math.Log(0.5), math.Log(0.5))
	rows := func(x, y graph.Expr) [][]graph.Expr { return [][]graph.Expr{{x, y}, {y, x}} }
	err := func(build func(m *graph.Model, p graph.Expr) (initial []graph.Expr, transition [][]graph.Expr)) error {
		m := graph.NewModel()
		p := m.Sample("p", graph.Beta(2, 2))
		initial, transition := build(m, p)
		m.Factor(graph.ForwardSum(initial, [][]graph.Expr{{p, p}, {p, graph.Sub(1, p)}}, transition))
		return m.Err()
	}
	require.NoError(t, err(func(_ *graph.Model, p graph.Expr) ([]graph.Expr, [][]graph.Expr) {
		return logs, rows(graph.Log(p), graph.Log(graph.Sub(1, p)))
	}))
	require.NoError(t, err(func(*graph.Model, graph.Expr) ([]graph.Expr, [][]graph.Expr) {
		return graph.Numbers(0, math.Inf(-1)), rows(logs[0], logs[1])
	}))
	require.NoError(t, err(func(_ *graph.Model, p graph.Expr) ([]graph.Expr, [][]graph.Expr) { return logs, rows(p, p) }))
	says := func(what string, build func(m *graph.Model, p graph.Expr) (initial []graph.Expr, transition [][]graph.Expr)) {
		t.Helper()
		require.ErrorContains(t, err(build), "a forward sum takes logarithms, and "+what+" has the probabilities")
		require.ErrorContains(t, err(build), "refusals_test.go:")
	}
	says("initial", func(*graph.Model, graph.Expr) ([]graph.Expr, [][]graph.Expr) {
		return graph.Numbers(0.5, 0.5), rows(logs[0], logs[1])
	})
	says("transition", func(_ *graph.Model, p graph.Expr) ([]graph.Expr, [][]graph.Expr) {
		return logs, rows(p, graph.Sub(1, p))
	})
	says("transition", func(*graph.Model, graph.Expr) ([]graph.Expr, [][]graph.Expr) {
		return logs, rows(graph.Add(0, 1), graph.Add(0, 0))
	})
	says("transition", func(m *graph.Model, _ graph.Expr) ([]graph.Expr, [][]graph.Expr) {
		first, second := m.SampleVector("first", graph.Dirichlet(1, 2)), m.SampleVector("second", graph.Dirichlet(2, 1))
		return logs, [][]graph.Expr{first, second}
	})
	says("initial", func(_ *graph.Model, p graph.Expr) ([]graph.Expr, [][]graph.Expr) {
		on := graph.Greater(p, 0.3)
		return []graph.Expr{graph.If(on, 0.2, p), graph.If(on, 0.8, graph.Sub(1, p))}, rows(logs[0], logs[1])
	})
}

func TestParamOptionIsNil(t *testing.T) {
	m := graph.NewModel()
	m.Param("a", 1, graph.Positive(), nil)
	require.ErrorContains(t, m.Err(), `parameter "a": an option is nil`)
}

func TestClipWithoutRoom(t *testing.T) {
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	m.Factor(graph.Clip(z, 1, 1))
	require.NoError(t, m.Err())
	m.Factor(graph.Clip(z, 1, 0))
	require.ErrorContains(t, m.Err(), lineAbove()+": Clip: 1, the lower bound, is above 0, the upper one")
}

func TestCollectIntoNothing(t *testing.T) {
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	m.Plate(2, func(p *graph.Plate) { p.Collect(nil, z) })
	require.ErrorContains(t, m.Err(), lineAbove()+": Collect: a nil pointer to a slice")
}

// What comes after a block that panicked, and from which the program recovered, is outside it.
func TestIfThatPanics(t *testing.T) {
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	func() {
		defer func() { require.Equal(t, "no more", recover()) }()
		m.If(graph.Greater(z, 0), func() { panic("no more") }, nil)
	}()
	m.Factor(2)
	d := mustCompile(t, m)
	closeTo(t, 2, logProb(t, d, -0.5)-logNormalPDF(-0.5, 0, 1), 1e-12)
}
