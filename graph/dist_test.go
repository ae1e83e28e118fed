package graph_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
)

// A law is a distribution under test: how the language makes it, and what its
// log density is, from a source that shares no code with it.
type law struct {
	name  string
	make  func(p []graph.Expr) graph.Dist
	log   func(x float64, p []float64) float64
	kinds string // of the parameters: r real, p positive, u in (0, 1), c constant
	space space
	// params and xs are constants to try.
	params [][]float64
	xs     []float64
}

// A space is where a distribution lives.
type space int

const (
	discrete space = iota
	line
	half
	unit
	interval
)

func laws() []law {
	type P = []float64
	type E = []graph.Expr
	reals := []float64{-3.7, -0.2, 0, 1.25, 40}
	positives := []float64{1e-9, 0.03, 0.9, 2.5, 60}
	counts := []float64{0, 1, 2, 7, 150}
	scales := [][]float64{{0.3, 0.01}, {-1.5, 2.25}, {1e3, 700}}
	return []law{
		{"Normal", func(p E) graph.Dist { return graph.Normal(p[0], p[1]) },
			func(x float64, p P) float64 { return distuv.Normal{Mu: p[0], Sigma: p[1]}.LogProb(x) }, "rp", line, scales, reals},
		{"Logistic", func(p E) graph.Dist { return graph.Logistic(p[0], p[1]) },
			func(x float64, p P) float64 { // distuv.Logistic overflows in the left tail
				r := math.Abs(x-p[0]) / p[1]
				return -r - math.Log(p[1]) - 2*math.Log1p(math.Exp(-r))
			}, "rp", line, scales, reals},
		{"Laplace", func(p E) graph.Dist { return graph.Laplace(p[0], p[1]) },
			func(x float64, p P) float64 { return distuv.Laplace{Mu: p[0], Scale: p[1]}.LogProb(x) }, "rp", line, scales, reals},
		{"StudentsT", func(p E) graph.Dist { return graph.StudentsT(p[0], p[1], p[2]) },
			func(x float64, p P) float64 { return distuv.StudentsT{Mu: p[0], Sigma: p[1], Nu: p[2]}.LogProb(x) }, "rpp", line,
			[][]float64{{0, 1, 1}, {0.5, 0.1, 4}, {-2, 3, 0.6}}, reals},
		{"Cauchy", func(p E) graph.Dist { return graph.Cauchy(p[0], p[1]) },
			func(x float64, p P) float64 { return distuv.StudentsT{Mu: p[0], Sigma: p[1], Nu: 1}.LogProb(x) }, "rp", line, scales, reals},
		{"Gumbel", func(p E) graph.Dist { return graph.Gumbel(p[0], p[1]) },
			func(x float64, p P) float64 { return distuv.GumbelRight{Mu: p[0], Beta: p[1]}.LogProb(x) }, "rp", line,
			[][]float64{{0.3, 1}, {-1.5, 2.25}, {30, 70}}, reals},
		{"LogNormal", func(p E) graph.Dist { return graph.LogNormal(p[0], p[1]) },
			func(x float64, p P) float64 { return distuv.LogNormal{Mu: p[0], Sigma: p[1]}.LogProb(x) }, "rp", half,
			[][]float64{{0, 1}, {-1.5, 0.4}}, positives},
		{"HalfNormal", func(p E) graph.Dist { return graph.HalfNormal(p[0]) },
			func(x float64, p P) float64 { return 0.5*math.Log(2/math.Pi) - math.Log(p[0]) - x*x/(2*p[0]*p[0]) }, "p", half,
			[][]float64{{1}, {0.2}}, positives},
		{"Exponential", func(p E) graph.Dist { return graph.Exponential(p[0]) },
			func(x float64, p P) float64 { return distuv.Exponential{Rate: p[0]}.LogProb(x) }, "p", half,
			[][]float64{{1}, {0.02}}, positives},
		{"Gamma", func(p E) graph.Dist { return graph.Gamma(p[0], p[1]) },
			func(x float64, p P) float64 { return distuv.Gamma{Alpha: p[0], Beta: p[1]}.LogProb(x) }, "pp", half,
			[][]float64{{1, 1}, {0.3, 5}, {20, 0.5}}, positives},
		{"ChiSquared", func(p E) graph.Dist { return graph.ChiSquared(p[0]) },
			func(x float64, p P) float64 { return distuv.ChiSquared{K: p[0]}.LogProb(x) }, "p", half,
			[][]float64{{1}, {2}, {7.5}}, positives},
		{"Beta", func(p E) graph.Dist { return graph.Beta(p[0], p[1]) },
			func(x float64, p P) float64 { return distuv.Beta{Alpha: p[0], Beta: p[1]}.LogProb(x) }, "pp", unit,
			[][]float64{{2, 3}, {0.5, 0.7}, {30, 4}}, []float64{1e-6, 0.2, 0.5, 0.999}},
		{"HalfCauchy", func(p E) graph.Dist { return graph.HalfCauchy(p[0]) },
			func(x float64, p P) float64 { return math.Ln2 + distuv.StudentsT{Sigma: p[0], Nu: 1}.LogProb(x) }, "p", half,
			[][]float64{{1}, {0.2}}, positives},
		{"Weibull", func(p E) graph.Dist { return graph.Weibull(p[0], p[1]) },
			func(x float64, p P) float64 { return distuv.Weibull{K: p[0], Lambda: p[1]}.LogProb(x) }, "pp", half,
			[][]float64{{1, 1}, {0.4, 5}, {3.5, 20}}, positives},
		{"InverseGamma", func(p E) graph.Dist { return graph.InverseGamma(p[0], p[1]) },
			func(x float64, p P) float64 { return distuv.InverseGamma{Alpha: p[0], Beta: p[1]}.LogProb(x) }, "pp", half,
			[][]float64{{1, 1}, {0.3, 5}, {20, 0.5}}, []float64{1e-3, 0.03, 0.9, 2.5, 60}},
		{"Uniform", func(p E) graph.Dist { return graph.Uniform(p[0], p[1]) },
			func(x float64, p P) float64 { return distuv.Uniform{Min: p[0], Max: p[1]}.LogProb(x) }, "cc", interval,
			[][]float64{{-2, 5}, {-3, 1.5}}, []float64{-1.9, 0, 1.4}},

		{"Poisson", func(p E) graph.Dist { return graph.Poisson(p[0]) },
			func(x float64, p P) float64 { return distuv.Poisson{Lambda: p[0]}.LogProb(x) }, "p", discrete,
			[][]float64{{1}, {1e-8}, {120}}, counts},
		{"Bernoulli", func(p E) graph.Dist { return graph.Bernoulli(p[0]) },
			func(x float64, p P) float64 { return x*math.Log(p[0]) + (1-x)*math.Log1p(-p[0]) }, "u", discrete,
			[][]float64{{0.5}, {0.01}, {1e-12}, {1 - 1e-12}}, []float64{0, 1}},
		{"Binomial", func(p E) graph.Dist { return graph.Binomial(p[0], p[1]) },
			func(x float64, p P) float64 { // distuv.Binomial computes log(1−p)
				return lgamma(p[0]+1) - lgamma(x+1) - lgamma(p[0]-x+1) + x*math.Log(p[1]) + (p[0]-x)*math.Log1p(-p[1])
			}, "cu", discrete,
			[][]float64{{7, 0.3}, {160, 0.9}, {7, 1e-9}}, []float64{0, 1, 2, 7}},
		{"Geometric", func(p E) graph.Dist { return graph.Geometric(p[0]) },
			func(x float64, p P) float64 { return math.Log(p[0]) + (x-1)*math.Log1p(-p[0]) }, "u", discrete,
			[][]float64{{0.5}, {1e-7}, {0.99}}, []float64{1, 2, 30}},
		{"NegativeBinomial", func(p E) graph.Dist { return graph.NegativeBinomial(p[0], p[1]) },
			func(x float64, p P) float64 {
				return lgamma(x+p[0]) - lgamma(p[0]) - lgamma(x+1) + p[0]*math.Log(p[1]) + x*math.Log1p(-p[1])
			}, "pu", discrete,
			[][]float64{{3, 0.4}, {0.7, 0.01}, {40, 0.9}}, counts},
		{"Categorical", func(p E) graph.Dist { return graph.Categorical(p...) },
			func(x float64, p P) float64 { return math.Log(p[int(x)]) - math.Log(p[0]+p[1]+p[2]) }, "ppp", discrete,
			[][]float64{{1, 2, 0.5}, {0.01, 1e-9, 3}}, []float64{0, 1, 2}},
		{"OrderedLogistic", func(p E) graph.Dist { return graph.OrderedLogistic(p[0], orderedCuts...) },
			func(x float64, p P) float64 {
				at := func(k int) float64 { // P(X < k)
					switch k {
					case 0:
						return 0
					case 4:
						return 1
					}
					return sigmoid(orderedCuts[k-1] - p[0])
				}
				return math.Log(at(int(x)+1) - at(int(x)))
			}, "r", discrete, [][]float64{{0.3}, {-1.5}}, []float64{0, 1, 2, 3}},
	}
}

