package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
)

// tiny is a program without a constant that a processor has to round.
func tiny() *graph.Model {
	m := graph.NewModel()
	x := m.Sample("x", graph.Exponential(1))
	y := m.Sample("y", graph.Uniform(0, 1))
	m.Observe("k", graph.Poisson(graph.Mul(2, x)), 3)
	m.If(graph.Greater(x, 1), func() { m.Observe("b", graph.Bernoulli(y), 1) }, nil)
	m.Factor(graph.Neg(graph.Square(graph.Sub(x, y))))
	return m
}

// The fingerprint of a program is the same in every process, so saved fits find
// their model. If this value must change, they all lose it: raise the version
// that digest writes, and say so in the changelog.
func TestFingerprintGolden(t *testing.T) {
	require.Equal(t, "36af79a84b19cfcb6667027ce836e2942fa5c5d3bd2b1285817b0fd09e0fde5d", mustCompile(t, tiny()).Fingerprint())
}

func TestFingerprintOfEqualPrograms(t *testing.T) {
	for name, p := range compilePaper(t) {
		again := mustCompile(t, p.Model())
		require.Len(t, again.Fingerprint(), 64)
		require.Equal(t, p.d.Fingerprint(), again.Fingerprint(), name)
		data := map[string][]float64{}
		for i, name := range p.d.Observations() {
			data[name] = append(data[name], p.d.Data()[i])
		}
		for _, v := range data {
			v[0]++
		}
		other, err := p.d.WithData(data)
		require.NoError(t, err)
		require.Equal(t, p.d.Fingerprint(), other.Fingerprint(), name)
	}
	seen := map[string]string{}
	for name, p := range compilePaper(t) {
		require.Empty(t, seen[p.d.Fingerprint()], name)
		seen[p.d.Fingerprint()] = name
	}
	rapid.Check(t, func(t *rapid.T) {
		r := drawRandom(t, anyProgram())
		require.Equal(t, r.d.Fingerprint(), mustCompile(t, r.Model()).Fingerprint())
	})
}

// Other data, even where they are 0 or equal, are not another program: no
// observed value has been folded into an expression.
func TestFingerprintLeavesOutData(t *testing.T) {
	first := mustCompile(t, dataModel([]float64{0, 0, 0}, []float64{0, 1, 0}))
	second := mustCompile(t, dataModel([]float64{3, -1.5, 0.25}, []float64{4, 0, 7}))
	require.Equal(t, first.Fingerprint(), second.Fingerprint())
	require.Equal(t, mustCompile(t, models.Temperature(models.SimulateTemperature(20, 1))).Fingerprint(),
		mustCompile(t, models.Temperature(models.SimulateTemperature(20, 2))).Fingerprint())
	require.NotEqual(t, first.Fingerprint(),
		mustCompile(t, dataModel([]float64{0, 0}, []float64{0, 1})).Fingerprint(), "a shorter data set is another program")
}

// variant is a program that can be changed in one place at a time.
type variant struct {
	latent, second, observation    string
	mean, threshold, scale, factor float64
	prior                          func(mu, sigma graph.Expr) graph.Dist
	law                            func(mu graph.Expr) graph.Dist
	term                           func(x, y graph.Expr) graph.Expr
	guard                          func(x, y graph.Expr) graph.Guard
	extra                          func(m *graph.Model, x, y graph.Expr)
}

func standard() variant {
	return variant{
		latent: "x", second: "y", observation: "obs", mean: 0.5, threshold: 1, scale: 2, factor: 3,
		prior: graph.Normal[graph.Expr, graph.Expr],
		law:   func(mu graph.Expr) graph.Dist { return graph.Normal(mu, 1) },
		term:  func(x, y graph.Expr) graph.Expr { return graph.Sin(graph.Mul(x, y)) },
		guard: func(x, y graph.Expr) graph.Guard { return graph.Greater(graph.Add(x, y), 0) },
		extra: func(*graph.Model, graph.Expr, graph.Expr) {},
	}
}

func (v variant) fingerprint(t *testing.T) string {
	m := graph.NewModel()
	x := m.Sample(v.latent, v.prior(graph.Add(v.mean, 0), graph.Add(v.scale, 0)))
	y := m.Sample(v.second, graph.Normal(x, 1))
	m.If(graph.Greater(x, v.threshold), func() { m.Observe(v.observation, v.law(y), 0.25) }, nil)
	m.Observe(v.observation, graph.Normal(graph.If(v.guard(x, y), x, y), 1), 0.75)
	m.Factor(graph.Mul(v.factor, v.term(x, y)))
	v.extra(m, x, y)
	return mustCompile(t, m).Fingerprint()
}

