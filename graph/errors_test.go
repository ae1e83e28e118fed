package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// lineAbove is the file and line just above its caller's.
func lineAbove() string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", filepath.Base(file), line-1)
}

// Every mistake is an error of Compile that names the user's line and what is
// wrong there. Each case's mistake stands on the line above its return.
func TestModelErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	other := graph.NewModel()
	var foreign graph.Expr
	for i := range 40 { // far more nodes than the models below have
		foreign = other.Sample(fmt.Sprint("z", i), graph.Normal(0, 1))
	}
	foreignGuard := graph.Greater(foreign, 0)
	observe := func(d graph.Dist, x float64) func(m *graph.Model, z graph.Expr) string {
		return func(m *graph.Model, _ graph.Expr) string {
			m.Observe("y", d, x)
			return lineAbove()
		}
	}
	factor := func(f func(z graph.Expr) graph.Expr) func(m *graph.Model, z graph.Expr) string {
		return func(m *graph.Model, z graph.Expr) string {
			m.Factor(f(z))
			return lineAbove()
		}
	}
	sample := func(d graph.Dist) func(m *graph.Model, z graph.Expr) string {
		return func(m *graph.Model, _ graph.Expr) string {
			m.Sample("x", d)
			return lineAbove()
		}
	}
	for _, c := range []struct {
		name  string
		says  []string
		build func(m *graph.Model, z graph.Expr) string
	}{
		{"latent twice", []string{`"z"`, "already taken"}, func(m *graph.Model, z graph.Expr) string {
			m.Sample("z", graph.Normal(0, 1))
			return lineAbove()
		}},
		{"latent named as an observation", []string{`"y"`, "already taken"}, func(m *graph.Model, z graph.Expr) string {
			m.Observe("y", graph.Normal(z, 1), 0)
			m.Sample("y", graph.Normal(0, 1))
			return lineAbove()
		}},
		{"observation named as a latent", []string{`"z"`, "already taken", "latent"}, func(m *graph.Model, z graph.Expr) string {
			m.Observe("z", graph.Normal(z, 1), 0)
			return lineAbove()
		}},
		{"latent without a name", []string{"needs a name"}, func(m *graph.Model, z graph.Expr) string {
			m.Sample("", graph.Normal(0, 1))
			return lineAbove()
		}},
		{"observation without a name", []string{"needs a name"}, func(m *graph.Model, z graph.Expr) string {
			m.Observe("", graph.Normal(z, 1), 0)
			return lineAbove()
		}},
		{"scale 0", []string{"Normal", "sigma = 0", "positive"}, observe(graph.Normal(0, 0), 1)},
		{"scale −1", []string{"latent x", "Logistic", "s = -1", "positive"}, sample(graph.Logistic(0, -1))},
		{"rate NaN", []string{"Poisson", "lambda = NaN", "finite: only the value of an observation may be missing"}, observe(graph.Poisson(nan), 1)},
		{"mean infinite", []string{"Normal", "mu", "finite"}, observe(graph.Normal(inf, 1), 1)},
		{"degrees of freedom 0", []string{"StudentsT", "nu = 0", "positive"}, sample(graph.StudentsT(0, 1, 0))},
		{"shape 0", []string{"Gamma", "alpha = 0", "positive"}, sample(graph.Gamma(0, 1))},
		{"beta shape −2", []string{"Beta", "beta = -2", "positive"}, sample(graph.Beta(1, -2))},
		{"k 0", []string{"ChiSquared", "k = 0", "positive"}, sample(graph.ChiSquared(0))},
		{"half-normal scale −1", []string{"HalfNormal", "scale = -1", "positive"}, sample(graph.HalfNormal(-1))},
		{"exponential rate 0", []string{"Exponential", "rate = 0", "positive"}, sample(graph.Exponential(0))},
		{"log-normal sigma −1", []string{"LogNormal", "sigma = -1", "positive"}, sample(graph.LogNormal(0, -1))},
		{"Laplace scale 0", []string{"Laplace", "scale = 0", "positive"}, sample(graph.Laplace(0, 0))},
		{"probability 1.5", []string{"Bernoulli", "p = 1.5", "between 0 and 1"}, observe(graph.Bernoulli(1.5), 1)},
		{"probability 0", []string{"Geometric", "p = 0", "between 0 and 1"}, observe(graph.Geometric(0), 1)},
		{"probability −0.1", []string{"NegativeBinomial", "p = -0.1", "between 0 and 1"}, observe(graph.NegativeBinomial(2, -0.1), 1)},
		{"nbinom n 0", []string{"NegativeBinomial", "n = 0", "positive"}, observe(graph.NegativeBinomial(0, 0.5), 1)},
		{"2.5 trials", []string{"Binomial", "n = 2.5", "whole"}, observe(graph.Binomial(2.5, 0.5), 1)},
		{"−1 trials", []string{"Binomial", "n = -1", "whole"}, observe(graph.Binomial(-1, 0.5), 1)},
		{"empty interval", []string{"Uniform", "empty"}, sample(graph.Uniform(2, 1))},
		{"Uniform bound a latent", []string{"Uniform", "max must be a number"}, func(m *graph.Model, z graph.Expr) string {
			m.Sample("x", graph.Uniform(0, z))
			return lineAbove()
		}},
		{"Binomial n a latent", []string{"Binomial", "n must be a number"}, func(m *graph.Model, z graph.Expr) string {
			m.Observe("y", graph.Binomial(z, 0.5), 1)
			return lineAbove()
		}},
		{"distribution empty", []string{"observation y", "empty"}, observe(graph.Dist{}, 1)},
		{"latent with too many values", []string{"latent x", "Poisson has more than 4096 values that matter"}, sample(graph.Poisson(1e8))},

		{"Poisson −1", []string{`"y"`, "-1", "outside the support of Poisson", "whole number ≥ 0"}, observe(graph.Poisson(1), -1)},
		{"Poisson 2.5", []string{"2.5", "outside the support of Poisson"}, observe(graph.Poisson(1), 2.5)},
		{"negative binomial 0.5", []string{"0.5", "outside the support"}, observe(graph.NegativeBinomial(1, 0.5), 0.5)},
		{"geometric 0", []string{"outside the support of Geometric", "≥ 1"}, observe(graph.Geometric(0.5), 0)},
		{"Bernoulli 2", []string{"outside the support of Bernoulli", "0 or 1"}, observe(graph.Bernoulli(0.5), 2)},
		{"6 of 5", []string{"outside the support of Binomial", "0 to 5"}, observe(graph.Binomial(5, 0.5), 6)},
		{"gamma −1", []string{"outside the support of Gamma", "> 0"}, observe(graph.Gamma(1, 1), -1)},
		{"log-normal 0", []string{"outside the support of LogNormal"}, observe(graph.LogNormal(1, 1), 0)},
		{"beta 1", []string{"outside the support of Beta", "between 0 and 1"}, observe(graph.Beta(1, 1), 1)},
		{"uniform 3.1", []string{"outside the support of Uniform", "[1, 3]"}, observe(graph.Uniform(1, 3), 3.1)},
		{"data infinite", []string{"+Inf", "not finite"}, observe(graph.Normal(0, 1), inf)},
		{"data infinite", []string{"Inf", "not finite"}, observe(graph.Normal(0, 1), inf)},

		{"value of another model in a sum", []string{"another model"}, func(m *graph.Model, z graph.Expr) string {
			m.Factor(graph.Add(z, foreign))
			return lineAbove()
		}},
		{"value of another model as a factor", []string{"another model"}, factor(func(graph.Expr) graph.Expr { return foreign })},
		{"prior with a value of another model", []string{"latent x", "another model"}, sample(graph.Normal(foreign, 1))},
		{"second parameter of another model", []string{"another model"}, func(m *graph.Model, z graph.Expr) string {
			m.Observe("y", graph.Gamma(graph.Exp(z), graph.Exp(foreign)), 1)
			return lineAbove()
		}},
		{"first parameter of another model", []string{"another model"}, func(m *graph.Model, z graph.Expr) string {
			m.Observe("y", graph.Gamma(graph.Exp(foreign), graph.Exp(z)), 1)
			return lineAbove()
		}},
		{"guard of another model, block", []string{"guard of another model"}, func(m *graph.Model, z graph.Expr) string {
			m.If(foreignGuard, func() { m.Factor(z) }, nil)
			return lineAbove()
		}},
		{"guard of another model, expression", []string{"another model"}, factor(func(z graph.Expr) graph.Expr { return graph.If(foreignGuard, z, 1) })},
		{"guard of another model, numbers", []string{"another model"}, factor(func(z graph.Expr) graph.Expr { return graph.If(foreignGuard, 2, 1) })},
		{"guards of two models", []string{"another model"}, func(m *graph.Model, z graph.Expr) string {
			m.If(graph.And(foreignGuard, graph.Greater(z, 0)), func() { m.Factor(z) }, nil)
			return lineAbove()
		}},
		{"guards of two models, own first", []string{"guard of another model"}, func(m *graph.Model, z graph.Expr) string {
			m.If(graph.Or(graph.Greater(z, 0), foreignGuard), func() { m.Factor(z) }, nil)
			return lineAbove()
		}},

		{"number NaN", []string{"NaN", "not finite"}, func(m *graph.Model, z graph.Expr) string {
			_ = graph.Mul(z, nan)
			return lineAbove()
		}},
		{"number infinite", []string{"Inf", "not finite"}, func(m *graph.Model, z graph.Expr) string {
			m.Factor(graph.Add(z, inf))
			return lineAbove()
		}},

		{"guard of numbers too far apart", []string{"guard 0: 1e+308·z + 1e-310·w > 0: ", "outside the range of float64"}, func(m *graph.Model, z graph.Expr) string {
			graph.Greater(graph.Add(graph.Mul(1e308, z), graph.Mul(1e-310, m.Sample("w", graph.Normal(0, 1)))), 0)
			return lineAbove()
		}},
		{"guard on a wave", []string{"guard 0", "sin(z) = 0.5 cannot be solved for any of its latents", "for z: sin(…) has no inverse"}, func(m *graph.Model, z graph.Expr) string {
			_ = graph.Greater(graph.Sin(z), 0.5)
			return lineAbove()
		}},
		{"guard on a latent and its wave, the second guard", []string{"guard 1", "for z: it occurs more than once"}, func(m *graph.Model, z graph.Expr) string {
			_ = graph.Greater(z, 0)
			_ = graph.Less(graph.Add(z, graph.Cos(graph.Mul(3, z))), 1)
			return lineAbove()
		}},
		{"guard that begins on a wave", []string{"guard 1", "sin(z) = 0 cannot be solved for any of its latents", "it is where log(sin(z)) begins to have a value"}, func(m *graph.Model, z graph.Expr) string {
			_ = graph.Greater(graph.Add(m.Sample("w", graph.Normal(0, 1)), graph.Log(graph.Sin(z))), 1)
			return lineAbove()
		}},
		{"guard on what falls and rises", []string{"guard 0", "z·exp(z) = 1", "for z: it occurs more than once"}, func(m *graph.Model, z graph.Expr) string {
			_ = graph.Greater(graph.Mul(z, graph.Exp(z)), 1)
			return lineAbove()
		}},
		{"guard on two waves", []string{"guard 0", "for z: sin(…) has no inverse", "for w: cos(…) has no inverse"}, func(m *graph.Model, z graph.Expr) string {
			w := m.Sample("w", graph.Normal(0, 1))
			_ = graph.Greater(graph.Sin(z), graph.Cos(w))
			return lineAbove()
		}},
		{"guard on a wave behind a branch", []string{"guard 1", "sin(z)"}, func(m *graph.Model, z graph.Expr) string {
			b := graph.If(graph.Greater(z, 0), graph.Sin(z), 2)
			_ = graph.Greater(b, 0.5)
			return lineAbove()
		}},
		{"larger of two waves", []string{"guard 0", "sin(z)"}, func(m *graph.Model, z graph.Expr) string {
			_ = graph.Max(graph.Sin(z), 0.5)
			return lineAbove()
		}},
		{"deterministic of another model", []string{`deterministic "d"`, "another model"}, func(m *graph.Model, z graph.Expr) string {
			m.Deterministic("d", foreign)
			return lineAbove()
		}},
		{"deterministic without a name", []string{"needs a name"}, func(m *graph.Model, z graph.Expr) string {
			m.Deterministic("", z)
			return lineAbove()
		}},
		{"deterministic named as a latent", []string{`"z"`, "already taken"}, func(m *graph.Model, z graph.Expr) string {
			m.Deterministic("z", z)
			return lineAbove()
		}},
		{"deterministic named as an observation", []string{`"y"`, "already taken"}, func(m *graph.Model, z graph.Expr) string {
			m.Observe("y", graph.Normal(z, 1), 0)
			m.Deterministic("y", z)
			return lineAbove()
		}},
		{"latent named as a deterministic", []string{`"d"`, "already taken"}, func(m *graph.Model, z graph.Expr) string {
			m.Deterministic("d", z)
			m.Sample("d", graph.Normal(0, 1))
			return lineAbove()
		}},
		{"observation named as a deterministic", []string{`"d"`, "already taken", "deterministic"}, func(m *graph.Model, z graph.Expr) string {
			m.Deterministic("d", z)
			m.Observe("d", graph.Normal(z, 1), 0)
			return lineAbove()
		}},
		{"deterministic NaN", []string{`"d"`, "NaN", "not finite"}, func(m *graph.Model, z graph.Expr) string {
			m.Deterministic("d", graph.Add(nan, 0))
			return lineAbove()
		}},
		{"named guard of another model", []string{`guard "on"`, "another model"}, func(m *graph.Model, z graph.Expr) string {
			m.Name("on", foreignGuard)
			return lineAbove()
		}},
		{"guard with an empty name", []string{"needs a name"}, func(m *graph.Model, z graph.Expr) string {
			m.Name("", graph.Greater(z, 0))
			return lineAbove()
		}},
		{"latent that is not UTF-8", []string{"latent has a name that is not UTF-8"}, func(m *graph.Model, z graph.Expr) string {
			m.Sample("x\xff", graph.Normal(0, 1))
			return lineAbove()
		}},
		{"observation that is not UTF-8", []string{"observation has a name that is not UTF-8"}, func(m *graph.Model, z graph.Expr) string {
			m.Observe("x\xff", graph.Normal(0, 1), 0)
			return lineAbove()
		}},
		{"deterministic that is not UTF-8", []string{"deterministic expression has a name that is not UTF-8"}, func(m *graph.Model, z graph.Expr) string {
			m.Deterministic("x\xff", z)
			return lineAbove()
		}},
		{"guard that is not UTF-8", []string{"guard has a name that is not UTF-8"}, func(m *graph.Model, z graph.Expr) string {
			m.Name("x\xff", graph.Greater(z, 0))
			return lineAbove()
		}},
		{"factor of another type", []string{"Factor takes an expression or a number, not a string"}, func(m *graph.Model, z graph.Expr) string {
			m.Factor("z")
			return lineAbove()
		}},
		{"deterministic of another type", []string{"Deterministic takes an expression or a number, not a bool"}, func(m *graph.Model, z graph.Expr) string {
			m.Deterministic("d", true)
			return lineAbove()
		}},
		{"NaN in a branch", []string{"compares NaN"}, func(m *graph.Model, z graph.Expr) string {
			_ = graph.If(graph.Greater(nan, 1), z, 1)
			return lineAbove()
		}},
		{"NaN in a branch of numbers", []string{"NaN"}, func(m *graph.Model, z graph.Expr) string {
			_ = graph.Add(z, graph.If(graph.Less(1, nan), 2, 1))
			return lineAbove()
		}},
		{"NaN in a formula", []string{"compares NaN"}, func(m *graph.Model, z graph.Expr) string {
			_ = graph.And(graph.Greater(z, 1), graph.Not(graph.Greater(nan, 1)))
			return lineAbove()
		}},
		{"NaN that is computed", []string{"compares NaN"}, func(m *graph.Model, z graph.Expr) string {
			_ = graph.Greater(graph.Log(graph.Sub(graph.Mul(0, z), 1)), 1)
			return lineAbove()
		}},
		{"NaN in a block", []string{"compares NaN"}, func(m *graph.Model, z graph.Expr) string {
			m.If(graph.Greater(nan, 1), func() { m.Factor(z) }, nil)
			return lineAbove()
		}},
		{"NaN in a name", []string{`guard "on"`, "compares NaN"}, func(m *graph.Model, z graph.Expr) string {
			m.Name("on", graph.Greater(nan, 1))
			return lineAbove()
		}},
		{"density that overflows", []string{"observation y", "Uniform(min = -1e+308, max = 1e+308)", "not finite"}, observe(graph.Uniform(-1e308, 1e308), 1)},
		{"prior that overflows", []string{"latent x", "Beta(alpha = 1e+308, beta = 1e+308)", "not finite"}, sample(graph.Beta(1e308, 1e308))},
		{"infinite factor", []string{"the number +Inf is not finite, in the factor"}, factor(func(graph.Expr) graph.Expr { return graph.Exp(1000) })},
		{"infinite branch of a factor", []string{"the number -Inf is not finite, in the factor"}, func(m *graph.Model, z graph.Expr) string {
			m.Factor(graph.If(graph.Greater(z, 1), 0, -inf))
			return lineAbove()
		}},
		{"infinite branch of a scale", []string{"the number +Inf is not finite, in observation y: Normal: sigma = if(z > 1, +Inf, 1)"}, func(m *graph.Model, z graph.Expr) string {
			m.Observe("y", graph.Normal(z, graph.If(graph.Greater(z, 1), inf, 1)), 1)
			return lineAbove()
		}},
		{"infinite multiple of a latent", []string{"the number +Inf is not finite, in latent x: Logistic: mu = z·+Inf"}, func(m *graph.Model, z graph.Expr) string {
			m.Sample("x", graph.Logistic(graph.Mul(z, inf), 1))
			return lineAbove()
		}},
		{"NaN in a sum", []string{"the number NaN is not finite: only the value of an observation may be missing, in latent x: Normal: mu = z + NaN"}, func(m *graph.Model, z graph.Expr) string {
			mu := graph.Add(z, nan)
			at := lineAbove()
			m.Sample("w", graph.Normal(z, 1))
			m.Sample("x", graph.Normal(mu, 1))
			return at
		}},
		{"scale that is a normal latent", []string{"observation y: Normal: sigma = 2·z", "can be negative"}, func(m *graph.Model, z graph.Expr) string {
			m.Observe("y", graph.Normal(0, graph.Mul(2, z)), 1)
			return lineAbove()
		}},
		{"scale that is a uniform latent", []string{"latent x: Gamma: beta = ", "can be negative"}, func(m *graph.Model, z graph.Expr) string {
			s := m.Sample("s", graph.Uniform(-1, 3))
			m.Sample("x", graph.Gamma(2, graph.Add(s, 0.5)))
			return lineAbove()
		}},
		{"probability that is a positive latent", []string{"Bernoulli: p = s", "can leave (0, 1)"}, func(m *graph.Model, z graph.Expr) string {
			s := m.Sample("s", graph.Gamma(2, 2))
			m.Observe("y", graph.Bernoulli(s), 1)
			return lineAbove()
		}},
		{"scale in a branch on something else", []string{"sigma = if(", "nothing keeps z in"}, func(m *graph.Model, z graph.Expr) string {
			other := m.Sample("other", graph.Normal(0, 1))
			m.Observe("y", graph.Normal(0, graph.If(graph.Greater(other, 1), graph.If(graph.Greater(other, 2), z, 2), 1)), 1)
			return lineAbove()
		}},
		{"scale of a latent in a block", []string{"latent x", "can be negative"}, func(m *graph.Model, z graph.Expr) (at string) {
			m.If(graph.Greater(z, 0), func() { // the prior is there on both sides
				m.Sample("x", graph.Normal(0, z))
				at = lineAbove()
			}, nil)
			return at
		}},
		{"scale on the wrong side of its guard", []string{"observation y: Normal: sigma = if(", "can be negative", "nothing keeps z in"}, func(m *graph.Model, z graph.Expr) string {
			m.Observe("y", graph.Normal(0, graph.If(graph.Greater(z, 1), 1, z)), 1)
			return lineAbove()
		}},
		{"scale that a guard cuts too low", []string{"sigma = if(", "nothing keeps z in"}, func(m *graph.Model, z graph.Expr) string {
			m.Observe("y", graph.Normal(0, graph.If(graph.Greater(z, -0.1), z, 1)), 1)
			return lineAbove()
		}},
		{"multiple of a scale in a branch", []string{"sigma = 2·if(", "nothing keeps z in"}, func(m *graph.Model, z graph.Expr) string {
			m.Observe("y", graph.Normal(0, graph.Mul(2, graph.If(graph.Less(z, 1), z, 1))), 1)
			return lineAbove()
		}},
		{"scale less a number", []string{"sigma = if(", "nothing keeps z in"}, func(m *graph.Model, z graph.Expr) string {
			m.Observe("y", graph.Normal(0, graph.Sub(graph.If(graph.Greater(z, 1), z, 3), 1.1)), 1)
			return lineAbove()
		}},
		{"scale after either of two guards", []string{"sigma = if((z < 0 and other < 0), z, 1)", "nothing keeps z in"}, func(m *graph.Model, z graph.Expr) string {
			other := m.Sample("other", graph.Normal(0, 1))
			m.Observe("y", graph.Normal(0, graph.If(graph.Or(graph.Greater(z, 0), graph.Greater(other, 0)), 1, z)), 1)
			return lineAbove()
		}},
		{"scale in a block and a branch", []string{"nothing keeps z in"}, func(m *graph.Model, z graph.Expr) (at string) {
			m.If(graph.Less(z, 2), func() {
				m.Observe("y", graph.Normal(0, graph.If(graph.Greater(z, 1), 1, z)), 1)
				at = lineAbove()
			}, nil)
			return at
		}},
		{"sum of latents in a branch", []string{"sigma = if(", "nothing keeps z + 2·other in"}, func(m *graph.Model, z graph.Expr) string {
			other := m.Sample("other", graph.Normal(0, 1))
			both := graph.And(graph.Greater(z, 0), graph.Greater(other, -0.1))
			m.Observe("y", graph.Normal(0, graph.If(both, graph.Add(z, graph.Mul(2, other)), 1)), 1)
			return lineAbove()
		}},
		{"negative number in a branch", []string{"nothing keeps -1 in"}, func(m *graph.Model, z graph.Expr) string {
			m.Sample("x", graph.Normal(0, graph.If(graph.Greater(z, 0), 1, -1)))
			return lineAbove()
		}},
		{"scale 0 in a branch", []string{"can be negative or 0", "nothing keeps 0 in"}, func(m *graph.Model, z graph.Expr) string {
			m.Sample("x", graph.Normal(0, graph.If(graph.Greater(z, 0), 1, 0)))
			return lineAbove()
		}},
		{"probability of a latent above its guard", []string{"p = if(", "can leave (0, 1)", "nothing keeps 0.5·s in"}, func(m *graph.Model, z graph.Expr) string {
			s := m.Sample("s", graph.Gamma(2, 2))
			m.Observe("y", graph.Bernoulli(graph.If(graph.Greater(s, 2), graph.Mul(0.5, s), 0.1)), 1)
			return lineAbove()
		}},
		{"inside a block", []string{"outside the support of Poisson"}, func(m *graph.Model, z graph.Expr) (at string) {
			m.If(graph.Greater(z, 0), nil, func() {
				m.Observe("y", graph.Poisson(1), -1)
				at = lineAbove()
			})
			return at
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := graph.NewModel()
			z := m.Sample("z", graph.Normal(0, 1))
			require.NoError(t, m.Err())
			at := c.build(m, z)
			first := m.Err()
			require.Error(t, first)
			require.Contains(t, first.Error(), "graph: errors_test.go:")
			for _, s := range c.says {
				require.Contains(t, first.Error(), s)
			}
			require.Contains(t, first.Error(), at)

			m.Observe("later", graph.Poisson(1), -7) // the first error is kept
			m.Sample("z", graph.Normal(0, -1))
			require.Equal(t, first, m.Err())
			d, err := m.Compile()
			require.Nil(t, d)
			require.Equal(t, first, err)
		})
	}
}

