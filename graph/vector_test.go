package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
)

// logDet is log |det ∂f/∂z| by central differences.
func logDet(f func(z []float64) []float64, z []float64) float64 {
	n := len(z)
	jacobian := mat.NewDense(n, n, nil)
	for i := range n {
		for k := range n {
			slope, _ := partial(func(z []float64) float64 { return f(z)[k] }, z, i)
			jacobian.Set(k, i, slope)
		}
	}
	log, _ := mat.LogDet(jacobian)
	return log
}

// integral is that of the density of a model of two latents, which falls off within [−size, size].
func integral(t *testing.T, d *graph.Density, size float64) (sum float64) {
	t.Helper()
	const h = 0.25
	n := int(2*size/h) + 1
	e, err := d.Executor(n, graph.Compute{Out: true})
	require.NoError(t, err)
	for k := range n {
		e.Z[k] = -size + h*float64(k)
	}
	for k := range n {
		for i := range n {
			e.Z[n+i] = e.Z[k]
		}
		require.NoError(t, e.Run())
		for _, v := range e.Out {
			sum += h * h * math.Exp(v)
		}
	}
	return sum
}

// sameResiduals requires that the density of residuals that are drawn, over their scale, is log r of a model without data.
func sameResiduals(t *testing.T, d *graph.Density) {
	t.Helper()
	const n = 50
	r, err := d.Residuals(n)
	require.NoError(t, err)
	r.Draw(rand.New(rand.NewPCG(7, 7)))
	scale := make([]float64, n)
	r.LogScale(scale)
	for k := range n {
		z := make([]float64, d.Dim())
		for i := range z {
			z[i] = r.Z[i*n+k]
		}
		closeTo(t, logProb(t, d, z...), r.LogPrior[k]-scale[k], 1e-10)
	}
	e := slices.Clone(r.E)
	r.Invert()
	for i := range e {
		closeTo(t, e[i], r.E[i], 1e-7)
	}
}

// isUniform requires that a sample is of the uniform distribution on (0, 1), by the statistic of Kolmogorov and Smirnov.
func isUniform(t *testing.T, u []float64, what ...any) {
	t.Helper()
	slices.Sort(u)
	n, worst := float64(len(u)), 0.0
	for i, v := range u {
		worst = math.Max(worst, math.Max(math.Abs(v-float64(i)/n), math.Abs(v-float64(i+1)/n)))
	}
	require.Less(t, worst*math.Sqrt(n), 2.2, what...) // probability 1e-4
}

func TestSampleN(t *testing.T) {
	m := graph.NewModel()
	x := m.SampleN("x", 3, graph.Gamma(2, 3))
	require.Len(t, x, 3)
	m.Factor(graph.Mul(x[2], -1))
	d := mustCompile(t, m)
	require.Equal(t, []string{"x[0]", "x[1]", "x[2]"}, d.Latents())
	require.InDelta(t, -math.Exp(0.3), logProb(t, d, 0, 0, 0.3)-3*logProbGamma(0)-logProbGamma(0.3)+logProbGamma(0), 1e-12)
	m = graph.NewModel()
	m.SampleN("x", 0, graph.Normal(0, 1))
	require.ErrorContains(t, m.Err(), `latent "x": 0 latents`)
}

// logProbGamma is the density of the coordinate of a Gamma(2, 3).
func logProbGamma(u float64) float64 {
	return distuv.Gamma{Alpha: 2, Beta: 3}.LogProb(math.Exp(u)) + u
}