// Each change of a name, a constant, a prior, a guard, a distribution or a term
// is another program; recorded expressions and names of guards are not.
func TestFingerprintTellsProgramsApart(t *testing.T) {
	seen := map[string]string{standard().fingerprint(t): "standard"}
	for name, change := range map[string]func(v *variant){
		"latent":                  func(v *variant) { v.latent = "w" },
		"second":                  func(v *variant) { v.second = "w" },
		"names exchanged":         func(v *variant) { v.latent, v.second = "y", "x" },
		"observation":             func(v *variant) { v.observation = "o" },
		"mean":                    func(v *variant) { v.mean = 0.5000000000000001 },
		"mean and scale":          func(v *variant) { v.mean, v.scale = 2, 0.5 },
		"threshold":               func(v *variant) { v.threshold = 1.5 },
		"threshold never reached": func(v *variant) { v.threshold = -1 },
		"scale":                   func(v *variant) { v.scale = 2.5 },
		"factor":                  func(v *variant) { v.factor = -3 },
		"prior":                   func(v *variant) { v.prior = graph.Laplace[graph.Expr, graph.Expr] },
		"law":                     func(v *variant) { v.law = func(mu graph.Expr) graph.Dist { return graph.Logistic(mu, 1) } },
		"law's constant":          func(v *variant) { v.law = func(mu graph.Expr) graph.Dist { return graph.Normal(mu, 2) } },
		"term":                    func(v *variant) { v.term = func(x, y graph.Expr) graph.Expr { return graph.Cos(graph.Mul(x, y)) } },
		"term's operand":          func(v *variant) { v.term = func(x, y graph.Expr) graph.Expr { return graph.Sin(graph.Mul(x, x)) } },
		"quotient":                func(v *variant) { v.term = func(x, y graph.Expr) graph.Expr { return graph.Sin(graph.Div(x, y)) } },
		"quotient upside down":    func(v *variant) { v.term = func(x, y graph.Expr) graph.Expr { return graph.Sin(graph.Div(y, x)) } },
		"guard": func(v *variant) {
			v.guard = func(x, y graph.Expr) graph.Guard { return graph.Greater(graph.Sub(x, y), 0) }
		},
		"guard's side": func(v *variant) {
			v.guard = func(x, y graph.Expr) graph.Guard { return graph.Less(graph.Add(x, y), 0) }
		},
		"another factor": func(v *variant) { v.extra = func(m *graph.Model, x, y graph.Expr) { m.Factor(x) } },
		"another latent": func(v *variant) {
			v.extra = func(m *graph.Model, x, y graph.Expr) { m.Sample("v", graph.Normal(x, 1)) }
		},
		"another observation": func(v *variant) {
			v.extra = func(m *graph.Model, x, y graph.Expr) { m.Observe("v", graph.Normal(x, 1), 0) }
		},
		"another hyperplane": func(v *variant) { v.extra = func(m *graph.Model, x, y graph.Expr) { graph.Greater(y, 9) } },
	} {
		v := standard()
		change(&v)
		f := v.fingerprint(t)
		require.Empty(t, seen[f], "%s", name)
		seen[f] = name
	}
	v := standard()
	v.extra = func(m *graph.Model, x, y graph.Expr) {
		m.Deterministic("d", graph.Exp(x))
		m.Name("g", v.guard(x, y))
	}
	require.Equal(t, "standard", seen[v.fingerprint(t)])
}

// An expression is what it computes, not the order in which it was made: parts
// of sums and products that were made earlier leave the fingerprint as it is.
func TestFingerprintForgetsTheOrderOfMaking(t *testing.T) {
	build := func(early bool) string {
		m := graph.NewModel()
		x, y := m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1))
		if early {
			m.Deterministic("d", graph.Mul(graph.Cos(y), graph.Exp(y)))
		}
		m.Factor(graph.Mul(graph.Sin(x), graph.Cos(y)))
		m.Factor(graph.Tanh(graph.Add(graph.Exp(x), graph.Exp(y))))
		return mustCompile(t, m).Fingerprint()
	}
	require.Equal(t, build(false), build(true))
}
