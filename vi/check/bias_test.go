package check

import (
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/mc"
)

func biasOf(t testing.TB, d *graph.Density, q family.Q, samples int) BiasCheck {
	t.Helper()
	c, err := CheckBias(d, q, BiasSettings{Samples: samples, Seed: *seed})
	require.NoError(t, err)
	for _, x := range c.Components {
		require.InDelta(t, x.Reparam.Value+x.Term.Value, x.Boundary.Value, 1e-9*(1+math.Abs(x.Boundary.Value)), x.Name)
	}
	return c
}

// Proposition 2 of the paper: reparameterization says −θ, and the truth is
// −θ − 10.5·φ(θ).
func TestCheckBiasOfTheProposition(t *testing.T) {
	_, d := vitest.Paper(t, "proposition")
	for _, theta := range []float64{-1, 0, 0.5, 2} {
		c := biasOf(t, d, softplus([]float64{theta}, []float64{1}), 65536)
		term := -10.5 * distuv.UnitNormal.Prob(theta)
		byMean := c.Components[0]
		require.Equal(t, "z μ", byMean.Name)
		require.InDelta(t, term, byMean.Term.Value, 1e-12)
		require.Less(t, byMean.Z, -1e6)
		vitest.Estimate(t, "reparam", -theta, byMean.Reparam, 0.1)
		vitest.Estimate(t, "boundary", -theta+term, byMean.Boundary, 0.1)
		require.True(t, c.Biased)
		require.InDelta(t, math.Hypot(term, theta*term*slope(1)), c.Bias.Value, 1e-9)
	}
}

// The paper's models where their fits start: biased, and by how much the golden
// values say.
func TestCheckBiasIsGolden(t *testing.T) {
	for _, name := range []string{"temperature", "influenza"} {
		spec, d := vitest.Paper(t, name)
		exact := spec.Golden.Exact
		c := biasOf(t, d, family.Softplus{}.At(spec.ThetaInit), 0)
		require.True(t, c.Biased, name)
		require.Equal(t, 32768, c.Samples)
		require.Greater(t, c.MaxZ, 50.0, name)
		scale := floats.Norm(exact.BouContr, math.Inf(1))
		for i, x := range c.Components {
			require.LessOrEqual(t, math.Abs(x.Term.Value-exact.BouContr[i]), 5*x.Term.SE+1e-9*scale, "%s: %s", name, x.Name)
			if name == "influenza" { // temperature's regions of probability 1e-5 are in RepGrad's mean and not in its standard error
				require.LessOrEqual(t, math.Abs(x.Reparam.Value-exact.RepGrad[i]), 5*x.Reparam.SE+1e-9*scale, "%s: %s", name, x.Name)
			}
		}
		norm := floats.Norm(exact.BouContr, 2)
		require.Less(t, math.Abs(c.Bias.Value-norm), 6*c.Bias.SE, name) // of 15 degrees of freedom
		require.Less(t, 6*c.Bias.SE, norm, "inconclusive")
	}
}

// At temperature's optimum the boundary term comes from crossings so rare that no draw has one of them.
func TestCheckBiasAtTheOptimum(t *testing.T) {
	spec, d := vitest.Paper(t, "temperature")
	theta, _, err := models.Optimum(spec.Oracle, spec.ThetaInit)
	require.NoError(t, err)
	c := biasOf(t, d, family.Softplus{}.At(theta), 0)
	_, bou := spec.Oracle.Gradient(theta)
	require.True(t, c.Biased)
	require.InEpsilon(t, floats.Norm(bou, 2), c.Bias.Value, 1e-3)
}

// Guards on several latents.
func TestCheckBiasOfDenseGuards(t *testing.T) {
	model, mean, sd := vitest.NewDense(vitest.DenseCases[0])
	d, q := vitest.Compile(t, model.Model()), softplus(mean, sd)
	c := biasOf(t, d, q, 100000)
	require.True(t, c.Biased)
	for i, want := range model.Gradient(mean, sd) {
		x := c.Components[i]
		if i%2 == 1 {
			want *= slope(sd[i/2])
		}
		require.Less(t, math.Abs(x.Boundary.Value-want), 5*x.Boundary.SE, x.Name)
	}
}

// For families with correlations too.
func TestCheckBiasOfCorrelated(t *testing.T) {
	model, mean, sd := vitest.NewDense(vitest.DenseCases[0])
	d := vitest.Compile(t, model.Model())
	qs, _ := correlated(t, d, mean, sd)
	for _, q := range qs {
		c := biasOf(t, d, q, 100000)
		require.True(t, c.Biased)
	}
}

// Nothing is biased without guards, with guards that nothing depends on, and
// where an if is continuous.
func TestCheckBiasWithoutJumps(t *testing.T) {
	models := map[string]func(m *graph.Model, x, y graph.Expr){
		"no guards": func(m *graph.Model, x, y graph.Expr) { m.Observe("o", graph.Normal(graph.Mul(x, y), 1), 0.7) },
		"idle": func(m *graph.Model, x, y graph.Expr) {
			m.If(graph.Greater(x, y), func() {}, nil)
			m.Observe("o", graph.Normal(graph.If(graph.Greater(x, 0.1), y, y), 1), 0.7)
		},
		"hinge": func(m *graph.Model, x, y graph.Expr) {
			m.Observe("o", graph.Normal(graph.If(graph.Greater(x, 0.3), graph.Mul(3, graph.Sub(x, 0.3)), 0), 0.1), 0.7)
		},
		"larger": func(m *graph.Model, x, y graph.Expr) {
			m.Observe("o", graph.Normal(graph.Exp(graph.If(graph.Greater(x, y), x, y)), 0.1), 0.7)
		},
	}
	for name, build := range models {
		m := graph.NewModel()
		build(m, m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1)))
		d := vitest.Compile(t, m)
		for s := range uint64(50) {
			c, err := CheckBias(d, family.Independent([]float64{0.2, -0.1}, []float64{0.9, 0.7}), BiasSettings{Samples: 1024, Seed: s})
			require.NoError(t, err)
			require.False(t, c.Biased, "%s, seed %d: %v", name, s, c)
		}
		c := biasOf(t, d, family.Independent([]float64{0.2, -0.1}, []float64{0.9, 0.7}), 0)
		require.Less(t, c.Bias.Value, 1e-9, name)
	}
}