// orderedCuts are those of the ordered logistic distribution under test.
var orderedCuts = []float64{-1.5, 0.25, 0.75}

// Every distribution that the package exports is under test.
func TestAllDistributionsAreTested(t *testing.T) {
	tested := map[string]bool{}
	for _, l := range laws() {
		tested[l.name] = true
	}
	files, err := filepath.Glob("dist*.go")
	require.NoError(t, err)
	found := 0
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		for _, decl := range parsed.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() || f.Recv != nil || f.Type.Results == nil {
				continue
			}
			if result, ok := f.Type.Results.List[0].Type.(*ast.Ident); ok && result.Name == "Dist" {
				found++
				require.True(t, tested[f.Name.Name], "%s is not among the laws", f.Name.Name)
			}
		}
	}
	require.Equal(t, len(tested), found)
}

// PriorStart is in the middle of each prior: within its scale of the median of
// draws. Its scale is half the width in which 68 % of them lie, to a factor of 3,
// which StudentsT needs where it has no mean.
func TestPriorStartIsInTheMiddle(t *testing.T) {
	skipShort(t)
	for _, l := range laws() {
		if l.space == discrete {
			continue
		}
		for seed, p := range l.params {
			d := latentOf(t, l, p)
			u := make([]float64, 10000)
			rng := rand.New(rand.NewPCG(uint64(seed), 6))
			for i := range u {
				d.PriorDraw(u[i:i+1], rng)
			}
			slices.Sort(u)
			center, scale := d.PriorStart()
			require.InDelta(t, u[5000], center[0], scale[0], "%s%v", l.name, p)
			require.InDelta(t, 0, math.Log((u[8413]-u[1587])/2/scale[0]), math.Log(3), "%s%v", l.name, p)
		}
	}
}