func TestNoLatents(t *testing.T) {
	m := graph.NewModel()
	m.Observe("y", graph.Normal(0, 1), 1)
	_, err := m.Compile()
	require.ErrorContains(t, err, "no latents")
}

func TestWithDataErrors(t *testing.T) {
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	m.Observe("k", graph.Poisson(graph.Exp(z)), 1)
	m.Observe("k", graph.Binomial(3, graph.Sigmoid(z)), 1)
	at := lineAbove()
	d := mustCompile(t, m)
	for name, c := range map[string]struct {
		data map[string][]float64
		says []string
	}{
		"too few":           {map[string][]float64{"k": {1}}, []string{`"k"`, "1 values for 2 observations"}},
		"none":              {map[string][]float64{"k": {}}, []string{`"k"`, "0 values for 2 observations"}},
		"too many":          {map[string][]float64{"k": {1, 1, 1}}, []string{`"k"`, "3 values for 2 observations"}},
		"unknown":           {map[string][]float64{"x": {1}}, []string{`no observation has the name "x"; there are ["k"]`}},
		"unknown and empty": {map[string][]float64{"x": nil}, []string{`"x"`}},
		"a latent":          {map[string][]float64{"z": {1}}, []string{`"z"`}},
		"outside support":   {map[string][]float64{"k": {4, 4}}, []string{at, `"k" number 1`, "outside the support of Binomial"}},
		"not whole":         {map[string][]float64{"k": {0.5, 1}}, []string{`"k" number 0`, "outside the support of Poisson"}},
		"infinite":          {map[string][]float64{"k": {1, math.Inf(1)}}, []string{`"k" number 1`, "not finite"}},
	} {
		_, err := d.WithData(c.data)
		require.Error(t, err, name)
		for _, s := range c.says {
			require.ErrorContains(t, err, s, name)
		}
	}
	require.Equal(t, []float64{1, 1}, d.Data(), "a failed WithData has changed the data")
}