// The density is that of the shares, by the Jacobian of n − 1 of them; it integrates to 1; draws have its marginals.
func TestDirichlet(t *testing.T) {
	skipShort(t)
	for _, alpha := range [][]float64{{1, 1, 1}, {0.3, 2, 5}, {20, 1, 0.5}, {2, 3}, {0.7, 1, 2, 30}} {
		m := graph.NewModel()
		theta := m.SampleVector("theta", graph.Dirichlet(alpha...))
		require.Len(t, theta, len(alpha))
		d := mustCompile(t, m)
		require.Equal(t, len(alpha)-1, d.Dim())
		require.Equal(t, "theta_stick[0]", d.Latents()[0])
		require.Equal(t, slices.Repeat([]string{"theta"}, len(alpha)), d.Deterministics())
		shares := func(z []float64) []float64 { return d.DeterministicAt(nil, z) }
		law := distmv.NewDirichlet(alpha, nil)
		rng := rand.New(rand.NewPCG(1, 1))
		for range 10 {
			z := make([]float64, d.Dim())
			for i := range z {
				z[i] = rng.NormFloat64()
			}
			x := shares(z)
			total := 0.0
			for _, v := range x {
				total += v
			}
			close12(t, 1, total)
			closeTo(t, law.LogProb(x)+logDet(func(z []float64) []float64 { return shares(z)[:len(z)] }, z), logProb(t, d, z...), 1e-7)
		}
		if len(alpha) == 3 {
			require.InDelta(t, 1, integral(t, d, 60), 1e-6)
		}
		n := long.Or(20_000, 100_000)
		total := 0.0
		for _, a := range alpha {
			total += a
		}
		u := make([][]float64, len(alpha))
		for range n {
			for k, x := range shares(d.PriorDraw(nil, rng)) {
				u[k] = append(u[k], distuv.Beta{Alpha: alpha[k], Beta: total - alpha[k]}.CDF(x))
			}
		}
		for k := range u {
			isUniform(t, u[k], alpha, k)
		}
		sameResiduals(t, d)
	}
}

// Concentrations may be expressions: log r is that of the numbers, with its gradient. Logarithms of shares do not underflow.
func TestDirichletOfLatents(t *testing.T) {
	build := func(shift float64) *graph.Density {
		m := graph.NewModel()
		a := m.Sample("a", graph.LogNormal(0, 1))
		theta := m.SampleVector("theta", graph.Dirichlet(a, graph.Numbers(2.0)[0], graph.Add(a, shift)))
		m.Factor(graph.Mul(3, graph.Log(theta[2])))
		return mustCompile(t, m)
	}
	d := build(1)
	z := []float64{0.4, -0.3, 0.8}
	a, x := math.Exp(z[0]), d.DeterministicAt(nil, z)
	want := logNormalPDF(z[0], 0, 1) + distmv.NewDirichlet([]float64{a, 2, a + 1}, nil).LogProb(x) + 3*math.Log(x[2])
	v0, v1 := sigmoid(z[1]), sigmoid(z[2])
	want += math.Log(v0*(1-v0)) + math.Log(v1*(1-v1)) + math.Log(1-v0)
	close12(t, want, logProb(t, d, z...))
	for i := range z {
		slope, _ := partial(func(z []float64) float64 { return logProb(t, d, z...) }, z, i)
		closeTo(t, slope, gradient(t, d, z...)[i], 1e-8)
	}
	far := []float64{0.4, 900, 900} // shares of e^−900 and e^−1800
	require.False(t, math.IsInf(logProb(t, d, far...), 0))
	require.InDelta(t, -3*1800-(a+1)*1800-2*900, logProb(t, d, far...), 100)
}