func numbers(p []float64) []graph.Expr {
	e := make([]graph.Expr, len(p))
	for i, v := range p {
		e[i] = graph.Add(v, 0)
	}
	return e
}

// Observed with constant parameters, a distribution adds its log density.
func TestObservedConstantParameters(t *testing.T) {
	for _, l := range laws() {
		for _, p := range l.params {
			for _, x := range l.xs {
				m := graph.NewModel()
				m.Sample("z", graph.Normal(0, 1))
				m.Observe("x", l.make(numbers(p)), x)
				close12(t, l.log(x, p)+logNormalPDF(0.5, 0, 1), logProb(t, mustCompile(t, m), 0.5), l.name, p, x)
			}
		}
	}
}

// The references, at values that are in books or short to compute by hand.
func TestKnownValues(t *testing.T) {
	for _, c := range []struct {
		d    graph.Dist
		x    float64
		want float64 // density or mass
	}{
		{graph.Normal(0, 1), 0, 0.3989422804014327},
		{graph.HalfNormal(2), 1, 2 * 0.17603266338214976},
		{graph.Laplace(0, 1), 1, 0.5 / math.E},
		{graph.Logistic(0, 1), 0, 0.25},
		{graph.StudentsT(0, 1, 1), 1, 1 / (2 * math.Pi)}, // Cauchy
		{graph.LogNormal(0, 1), 1, 0.3989422804014327},
		{graph.Gamma(3, 2), 1, 4 * math.Exp(-2)},
		{graph.ChiSquared(2), 3, 0.5 * math.Exp(-1.5)},
		{graph.Exponential(2), 1.5, 2 * math.Exp(-3)},
		{graph.Beta(2, 3), 0.5, 1.5},
		{graph.Uniform(-1, 3), 3, 0.25},
		{graph.Poisson(2), 3, 8. / 6 * math.Exp(-2)},
		{graph.Bernoulli(0.3), 0, 0.7},
		{graph.Binomial(4, 0.5), 2, 0.375},
		{graph.Binomial(0, 0.5), 0, 1},
		{graph.Geometric(0.25), 3, 0.140625},
		{graph.NegativeBinomial(2, 0.5), 1, 0.25},
		{graph.NegativeBinomial(0.5, 0.5), 1, 0.5 * 0.5 * math.Sqrt(0.5)},
	} {
		m := graph.NewModel()
		m.Sample("z", graph.Normal(0, 1))
		m.Observe("x", c.d, c.x)
		close12(t, math.Log(c.want), logProb(t, mustCompile(t, m), 0)-logNormalPDF(0, 0, 1), c.want)
	}
}

