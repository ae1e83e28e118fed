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
		require.Less(t, math.Abs(byMean.ScoreZ), 5.0)
		require.True(t, c.Biased)
		require.InDelta(t, math.Hypot(term, theta*term*slope(1)), c.Bias.Value, 1e-9)

		require.Equal(t, ScoreAgrees, c.Score, "θ = %v: %v", theta, c)
		vitest.Estimate(t, "along", 1, c.Along, 0.5)
		require.Greater(t, math.Abs(byMean.ReparamZ), 5.0, "score must reject reparam")
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
		require.Equal(t, ScoreTooNoisy, c.Score, name)
	}
}

// At temperature's optimum the boundary term comes from crossings so rare that
// score's draws have none of them: it must not be called a contradiction.
func TestCheckBiasAtTheOptimum(t *testing.T) {
	spec, d := vitest.Paper(t, "temperature")
	theta, _, err := models.Optimum(spec.Oracle, spec.ThetaInit)
	require.NoError(t, err)
	c := biasOf(t, d, family.Softplus{}.At(theta), 0)
	_, bou := spec.Oracle.Gradient(theta)
	require.True(t, c.Biased)
	require.InEpsilon(t, floats.Norm(bou, 2), c.Bias.Value, 1e-3)
	require.Greater(t, c.RareSides, 10)
	require.Equal(t, ScoreTooNoisy, c.Score)
	require.Contains(t, c.String(), "rare sides of guards")
}

// Guards on several latents, where score can tell.
func TestCheckBiasOfDenseGuards(t *testing.T) {
	model, mean, sd := vitest.NewDense(vitest.DenseCases[0])
	d, q := vitest.Compile(t, model.Model()), softplus(mean, sd)
	c := biasOf(t, d, q, 100000)
	require.True(t, c.Biased)
	require.Equal(t, ScoreAgrees, c.Score, "%v", c)
	vitest.Estimate(t, "along", 1, c.Along, 0.2)
	for i, want := range model.Gradient(mean, sd) {
		x := c.Components[i]
		if i%2 == 1 {
			want *= slope(sd[i/2])
		}
		require.Less(t, math.Abs(x.Boundary.Value-want), 5*x.Boundary.SE, x.Name)
	}

	// a boundary term of half or twice the size must be contradicted
	for _, factor := range []float64{0.5, 2, -1} {
		batches := batchesFor(100000)
		p, err := newParts(d, q, batches, *seed)
		require.NoError(t, err)
		for k := range p.bou {
			for i := range p.bou[k] {
				p.whole[k][i].Mean += (factor - 1) * p.bou[k][i].Mean
				p.bou[k][i] = scaled(t, p.bou[k][i], factor)
			}
		}
		var wrong BiasCheck
		require.NoError(t, wrong.fill(d, q, p))
		student := distuv.StudentsT{Sigma: 1, Nu: float64(batches*partChunks - 1)}
		wrong.judge(p, 0.001, student)
		wrong.judgeScore(p, 0.001, student)
		require.True(t, wrong.Biased)
		require.Equal(t, ScoreDisagrees, wrong.Score, "factor %v", factor)
	}
}

// For families with correlations too Boundary is right, and score says so.
func TestCheckBiasOfCorrelated(t *testing.T) {
	model, mean, sd := vitest.NewDense(vitest.DenseCases[0])
	d := vitest.Compile(t, model.Model())
	qs, _ := correlated(t, d, mean, sd)
	for _, q := range qs {
		c := biasOf(t, d, q, 100000)
		require.True(t, c.Biased)
		require.Equal(t, ScoreAgrees, c.Score, "%s: %v", q.Family().Name(), c)
		vitest.Estimate(t, "along", 1, c.Along, 0.3)
	}
}