// The density of latents, and of observed vectors, is the normal's; its gradient is that of finite differences.
func TestMultivariateNormal(t *testing.T) {
	mean := []float64{1, -2, 0.5}
	chol := [][]float64{{2}, {-1, 0.5}, {0.3, 0.7, 1.5}}
	sigma := mat.NewSymDense(3, nil)
	for i := range 3 {
		for j := range i + 1 {
			v := 0.0
			for k := range j + 1 {
				v += chol[i][k] * chol[j][k]
			}
			sigma.SetSym(i, j, v)
		}
	}
	law, ok := distmv.NewNormal(mean, sigma, nil)
	require.True(t, ok)

	m := graph.NewModel()
	x := m.SampleVector("x", graph.MultivariateNormal(mean, chol))
	m.Factor(graph.Mul(0, x[0]))
	d := mustCompile(t, m)
	require.Equal(t, []string{"x[0]", "x[1]", "x[2]"}, d.Latents())
	rng := rand.New(rand.NewPCG(1, 1))
	for range 10 {
		z := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		close12(t, law.LogProb(z), logProb(t, d, z...))
		for i := range z {
			slope, _ := partial(func(z []float64) float64 { return law.LogProb(z) }, z, i)
			closeTo(t, slope, gradient(t, d, z...)[i], 1e-8)
		}
	}
	sameResiduals(t, d)
	const n = 20000
	draws := mat.NewDense(n, 3, nil)
	for k := range n {
		draws.SetRow(k, d.PriorDraw(nil, rng))
	}
	covariance(t, draws, mean, sigma)

	// As a likelihood, with the mean and the factor latents: of two vectors.
	m = graph.NewModel()
	a, b := m.Sample("a", graph.Normal(0, 1)), m.Sample("b", graph.LogNormal(0, 1))
	full := [][]graph.Expr{{b, {}, {}}, {graph.Numbers(-1)[0], graph.Numbers(0.5)[0], {}}, graph.Numbers(0.3, 0.7, 1.5)}
	normal := graph.MultivariateNormal([]graph.Expr{a, graph.Numbers(-2)[0], graph.Add(a, -0.5)}, full)
	data := [][]float64{{0.3, 0.1, -1}, {2, -3, 0.4}}
	for _, xs := range data {
		m.ObserveVector("y", normal, xs)
	}
	d = mustCompile(t, m)
	require.Equal(t, slices.Repeat([]string{"y"}, 6), d.Observations())
	z := []float64{1, math.Ln2} // where it is the normal of above
	want := logNormalPDF(z[0], 0, 1) + logNormalPDF(z[1], 0, 1)
	for how, e := range both(t, d, z, d.Arrangement().Signs(z)) {
		close12(t, want+law.LogProb(data[0])+law.LogProb(data[1]), e.Out[0], how)
		for i := range z {
			slope, _ := partial(func(z []float64) float64 { return logProb(t, d, z...) }, z, i)
			closeTo(t, slope, e.Grad[i], 1e-8, how)
		}
	}
	other, err := d.WithData(map[string][]float64{"y": {1, 2, 3, 4, 5, 6}})
	require.NoError(t, err)
	close12(t, want+law.LogProb([]float64{1, 2, 3})+law.LogProb([]float64{4, 5, 6}), logProb(t, other, z...))
	require.Equal(t, d.Fingerprint(), other.Fingerprint())
	draws = mat.NewDense(n, 3, nil)
	for k := range n {
		draws.SetRow(k, d.Replicate(nil, z, rng)[3:])
	}
	covariance(t, draws, mean, sigma)
}

// covariance requires the mean and the covariance of draws within 5 standard errors.
func covariance(t *testing.T, draws *mat.Dense, mean []float64, sigma *mat.SymDense) {
	t.Helper()
	rows, n := draws.Dims()
	var got mat.SymDense
	stat.CovarianceMatrix(&got, draws, nil)
	for i := range n {
		require.InDelta(t, mean[i], stat.Mean(mat.Col(nil, i, draws), nil), 5*math.Sqrt(sigma.At(i, i)/float64(rows)))
		for j := range i + 1 {
			se := math.Sqrt((sigma.At(i, i)*sigma.At(j, j) + sigma.At(i, j)*sigma.At(i, j)) / float64(rows))
			require.InDelta(t, sigma.At(i, j), got.At(i, j), 5*se, "%d, %d", i, j)
		}
	}
}