// links give parameters of each kind as functions of a latent: in the language,
// and in plain Go.
var links = map[byte][]struct {
	name  string
	expr  func(z graph.Expr) graph.Expr
	plain func(z float64) float64
}{
	'r': {
		{"2z−1", func(z graph.Expr) graph.Expr { return graph.Sub(graph.Mul(2, z), 1) }, func(z float64) float64 { return 2*z - 1 }},
		{"sin", graph.Sin[graph.Expr], math.Sin},
	},
	'p': {
		{"exp", graph.Exp[graph.Expr], math.Exp},
		{"3exp(z/2)", func(z graph.Expr) graph.Expr { return graph.Mul(3, graph.Exp(graph.Div(z, 2))) },
			func(z float64) float64 { return 3 * math.Exp(z/2) }},
		{"softplus", graph.Softplus[graph.Expr], func(z float64) float64 { return math.Log1p(math.Exp(z)) }},
		{"z²+½", func(z graph.Expr) graph.Expr { return graph.Add(graph.Square(z), 0.5) }, func(z float64) float64 { return z*z + 0.5 }},
		{"1/σ", func(z graph.Expr) graph.Expr { return graph.Div(1, graph.Sigmoid(z)) }, func(z float64) float64 { return 1 + math.Exp(-z) }},
	},
	'u': {
		{"sigmoid", graph.Sigmoid[graph.Expr], sigmoid},
		{"1−sigmoid", func(z graph.Expr) graph.Expr { return graph.Sub(1, graph.Sigmoid(z)) }, func(z float64) float64 { return sigmoid(-z) }},
		{"sigmoid/2", func(z graph.Expr) graph.Expr { return graph.Div(graph.Sigmoid(z), 2) }, func(z float64) float64 { return sigmoid(z) / 2 }},
		{"exp(−z²−0.1)", func(z graph.Expr) graph.Expr { return graph.Exp(graph.Sub(-0.1, graph.Square(z))) },
			func(z float64) float64 { return math.Exp(-0.1 - z*z) }},
	},
}

// Observed with a parameter that depends on a latent, for each parameter and
// each link: values, and gradients by central differences of the reference.
func TestObservedLatentParameters(t *testing.T) {
	skipShort(t)
	trusted, all := 0, 0
	for _, l := range laws() {
		for which, kind := range []byte(l.kinds) {
			for _, link := range links[kind] {
				for _, x := range l.xs[1:] {
					m := graph.NewModel()
					z := m.Sample("z", graph.Normal(0, 1))
					base := l.params[0]
					p := numbers(base)
					p[which] = link.expr(z)
					m.Observe("x", l.make(p), x)
					d := mustCompile(t, m)
					want := func(z float64) float64 {
						q := append([]float64(nil), base...)
						q[which] = link.plain(z)
						return l.log(x, q) + logNormalPDF(z, 0, 1)
					}
					for _, z := range []float64{-1.7, -0.3, 0.45, 2.1} {
						what := fmt.Sprint(l.name, base, " parameter ", which, " = ", link.name, " x = ", x, " z = ", z)
						close12(t, want(z), logProb(t, d, z), what)
						slope, trust := central(want, z)
						all++
						if trust {
							trusted++
							closeTo(t, slope, gradient(t, d, z)[0], 1e-6, what)
						}
					}
				}
			}
		}
	}
	require.Greater(t, trusted, all*9/10, "central differences are no oracle here")
}