func TestWrongSizes(t *testing.T) {
	m := graph.NewModel()
	m.Factor(graph.If(graph.Greater(m.Sample("z", graph.Normal(0, 1)), 0), 1, 2))
	d := mustCompile(t, m)
	_, err := d.LogProbAt([]float64{1, 2}, d.Arrangement().Signs([]float64{1}))
	require.ErrorContains(t, err, "2 coordinates")
	_, err = d.Executor(0, graph.Compute{Out: true})
	require.ErrorContains(t, err, "batch of 0")
	other := graph.NewModel()
	other.Sample("z", graph.Normal(0, 1))
	e := mustCompile(t, other)
	for _, n := range []int{0, -1} {
		_, err = d.Graph(n)
		require.ErrorContains(t, err, fmt.Sprint("for ", n, " samples"))
	}
	for want, n := range map[string]int{"24 EB": 1e18, "24 TB": 1e12} {
		_, err = e.Graph(n)
		require.ErrorContains(t, err, fmt.Sprintf("graph: a graph for %d samples would need %s of memory", n, want))
	}
	require.PanicsWithValue(t, "graph: 2 coordinates for 1 latents", func() { d.Constrain([]float64{1, 2}) })
	require.PanicsWithValue(t, "graph: 0 coordinates for 1 latents", func() { d.Constrain(nil) })
	for i, u := range map[int]float64{-1: 0, 1: 0, 0: math.NaN()} {
		require.PanicsWithValue(t, fmt.Sprintf("graph: coordinate %d given as %v, of 1", i, u), func() { d.PriorStartAt(map[int]float64{i: u}) })
	}
	_, err = d.Engine().Executor(graph.ProgramOf(e), 1, graph.Compute{Out: true})
	require.ErrorContains(t, err, "another model")
}