// The density of ordered values is n! times that of the draws, by the Jacobian; it integrates to 1; draws from the prior are sorted draws.
func TestOrdered(t *testing.T) {
	skipShort(t)
	for name, c := range map[string]struct {
		dist graph.Dist
		law  interface {
			LogProb(float64) float64
			CDF(float64) float64
		}
	}{
		"normal":      {graph.Normal(1, 2), distuv.Normal{Mu: 1, Sigma: 2}},
		"lognormal":   {graph.LogNormal(0.5, 0.7), distuv.LogNormal{Mu: 0.5, Sigma: 0.7}},
		"exponential": {graph.Exponential(3), distuv.Exponential{Rate: 3}},
		"half normal": {graph.HalfNormal(2), halfNormal{2}},
		"logistic":    {graph.Logistic(-1, 0.5), logisticLaw{-1, 0.5}},
		"uniform":     {graph.Uniform(-1, 3), distuv.Uniform{Min: -1, Max: 3}},
	} {
		rng := rand.New(rand.NewPCG(1, 1))
		for _, n := range []int{1, 2, 5} {
			m := graph.NewModel()
			x := m.SampleVector("x", graph.Ordered(n, c.dist))
			require.Len(t, x, n)
			d := mustCompile(t, m)
			values := func(z []float64) []float64 { return d.DeterministicAt(nil, z) }
			for range 5 {
				z := d.PriorDraw(nil, rng)
				want := lgamma(float64(n+1)) + logDet(values, z)
				for _, v := range values(z) {
					want += c.law.LogProb(v)
				}
				closeTo(t, want, logProb(t, d, z...), 1e-6, name, n)
				for i := range z {
					slope, _ := partial(func(z []float64) float64 { return logProb(t, d, z...) }, z, i)
					closeTo(t, slope, gradient(t, d, z...)[i], 1e-6, name, n)
				}
			}
			if n == 2 {
				require.Equal(t, []string{"x_least", "x_gap[0]"}, d.Latents())
				require.Equal(t, []string{"x", "x"}, d.Deterministics())
				require.InDelta(t, 1, integral(t, d, 40), 1e-6, name)
			}
			draws := long.Or(10_000, 30_000)
			u := make([][]float64, n)
			for range draws {
				x := values(d.PriorDraw(nil, rng))
				require.True(t, slices.IsSorted(x))
				for k, v := range x {
					u[k] = append(u[k], distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.CDF(c.law.CDF(v)))
				}
			}
			for k := range u {
				isUniform(t, u[k], name, n, k)
			}
			sameResiduals(t, d)

			// The prior's centre and scale are about the draws' median and standard deviation.
			center, scale := d.PriorStart()
			least := make([]float64, draws)
			for k := range least {
				least[k] = d.PriorDraw(nil, rng)[0]
			}
			require.InDelta(t, stat.StdDev(least, nil), scale[0], 0.5*scale[0], name)
			slices.Sort(least)
			require.InDelta(t, least[draws/2], center[0], 0.05*scale[0], name)
		}
	}
}

type logisticLaw struct{ mu, s float64 }

func (l logisticLaw) LogProb(x float64) float64 {
	return logSigmoid((x-l.mu)/l.s) + logSigmoid((l.mu-x)/l.s) - math.Log(l.s)
}
func (l logisticLaw) CDF(x float64) float64 { return sigmoid((x - l.mu) / l.s) }

type halfNormal struct{ scale float64 }

func (h halfNormal) LogProb(x float64) float64 {
	return math.Ln2 + distuv.Normal{Sigma: h.scale}.LogProb(x)
}
func (h halfNormal) CDF(x float64) float64 { return 2*distuv.Normal{Sigma: h.scale}.CDF(x) - 1 }