// All parameters at once, each from its own latent, and the observations of one
// name batched.
func TestObservedAllParametersLatent(t *testing.T) {
	for _, l := range laws() {
		m := graph.NewModel()
		var z, p []graph.Expr
		for i, kind := range []byte(l.kinds) {
			z = append(z, m.Sample(fmt.Sprint("z", i), graph.Normal(0, 1)))
			if kind == 'c' {
				p = append(p, graph.Add(l.params[0][i], 0))
			} else {
				p = append(p, links[kind][0].expr(z[i]))
			}
		}
		for _, x := range l.xs {
			m.Observe("x", l.make(p), x)
		}
		d := mustCompile(t, m)
		want := func(z []float64) float64 {
			sum := 0.0
			q := make([]float64, len(z))
			for i, kind := range []byte(l.kinds) {
				sum += logNormalPDF(z[i], 0, 1)
				if q[i] = l.params[0][i]; kind != 'c' {
					q[i] = links[kind][0].plain(z[i])
				}
			}
			for _, x := range l.xs {
				sum += l.log(x, q)
			}
			return sum
		}
		at := []float64{0.3, -0.45, 0.8}[:len(z)]
		close12(t, want(at), logProb(t, d, at...), l.name)
		for i, g := range gradient(t, d, at...) {
			slope, trust := partial(want, at, i)
			if trust {
				closeTo(t, slope, g, 1e-6, l.name, i)
			}
		}
	}
}

// Far out, where naive formulas give −Inf or NaN, values and gradients are
// those of the limits.
func TestExtremes(t *testing.T) {
	for _, c := range []struct {
		name  string
		dist  func(z graph.Expr) graph.Dist
		x     float64
		z     float64
		value float64
		slope float64
	}{
		{"Bernoulli 1", bernoulliLogit, 1, -40, -40, 1},
		{"Bernoulli 1", bernoulliLogit, 1, 40, -math.Exp(-40), math.Exp(-40)},
		{"Bernoulli 0", bernoulliLogit, 0, 40, -40, -1},
		{"Bernoulli 0", bernoulliLogit, 0, -40, -math.Exp(-40), -math.Exp(-40)},
		{"Bernoulli 1", bernoulliLogit, 1, -800, -800, 1},
		{"Bernoulli 0", bernoulliLogit, 0, 800, -800, -1},
		{"Bernoulli 1−σ 0", bernoulliFlipped, 0, -800, -800, 1},
		{"Bernoulli 1−σ 1", bernoulliFlipped, 1, 800, -800, -1},
		{"Binomial 0 of 5", binomialLogit, 0, 400, -2000, -5},
		{"Binomial 5 of 5", binomialLogit, 5, -400, -2000, 5},
		{"Geometric 1", geometricLogit, 1, -400, -400, 1},
		{"Geometric 4", geometricLogit, 4, 400, -1200, -3},
		{"NegativeBinomial 0", negativeBinomialLogit, 0, -400, -1200, 3},
		{"NegativeBinomial 0", negativeBinomialLogit, 0, 400, 0, 0},
		{"Poisson 0", poissonLog, 0, -800, 0, 0},
		{"Poisson 0", poissonLog, 0, -40, -math.Exp(-40), -math.Exp(-40)},
		{"Poisson 2", poissonLog, 2, -800, -1600 - math.Ln2, 2},
		{"Exponential", func(z graph.Expr) graph.Dist { return graph.Exponential(graph.Exp(z)) }, 1, -800, -800, 1},
		{"HalfNormal", func(z graph.Expr) graph.Dist { return graph.HalfNormal(graph.Exp(z)) }, 1, 300,
			0.5*math.Log(2/math.Pi) - 300, -1},
		{"Logistic", func(z graph.Expr) graph.Dist { return graph.Logistic(z, 1) }, 0, -900, -900, 1},
		{"Logistic", func(z graph.Expr) graph.Dist { return graph.Logistic(z, 1) }, 0, 900, -900, -1},
	} {
		m := graph.NewModel()
		z := m.Sample("z", graph.Normal(0, 1000))
		m.Observe("x", c.dist(z), c.x)
		d := mustCompile(t, m)
		closeTo(t, logNormalPDF(c.z, 0, 1000)+c.value, logProb(t, d, c.z), 1e-13, c.name, c.z)
		closeTo(t, -c.z*1e-6+c.slope, gradient(t, d, c.z)[0], 1e-13, c.name, "gradient", c.z)
	}
}