// A nil Density says so, whatever it is asked.
func TestNilDensity(t *testing.T) {
	given := map[reflect.Type]reflect.Value{}
	for _, v := range []any{rand.New(rand.NewPCG(1, 2)), &graph.Program{}, 1} {
		given[reflect.TypeOf(v)] = reflect.ValueOf(v)
	}
	for _, none := range []*graph.Density{nil, {}} {
		d := reflect.ValueOf(none)
		for i := range d.NumMethod() {
			f := d.Method(i)
			args := make([]reflect.Value, f.Type().NumIn())
			for k := range args {
				args[k] = reflect.Zero(f.Type().In(k))
				if v, ok := given[f.Type().In(k)]; ok {
					args[k] = v
				}
			}
			call := f.Call
			if f.Type().IsVariadic() {
				call = f.CallSlice
			}
			require.PanicsWithValue(t, "graph: a nil density", func() { call(args) }, d.Type().Method(i).Name)
		}
	}
}

// A scale that a guard, or a block around an observation, keeps positive is no
// mistake; nor is one of which nothing is known.
func TestScalesThatAreKept(t *testing.T) {
	m := graph.NewModel()
	z, p := m.Sample("z", graph.Normal(3, 1)), m.Sample("p", graph.Uniform(0, 2))
	m.Observe("y", graph.Normal(0, graph.If(graph.Greater(z, 0), z, 1)), 1)
	m.If(graph.Greater(z, 0), func() { m.Observe("y", graph.Normal(0, z), 1) }, nil)
	m.Observe("y", graph.Normal(0, graph.Mul(z, z)), 1)
	m.Observe("y", graph.Normal(0, graph.Sqrt(z)), 1)
	m.Observe("y", graph.Normal(0, p), 1)
	m.Observe("y", graph.Poisson(graph.Add(1, graph.Mul(2, p))), 1)
	m.Observe("k", graph.Bernoulli(graph.Div(p, 2)), 1)

	q, s := m.Sample("q", graph.Normal(3, 1)), m.Sample("s", graph.Gamma(2, 2))
	third := graph.Sub(graph.Mul(3, z), 0.3)
	sum := graph.Add(z, graph.Mul(2, q))
	for i, scale := range []graph.Expr{
		graph.If(graph.Greater(z, 0.1), z, 0.1),
		graph.If(graph.Less(z, 0.1), 0.1, z),
		graph.If(graph.Greater(z, 0), z, graph.Neg(z)),
		graph.If(graph.Greater(graph.Mul(3, z), 0.3), third, 1),
		graph.If(graph.Greater(third, 0), graph.Sub(z, 0.1), 1),
		graph.Mul(-2, graph.If(graph.Greater(z, 0), -1, z)),
		graph.Add(1.5, graph.If(graph.And(graph.Greater(z, -1), graph.Less(z, 2)), z, 1)),
		graph.If(graph.And(graph.Greater(z, 0), graph.Greater(q, 0)), sum, 1),
		graph.If(graph.Or(graph.Less(z, 0), graph.Less(q, 0)), 1, sum),
		graph.If(graph.Or(graph.Greater(z, 0), graph.Greater(q, 0)), z, 1), // not known
		graph.If(graph.Greater(z, q), graph.Sub(z, q), graph.Sub(q, z)),
		graph.If(graph.Greater(s, 2), graph.Sub(s, 2), graph.Sub(2, s)),
		graph.If(graph.Greater(z, q), 1, graph.If(graph.Greater(q, z), 2, -1)),
		graph.If(graph.Greater(sum, 1), 1, graph.If(graph.Less(sum, 2), 2, -1)), // not known: it is never reached
		graph.If(graph.Greater(z, 1), 1, graph.If(graph.Less(z, 2), 2, -1)),
	} {
		m.Observe("y", graph.Normal(0, scale), 1)
		m.Sample(fmt.Sprint("x", i), graph.Normal(0, scale))
	}
	m.If(graph.Greater(z, 0), func() { m.Observe("y", graph.Normal(0, graph.If(graph.Greater(z, 1), 1, z)), 1) }, nil)
	m.If(graph.Less(q, 1), func() { m.Observe("k", graph.Bernoulli(graph.If(graph.Greater(q, 0), q, 0.5)), 1) }, nil)
	m.Observe("k", graph.Bernoulli(graph.If(graph.Less(s, 2), graph.Mul(0.5, s), 0.1)), 1)
	mustCompile(t, m)
}