// At textmsg's start the boundary term is noise around 0. The check says biased
// about as often as its level allows, and not more.
func TestCheckBiasFalsePositives(t *testing.T) {
	spec, d := vitest.Paper(t, "textmsg")
	q := family.Softplus{}.At(spec.ThetaInit)
	const checks, level = 400, 0.05
	biased, noisy := 0, 0
	for s := range uint64(checks) {
		c, err := CheckBias(d, q, BiasSettings{Samples: 2048, Seed: *seed + 1000*s, Level: level})
		require.NoError(t, err)
		require.Positive(t, c.Components[4].Term.SE)
		if c.Biased {
			biased++
		}
		if c.MaxZ > 1 {
			noisy++
		}
	}
	sd := math.Sqrt(checks * level * (1 - level))
	require.Less(t, float64(biased), checks*level+5*sd, "of %d checks", checks)
	require.Greater(t, noisy, checks/10, "inconclusive: z-scores that are too small show nothing")
}

func TestCheckBiasLevel(t *testing.T) {
	_, d := vitest.Paper(t, "textmsg")
	q := priorStart(d)
	strict, err := CheckBias(d, q, BiasSettings{Samples: 1024, Level: 1e-9})
	require.NoError(t, err)
	loose, err := CheckBias(d, q, BiasSettings{Samples: 1024, Level: 0.1})
	require.NoError(t, err)
	require.Greater(t, strict.Bound, 6.0)
	require.Less(t, loose.Bound, 3.0)
	// two tested components, 1024/32 − 1 degrees of freedom
	require.InDelta(t, 1-0.1/4, distuv.StudentsT{Sigma: 1, Nu: 31}.CDF(loose.Bound), 1e-9)
}

func TestCheckBiasProcessors(t *testing.T) {
	_, d := vitest.Paper(t, "influenza")
	q := priorStart(d)
	many := biasOf(t, d, q, 2000)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one, err := CheckBias(d, q, BiasSettings{Samples: 2000, Seed: *seed})
	require.NoError(t, err)
	require.Equal(t, many, one)
}

func TestCheckBiasErrors(t *testing.T) {
	d := vitest.Smooth(t)
	_, err := CheckBias(d, priorStart(d), BiasSettings{Samples: -1})
	require.EqualError(t, err, "check: BiasSettings: -1 samples at level 0.001")
	_, err = CheckBias(d, priorStart(d), BiasSettings{Level: 1})
	require.EqualError(t, err, "check: BiasSettings: 32768 samples at level 1")
	_, err = CheckBias(d, family.Independent(nil, nil), BiasSettings{})
	require.Error(t, err)

	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	m.Factor(graph.Log(z))
	d = vitest.Compile(t, m)
	_, err = CheckBias(d, priorStart(d), BiasSettings{})
	require.ErrorContains(t, err, "gradient is not finite for z μ: the factor (bias_test.go:")
}

func TestBiasCheckString(t *testing.T) {
	c := BiasCheck{
		Biased: true, Bound: 4.21, MaxZ: 2.5e7, Bias: mc.Estimate{Value: 2.541, SE: 0}, Gradient: mc.Estimate{Value: 3.541, SE: 0.006},
		Samples: 32768, Guards: 1,
		Components: []BiasComponent{
			{Name: "z ρ", Reparam: mc.Estimate{Value: -0.6, SE: 0.005}, Boundary: mc.Estimate{Value: 1, SE: 0.005}, Term: mc.Estimate{Value: 1.6, SE: 0.001}, Z: 1600},
			{Name: "z μ", Reparam: mc.Estimate{Value: -1, SE: 0.0057}, Boundary: mc.Estimate{Value: -3.541, SE: 0.0057}, Term: mc.Estimate{Value: -2.541, SE: 0}, Z: -2.5e7},
		},
	}
	require.Equal(t, `BIASED: reparameterization alone is off by 2.541, where the gradient is 3.541 ± 0.006; the largest |z| is > 1e6, and 4.2 could be chance

gradient by       reparam  boundary term        z         boundary
z μ           -1 ± 0.0057         -2.541   < -1e6  -3.541 ± 0.0057
z ρ          -0.6 ± 0.005    1.6 ± 0.001  1.6e+03        1 ± 0.005
`, c.String())

	c.Biased, c.MaxZ = false, 1.2
	require.Contains(t, c.String(), "no bias seen: the largest |z| is 1.2, and 4.2 could be chance; a bias of 0.0042 would be seen\n")
	c.Guards = 0
	require.Contains(t, c.String(), "not biased: the program has no guards\n")
	for range biasShown {
		c.Components = append(c.Components, c.Components[0])
	}
	require.Contains(t, c.String(), "\n2 more components\n")
}