func bernoulliLogit(z graph.Expr) graph.Dist { return graph.Bernoulli(graph.Sigmoid(z)) }
func bernoulliFlipped(z graph.Expr) graph.Dist {
	return graph.Bernoulli(graph.Sub(1, graph.Sigmoid(z)))
}
func binomialLogit(z graph.Expr) graph.Dist  { return graph.Binomial(5, graph.Sigmoid(z)) }
func geometricLogit(z graph.Expr) graph.Dist { return graph.Geometric(graph.Sigmoid(z)) }
func negativeBinomialLogit(z graph.Expr) graph.Dist {
	return graph.NegativeBinomial(3, graph.Sigmoid(z))
}
func poissonLog(z graph.Expr) graph.Dist { return graph.Poisson(graph.Exp(z)) }

// constrain is the transform of a space and its log-Jacobian, by their
// definitions.
func constrain(s space, p []float64, u float64) (x, logJac float64) {
	switch s {
	case half:
		return math.Exp(u), u
	case unit:
		return sigmoid(u), logSigmoid(u) + logSigmoid(-u)
	case interval:
		return p[0] + (p[1]-p[0])*sigmoid(u), math.Log(p[1]-p[0]) + logSigmoid(u) + logSigmoid(-u)
	}
	return u, 0
}

// As a prior, a distribution gives log p(x(u)) + log |dx/du| in its
// unconstrained coordinate u, and that is a density.
func TestLatentDensity(t *testing.T) {
	for _, l := range laws() {
		if l.space == discrete {
			continue
		}
		for _, p := range l.params {
			m := graph.NewModel()
			m.Sample("x", l.make(numbers(p)))
			d := mustCompile(t, m)
			require.Equal(t, l.space != line, d.Coordinate(0).Transformed(), l.name)
			want := func(u float64) float64 {
				x, logJac := constrain(l.space, p, u)
				return l.log(x, p) + logJac
			}
			for _, u := range []float64{-6, -1.3, 0.2, 1, 4} {
				what := fmt.Sprint(l.name, p, " u = ", u)
				x, _ := constrain(l.space, p, u)
				close12(t, x, d.Constrain([]float64{u})[0], what)
				if l.space == unit || l.space == interval {
					closeTo(t, want(u), logProb(t, d, u), 1e-10, what) // 1 − x(u) has rounding in the reference
				} else {
					close12(t, want(u), logProb(t, d, u), what)
				}
				if slope, trust := central(want, u); trust {
					closeTo(t, slope, gradient(t, d, u)[0], 1e-6, what)
				}
			}
			requireNormalised(t, d, l, p)
		}
	}
}

// requireNormalised integrates the density over the line by quadrature, on
// pieces around its centre. Cauchy tails are cut where 1e-6 is left of them.
func requireNormalised(t *testing.T, d *graph.Density, l law, p []float64) {
	t.Helper()
	center, scale := d.PriorStart()
	x, err := d.Executor(1, graph.Compute{Out: true})
	require.NoError(t, err)
	f := func(u float64) float64 {
		x.Z[0] = u
		if err := x.Run(); err != nil {
			t.Fatal(err)
		}
		return math.Exp(x.Out[0])
	}
	if slices.Contains([]string{"StudentsT", "Cauchy"}, l.name) { // heavy tails: u = centre + sinh(v)
		g := func(v float64) float64 { return f(center[0]+scale[0]*math.Sinh(v)) * scale[0] * math.Cosh(v) }
		total := 0.0
		for v := -60.0; v < 60; v += 2 {
			total += quad.Fixed(g, v, v+2, 40, nil, 0)
		}
		closeTo(t, 1, total, 1e-9, l.name, p)
		return
	}
	total := 0.0
	for k := -60.0; k < 60; k++ {
		total += quad.Fixed(f, center[0]+k*scale[0], center[0]+(k+1)*scale[0], 40, nil, 0)
	}
	closeTo(t, 1, total, 1e-9, l.name, p)
}