// Parameters of ordered values may be latents.
func TestOrderedOfLatents(t *testing.T) {
	m := graph.NewModel()
	mu, sigma := m.Sample("mu", graph.Normal(0, 1)), m.Sample("sigma", graph.LogNormal(0, 1))
	x := m.SampleVector("x", graph.Ordered(3, graph.Normal(mu, sigma)))
	m.Observe("y", graph.Normal(x[1], 0.5), 0.7)
	d := mustCompile(t, m)
	z := []float64{0.3, -0.2, -0.9, 0.1, 0.4}
	v := d.DeterministicAt(nil, z)
	require.InDelta(t, -0.9+math.Exp(0.1), v[1], 1e-14)
	require.InDelta(t, -0.9+math.Exp(0.1)+math.Exp(0.4), v[2], 1e-14)
	want := logNormalPDF(z[0], 0, 1) + logNormalPDF(z[1], 0, 1) + math.Log(6) + z[3] + z[4] + logNormalPDF(0.7, v[1], 0.5)
	for _, x := range v {
		want += logNormalPDF(x, z[0], math.Exp(z[1]))
	}
	close12(t, want, logProb(t, d, z...))
	for i := range z {
		slope, _ := partial(func(z []float64) float64 { return logProb(t, d, z...) }, z, i)
		closeTo(t, slope, gradient(t, d, z...)[i], 1e-8)
	}
	require.Equal(t, [][]int{nil, nil, {0, 1}, {0, 1, 2}, {0, 1, 2, 3}}, d.Parents())
	// Far in the tail of the prior too there are draws above what is given.
	rng := rand.New(rand.NewPCG(1, 1))
	for _, far := range []float64{-1e6, -40, 40, 1e6} {
		center, scale := d.PriorStartAt(map[int]float64{0: 0, 1: 0, 2: far})
		for i := range center {
			require.False(t, math.IsNaN(center[i]) || math.IsInf(center[i], 0) || !(scale[i] > 0), "%v: %v %v", far, center, scale)
		}
	}
	require.Len(t, d.PriorDraw(nil, rng), 5)
}