// Numbers are factors and deterministic expressions like others.
func TestNumbersAsArguments(t *testing.T) {
	m, plain := graph.NewModel(), graph.NewModel()
	plain.Sample("z", graph.Normal(0, 1))
	z := m.Sample("z", graph.Normal(0, 1))
	m.Factor(-2.5)
	m.If(graph.Greater(z, 1), func() { m.Factor(3) }, nil)
	require.Equal(t, graph.Add(7, 0), m.Deterministic("seven", 7))
	d := mustCompile(t, m)
	close12(t, logProb(t, mustCompile(t, plain), 2)+0.5, logProb(t, d, 2))
	close12(t, logProb(t, mustCompile(t, plain), 0)-2.5, logProb(t, d, 0))
	require.Equal(t, []float64{7}, d.DeterministicAt(nil, []float64{0}))
}

// A term that is infinite wherever the latents are is an error of Compile.
func TestConstantsThatOverflow(t *testing.T) {
	for name, factor := range map[string]func(z graph.Expr) graph.Expr{
		"+Inf": func(z graph.Expr) graph.Expr { return graph.Exp(graph.Add(graph.Mul(0, z), 1000)) },
		"-Inf": func(z graph.Expr) graph.Expr { return graph.Log(graph.Mul(0, z)) },
	} {
		m := graph.NewModel()
		z := m.Sample("z", graph.Normal(0, 1))
		m.Factor(factor(z))
		at := lineAbove()
		_, err := m.Compile()
		require.ErrorContains(t, err, "factor has a constant part of "+name)
		require.ErrorContains(t, err, at, name)
	}
	m := graph.NewModel()
	m.Sample("z", graph.Normal(0, 1))
	m.Factor(1.5e308)
	m.Factor(1.5e308)
	_, err := m.Compile()
	require.ErrorContains(t, err, "add up to +Inf")
}