// Priors whose parameters are latents, chained: each density is conditional.
func TestLatentPriorChain(t *testing.T) {
	for _, l := range laws() {
		if l.space == discrete || l.space == interval {
			continue
		}
		m := graph.NewModel()
		var p []graph.Expr
		for i, kind := range []byte(l.kinds) {
			z := m.Sample(fmt.Sprint("z", i), graph.Normal(0, 1))
			p = append(p, links[kind][1].expr(z))
		}
		m.Sample("x", l.make(p))
		d := mustCompile(t, m)
		want := func(z []float64) float64 {
			n := len(z) - 1
			sum := 0.0
			q := make([]float64, n)
			for i, kind := range []byte(l.kinds) {
				q[i] = links[kind][1].plain(z[i])
				sum += logNormalPDF(z[i], 0, 1)
			}
			x, logJac := constrain(l.space, q, z[n])
			return sum + l.log(x, q) + logJac
		}
		at := append([]float64{0.35, -0.6, 1.1}[:len(p)], 0.7)
		close12(t, want(at), logProb(t, d, at...), l.name)
		for i, g := range gradient(t, d, at...) {
			slope, trust := partial(want, at, i)
			require.True(t, trust, l.name)
			closeTo(t, slope, g, 1e-6, l.name, i)
		}
	}
}

// Scales whose squares are beyond the numbers, as branches and as multiples.
func TestExtremeScales(t *testing.T) {
	for _, c := range []struct {
		scale         func(z graph.Expr) graph.Expr
		x, z, log     float64 // log is that of the scale at z
		slope, square float64 // of the log density by z, and (x/scale)²
	}{
		{tinyOrHuge, 2e-160, 1, math.Log(1e-160), 0, 4},
		{tinyOrHuge, 2e160, -1, math.Log(1e160), 0, 4},
		{tinyMultiple, 2e-200, 0, math.Log(1e-200), 3, 4},
		{tinyMultiple, 2e-200, math.Ln2, math.Log(2e-200), 0, 1},
	} {
		m := graph.NewModel()
		z := m.Sample("z", graph.Normal(0, 1))
		m.Observe("x", graph.Normal(0, c.scale(z)), c.x)
		d := mustCompile(t, m)
		closeTo(t, logNormalPDF(c.z, 0, 1)-c.square/2-c.log-0.5*math.Log(2*math.Pi), logProb(t, d, c.z), 1e-13, c)
		closeTo(t, c.slope-c.z, gradient(t, d, c.z)[0], 1e-13, c)
	}
}

func tinyOrHuge(z graph.Expr) graph.Expr   { return graph.If(graph.Greater(z, 0), 1e-160, 1e160) }
func tinyMultiple(z graph.Expr) graph.Expr { return graph.Mul(1e-200, graph.Exp(z)) }

// An exponential or half-normal observation may be 0, as in gonum and SciPy.
func TestObservedZero(t *testing.T) {
	for name, c := range map[string]struct {
		d    graph.Dist
		want float64
	}{
		"Exponential": {graph.Exponential(2.5), math.Log(2.5)},
		"HalfNormal":  {graph.HalfNormal(2), math.Ln2 + logNormalPDF(0, 0, 2)},
	} {
		m := graph.NewModel()
		m.Sample("z", graph.Normal(0, 1))
		m.Observe("x", c.d, 0)
		d, err := m.Compile()
		require.NoError(t, err, name)
		got, err := d.LogProb([]float64{0.4})
		require.NoError(t, err)
		require.InDelta(t, c.want+logNormalPDF(0.4, 0, 1), got, 1e-12, name)
	}
	m := graph.NewModel()
	m.Sample("z", graph.Normal(0, 1))
	m.Observe("x", graph.Gamma(2, 1), 0)
	require.Error(t, m.Err())
}