func TestVectorErrors(t *testing.T) {
	z := func(m *graph.Model) graph.Expr { return m.Sample("z", graph.Normal(0, 1)) }
	two := []float64{0, 0}
	for says, build := range map[string]func(m *graph.Model){
		"Dirichlet: 1 concentrations":                        func(m *graph.Model) { m.SampleVector("x", graph.Dirichlet(1)) },
		"Dirichlet: alpha[1] = -1 must be positive":          func(m *graph.Model) { m.SampleVector("x", graph.Dirichlet(1, -1)) },
		"Dirichlet: alpha[2] = 0 must be positive":           func(m *graph.Model) { m.SampleVector("x", graph.Dirichlet(1, 1, 0)) },
		"Beta: alpha = z can be negative or 0":               func(m *graph.Model) { m.SampleVector("x", graph.Dirichlet(slices.Repeat([]graph.Expr{z(m)}, 2)...)) },
		"Dirichlet cannot be observed":                       func(m *graph.Model) { m.ObserveVector("x", graph.Dirichlet(1, 1), two) },
		"Ordered cannot be observed":                         func(m *graph.Model) { m.ObserveVector("x", graph.Ordered(2, graph.Normal(0, 1)), two) },
		"the distribution is empty; make one with Dirichlet": func(m *graph.Model) { m.SampleVector("x", graph.VectorDist{}) },
		"a Cholesky factor of 1 rows for a mean of 2": func(m *graph.Model) {
			m.SampleVector("x", graph.MultivariateNormal(two, [][]float64{{1}}))
		},
		"a Cholesky factor of 0 rows for a mean of 0": func(m *graph.Model) {
			m.SampleVector("x", graph.MultivariateNormal([]float64{}, [][]float64{}))
		},
		"row 1 of the Cholesky factor has 1 numbers: it must have 2, or 2 with zeros": func(m *graph.Model) {
			m.SampleVector("x", graph.MultivariateNormal(two, [][]float64{{1}, {1}}))
		},
		"not lower triangular: [0][1] = 0.5": func(m *graph.Model) {
			m.SampleVector("x", graph.MultivariateNormal(two, [][]float64{{1, 0.5}, {0, 1}}))
		},
		"[1][1] = -1 on its diagonal, which must be positive": func(m *graph.Model) {
			m.ObserveVector("x", graph.MultivariateNormal(two, [][]float64{{1}, {0, -1}}), two)
		},
		"[1][0] = NaN": func(m *graph.Model) {
			m.SampleVector("x", graph.MultivariateNormal(two, [][]float64{{1}, {math.NaN(), 1}}))
		},
		"sigma = z can be negative or 0": func(m *graph.Model) {
			m.SampleVector("x", graph.MultivariateNormal(two[:1], [][]graph.Expr{{z(m)}}))
		},
		"3 numbers for a vector of 2": func(m *graph.Model) {
			m.ObserveVector("x", graph.MultivariateNormal(two, [][]float64{{1}, {0, 1}}), []float64{1, 2, 3})
		},
		"the value -Inf is not finite": func(m *graph.Model) {
			m.ObserveVector("x", graph.MultivariateNormal(two, [][]float64{{1}, {0, 1}}), []float64{1, math.Inf(-1)})
		},
		"Ordered: 0 values in order":          func(m *graph.Model) { m.SampleVector("x", graph.Ordered(0, graph.Normal(0, 1))) },
		"Ordered: Gamma is none of Normal":    func(m *graph.Model) { m.SampleVector("x", graph.Ordered(2, graph.Gamma(1, 1))) },
		"Ordered: Poisson is none of Normal":  func(m *graph.Model) { m.SampleVector("x", graph.Ordered(2, graph.Poisson(1))) },
		"Normal: sigma = -1 must be positive": func(m *graph.Model) { m.SampleVector("x", graph.Ordered(2, graph.Normal(0, -1))) },
		"make one with Normal, Poisson":       func(m *graph.Model) { m.SampleVector("x", graph.Ordered(2, graph.Dist{})) },
		`the name "x_gap[0]" is already taken`: func(m *graph.Model) {
			m.Sample("x_gap[0]", graph.Normal(0, 1))
			m.SampleVector("x", graph.Ordered(2, graph.Normal(0, 1)))
		},
		"the name \"z\" is already taken": func(m *graph.Model) { z(m); m.SampleVector("z", graph.Dirichlet(1, 1)) },
		"SampleVector of the model is called in the body of a plate": func(m *graph.Model) {
			m.Plate(2, func(*graph.Plate) { m.SampleVector("x", graph.Dirichlet(1, 1)) })
		},
		"Dirichlet: alpha[1] = 0 must be positive, in row 0 of the plate": func(m *graph.Model) {
			m.Plate(2, func(p *graph.Plate) { p.SampleVector("x", graph.Dirichlet(p.Data([]float64{1, -2}), p.Data(two))) })
		},
		"3 values for 2 rows of the plate": func(m *graph.Model) {
			m.Plate(2, func(p *graph.Plate) {
				p.ObserveVector("x", graph.MultivariateNormal(two[:1], [][]float64{{1}}), [][]float64{{1}, {1}, {1}})
			})
		},
		"ObserveVector of the model is called in the body of a plate": func(m *graph.Model) {
			m.Plate(2, func(*graph.Plate) { m.ObserveVector("x", graph.Dirichlet(1, 1), two) })
		},
		"Sample of the model is called in the body of a plate": func(m *graph.Model) {
			m.Plate(2, func(*graph.Plate) { m.SampleN("x", 2, graph.Normal(0, 1)) })
		},
	} {
		m := graph.NewModel()
		build(m)
		require.ErrorContains(t, m.Err(), says)
		require.ErrorContains(t, m.Err(), "vector_test.go:", says)
	}
}