// scaled are the moments of as many values, all times a factor.
func scaled(t *testing.T, m mc.Moments, factor float64) (out mc.Moments) {
	require.Zero(t, m.N%2)
	off := factor * math.Sqrt(m.Variance()*float64(m.N-1)/float64(m.N))
	for range m.N / 2 {
		out.Add(factor*m.Mean - off)
		out.Add(factor*m.Mean + off)
	}
	require.InEpsilon(t, math.Abs(factor)*m.SE(), out.SE(), 1e-6)
	return out
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
	disagree := 0
	for name, build := range models {
		m := graph.NewModel()
		build(m, m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1)))
		d := vitest.Compile(t, m)
		for s := range uint64(50) {
			c, err := CheckBias(d, family.Independent([]float64{0.2, -0.1}, []float64{0.9, 0.7}), BiasSettings{Samples: 1024, Seed: s})
			require.NoError(t, err)
			require.False(t, c.Biased, "%s, seed %d: %v", name, s, c)
			if c.Score == ScoreDisagrees {
				disagree++
			}
		}
		c := biasOf(t, d, family.Independent([]float64{0.2, -0.1}, []float64{0.9, 0.7}), 0)
		require.Less(t, c.Bias.Value, 1e-9, name)
		require.Equal(t, ScoreAgrees, c.Score, "%s: %v", name, c)
	}
	// At the level 0.001 each of 200 checks disagrees by chance: more than four do with probability 2e-6.
	require.LessOrEqual(t, disagree, 4)
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
		Score: ScoreAgrees, Along: mc.Estimate{Value: 1.003, SE: 0.013}, ScoreMaxZ: 0.31, ScoreBound: 3.5, Samples: 32768, Guards: 1,
		Components: []BiasComponent{
			{Name: "z ρ", Reparam: mc.Estimate{Value: -0.6, SE: 0.005}, Boundary: mc.Estimate{Value: 1, SE: 0.005}, Score: mc.Estimate{Value: 1.01, SE: 0.046}, Term: mc.Estimate{Value: 1.6, SE: 0.001}, Z: 1600, ScoreZ: 0.2, ReparamZ: 34.8},
			{Name: "z μ", Reparam: mc.Estimate{Value: -1, SE: 0.0057}, Boundary: mc.Estimate{Value: -3.541, SE: 0.0057}, Score: mc.Estimate{Value: -3.55, SE: 0.048}, Term: mc.Estimate{Value: -2.541, SE: 0}, Z: -2.5e7, ScoreZ: -0.2, ReparamZ: -53.1},
		},
	}
	require.Equal(t, `BIASED: reparameterization alone is off by 2.541, where the gradient is 3.541 ± 0.006; the largest |z| is > 1e6, and 4.2 could be chance
score agrees with boundary: it finds 1.003 ± 0.013 of the bias; the largest |z| is 0.3, and 3.5 could be chance

gradient by       reparam  boundary term        z         boundary          score  z to boundary  z to reparam
z μ           -1 ± 0.0057         -2.541   < -1e6  -3.541 ± 0.0057  -3.55 ± 0.048           -0.2         -53.1
z ρ          -0.6 ± 0.005    1.6 ± 0.001  1.6e+03        1 ± 0.005   1.01 ± 0.046            0.2          34.8
`, c.String())

	c.Biased, c.Score, c.MaxZ, c.ScoreSees = false, ScoreTooNoisy, 1.2, 87
	require.Contains(t, c.String(), "no bias seen: the largest |z| is 1.2, and 4.2 could be chance; a bias of 0.0042 would be seen\n"+
		"score too noisy to tell: it would see a difference of 87; take more samples\n")
	c.RareSides, c.Guards = 3, 0
	require.Contains(t, c.String(), "not biased: the program has no guards\n"+
		"score too noisy to tell: it would see a difference of 87; its draws see too little of 3 rare sides of guards\n")
	c.Score = ScoreDisagrees
	require.Contains(t, c.String(), "score disagrees with boundary: it would see a difference of 87; the largest |z| is 0.3, and 3.5 could be chance\n")
	for range biasShown {
		c.Components = append(c.Components, c.Components[0])
	}
	require.Contains(t, c.String(), "\n2 more components\n")
}