// Vectors in the rows of a plate are those of the loop: varying intercepts and slopes, shares and thresholds of groups.
func TestVectorsInPlates(t *testing.T) {
	data, shift, counts := [][]float64{{0.3, 1}, {-2, 0.4}, {1, 1}}, []float64{0.5, 1, 2}, []float64{0, 2, 300}
	build := func(plate bool) *graph.Density {
		m := graph.NewModel()
		mu, tau := m.Sample("mu", graph.Normal(0, 1)), m.Sample("tau", graph.LogNormal(0, 1))
		normal := func(c graph.Expr) graph.VectorDist {
			return graph.MultivariateNormal([]graph.Expr{mu, graph.Add(mu, c)}, [][]graph.Expr{{tau}, {c, graph.Numbers(0.5)[0]}})
		}
		ordered := func(c graph.Expr) graph.VectorDist { return graph.Ordered(2, graph.Normal(c, tau)) }
		shares := func(c graph.Expr) graph.VectorDist { return graph.Dirichlet(c, tau) }
		if plate {
			m.Plate(len(data), func(p *graph.Plate) {
				c := p.Data(shift)
				x, o, theta := p.SampleVector("x", normal(c)), p.SampleVector("o", ordered(c)), p.SampleVector("theta", shares(c))
				p.Factor(graph.Mul(o[1], graph.Log(theta[1])))
				p.ObserveVector("y", graph.MultivariateNormal(x, [][]float64{{1}, {0.3, 2}}), data)
				p.Observe("count", graph.ZeroInflated(0.2, graph.Poisson(tau)), counts)
			})
		} else {
			for i, y := range data {
				c := graph.Add(shift[i], 0)
				row := func(name string, d graph.VectorDist) []graph.Expr {
					return m.SampleVector(fmt.Sprintf("%s%d", name, i), d)
				}
				x, o, theta := row("x", normal(c)), row("o", ordered(c)), row("theta", shares(c))
				m.Factor(graph.Mul(o[1], graph.Log(theta[1])))
				m.ObserveVector("y", graph.MultivariateNormal(x, [][]float64{{1}, {0.3, 2}}), y)
				m.Observe("count", graph.ZeroInflated(0.2, graph.Poisson(tau)), counts[i])
			}
		}
		return mustCompile(t, m)
	}
	loop, plate := build(false), build(true)
	require.Equal(t, []string{"mu", "tau", "x[0,0]", "x[0,1]", "o_least[0]", "o_gap[0,0]", "theta_stick[0,0]", "x[1,0]"}, plate.Latents()[:8])
	require.Equal(t, []string{"o[0]", "o[1]", "theta[0]", "theta[1]", "o[2]"}, plate.Components()[:5])
	rng := rand.New(rand.NewPCG(1, 1))
	z := loop.PriorDraw(nil, rng)
	require.Equal(t, logProb(t, loop, z...), logProb(t, plate, z...))
	require.Equal(t, gradient(t, loop, z...), gradient(t, plate, z...))
	require.Equal(t, loop.DeterministicAt(nil, z), plate.DeterministicAt(nil, z))
	require.Equal(t, loop.Program().Nodes(), plate.Program().Nodes())
}

// Plates index vectors as they do any values.
func TestPlateOfAVector(t *testing.T) {
	ys, group := []float64{0.3, 1, -2, 0.4}, []int{0, 1, 1, 0}
	build := func(plate bool) *graph.Density {
		m := graph.NewModel()
		x := m.SampleVector("x", graph.Ordered(2, graph.Normal(0, 1)))
		if plate {
			m.Plate(len(ys), func(p *graph.Plate) { p.Observe("y", graph.Normal(p.Index(x, group), 1), ys) })
		} else {
			for i, y := range ys {
				m.Observe("y", graph.Normal(x[group[i]], 1), y)
			}
		}
		return mustCompile(t, m)
	}
	require.Equal(t, build(false).Fingerprint(), build(true).Fingerprint())
	require.Equal(t, logProb(t, build(false), 0.1, 0.2), logProb(t, build(true), 0.1, 0.2))
}
