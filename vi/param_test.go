package vi

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
)

// learnedGroups has a mean and a spread of groups as parameters, c times as large.
func learnedGroups(c float64) *graph.Model {
	m := graph.NewModel()
	mu := m.Param("mu", c, graph.Scale(4*c))
	tau := m.Param("tau", c, graph.Positive())
	for i, y := range unitData {
		m.Observe("y", graph.Normal(m.Sample(fmt.Sprintf("group[%d]", i), graph.Normal(mu, tau)), c), y*c)
	}
	return m
}

// Empirical Bayes: the evidence is the density of independent normals with variance τ² + 1, so that the best μ is the
// mean of the data, and the best τ² their variance less 1. The posterior is normal, and the ELBO the evidence.
func TestEmpiricalBayes(t *testing.T) {
	long.Skip(t)
	t.Parallel()
	mean, variance := stat.PopMeanVariance(unitData, nil)
	evidence := 0.0
	for _, y := range unitData {
		evidence += distuv.Normal{Mu: mean, Sigma: math.Sqrt(variance)}.LogProb(y)
	}
	d := mustCompile(t, learnedGroups(1))
	for _, f := range []family.Family{nil, family.Structured{}, family.MeanField{}, family.LowRank{Rank: 2}} {
		p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Family: f, StartDraws: 30}})
		require.NoError(t, err)
		if f == nil {
			require.Equal(t, family.FullRank{}, p.Q.Family())
		}
		mu, err := p.Param("mu")
		require.NoError(t, err)
		tau, err := p.Param("tau")
		require.NoError(t, err)
		se := math.Sqrt(variance / float64(len(unitData)))
		t.Logf("%s: mu %.4f tau %.4f, exact %.4f %.4f", p.Q.Family().Name(), mu, tau, mean, math.Sqrt(variance-1))
		require.InDelta(t, mean, mu, 0.03*se)
		require.InDelta(t, math.Sqrt(variance-1), tau, 0.03*se)
		e, err := p.ELBO(10000, 1)
		require.NoError(t, err)
		require.InDelta(t, evidence, e.Value, 0.02)
		log, err := p.LogEvidence()
		require.NoError(t, err)
		require.InDelta(t, evidence, log.Value, 0.01)
		v, err := p.Verdict()
		require.NoError(t, err)
		require.NotEqual(t, TrustNothing, v.Trust, v)
		sd, err := p.SD("tau")
		require.NoError(t, err)
		require.Zero(t, sd.Value)
		q5, err := p.Quantile("tau", 0.05)
		require.NoError(t, err)
		require.Equal(t, Estimate{Value: tau}, q5)
	}
}

// A summary has parameters apart, by their values.
func TestSummaryOfParameters(t *testing.T) {
	p, err := Fit(context.Background(), mustCompile(t, learnedGroups(1)), Settings{Seed: *seed, Method: Climb{StartDraws: 30, Steps: 2000}})
	require.NoError(t, err)
	s := p.Summary()
	require.Len(t, s.Params, 2)
	require.Len(t, s.Latents, len(unitData))
	require.Regexp(t, `parameter +value\nmu +3\.\d+\ntau +[12]\.\d+\n\nlatent +mean`, s.String())
	some, err := s.Of("tau", "group")
	require.NoError(t, err)
	require.Equal(t, s.Params[1:], some.Params)
	_, err = p.Param("group[0]")
	require.ErrorContains(t, err, "no parameter")
	r, err := p.Predict(50, 1)
	require.NoError(t, err)
	require.NotNil(t, r)
	for _, z := range drawsOf(t, p, 3, 1).Values {
		require.Equal(t, s.Params[0].Value, z[0])
		require.Equal(t, s.Params[1].Value, z[1])
	}
}

// split has a threshold as its parameter: latents above it have observations near 1, those below near −1.
func split(ups, downs int, c float64) *graph.Model {
	m := graph.NewModel()
	cut := m.Param("cut", 0.5*c, graph.Scale(c))
	for i := range ups + downs {
		z := m.Sample(fmt.Sprintf("z[%d]", i), graph.Normal(0, c))
		y := 0.9
		if i >= ups {
			y = -0.6
		}
		m.Observe("y", graph.Normal(graph.If(graph.Greater(z, cut), 1, -1), 0.5), y)
	}
	return m
}

// splitOptimum is the threshold with the largest ELBO under mean-field normals: given a threshold those of the latents are on their
// own, and with the step's height h = log r above − log r below
//
//	ELBO = −(m² + s²)/2 + log s + h·Φ((m − cut)/s) + …
func splitOptimum(t *testing.T, ups, downs int) float64 {
	bell := distuv.Normal{Sigma: 0.5}
	best := func(h, cut float64) float64 {
		top := math.Inf(-1)
		for _, start := range [][]float64{{cut + 1, -0.3}, {cut - 1, -0.3}, {0, 0}} {
			r, err := optimize.Minimize(optimize.Problem{Func: func(x []float64) float64 {
				m, s := x[0], math.Exp(x[1])
				return (m*m+s*s)/2 - x[1] - h*distuv.UnitNormal.CDF((m-cut)/s)
			}}, start, nil, &optimize.NelderMead{})
			require.NoError(t, err)
			top = max(top, -r.F)
		}
		return top
	}
	h := func(y float64) float64 { return bell.LogProb(y-1) - bell.LogProb(y+1) }
	r, err := optimize.Minimize(optimize.Problem{Func: func(x []float64) float64 {
		base := float64(ups)*bell.LogProb(0.9+1) + float64(downs)*bell.LogProb(-0.6+1)
		return -(float64(ups)*best(h(0.9), x[0]) + float64(downs)*best(h(-0.6), x[0]) + base)
	}}, []float64{0.5}, nil, &optimize.NelderMead{})
	require.NoError(t, err)
	return r.X[0]
}

// A threshold that all observations lie on one side of has no best value, and a fit says so; one that has a best
// value, and one that is part of a mean as well, has no warning.
func TestThresholdThatRunsAway(t *testing.T) {
	for _, c := range []struct {
		name       string
		ups, downs int
		mean       bool
		says       string
	}{
		{"below all", 6, 0, false, `parameter "cut" = `},
		{"above all", 0, 6, false, `parameter "cut" = `},
		{"between", 9, 4, false, ""},
		{"also a mean", 6, 0, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := split(c.ups, c.downs, 1)
			if c.mean {
				m = graph.NewModel()
				cut := m.Param("cut", 0)
				m.Observe("y", graph.Normal(cut, 1), -9)
				for i := range 6 {
					z := m.Sample(fmt.Sprint("z", i), graph.Normal(0, 1))
					m.Observe("x", graph.Normal(graph.If(graph.Greater(z, cut), 1, -1), 0.5), 0.9)
				}
			}
			d := mustCompile(t, m)
			p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Family: family.MeanField{}, Steps: 1500, Start: PriorStart(d)}})
			require.NoError(t, err)
			t.Log(p.Warnings)
			has := slices.ContainsFunc(p.Warnings, func(w string) bool { return strings.Contains(w, "guards compare it with") })
			require.Equal(t, c.says != "", has, "%v", p.Warnings)
			if has {
				text := strings.Join(p.Warnings, "; ")
				require.Contains(t, text, c.says)
				require.Contains(t, text, "is "+c.name+" that guards compare it with")
			}
		})
	}
}

// A threshold goes where the ELBO is highest; reparameterization does not move it.
func TestLearnedThreshold(t *testing.T) {
	long.Skip(t)
	want := splitOptimum(t, 9, 4)
	d := mustCompile(t, split(9, 4, 1))
	fit := func(e Estimator) float64 {
		p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Family: family.MeanField{}, Estimator: e, Start: PriorStart(d)}})
		require.NoError(t, err)
		x, err := p.Param("cut")
		require.NoError(t, err)
		return x
	}
	got := fit(nil)
	t.Logf("threshold %.4f, exact %.4f", got, want)
	require.InDelta(t, want, got, 0.02)
	require.Greater(t, math.Abs(want-0.5), 0.1, "inconclusive")
	require.Equal(t, 0.5, fit(Reparam{}))
}

// In units 2ᵏ times as small every fit is 2ᵏ times as large, thresholds too, to the last bit.
func TestParametersHaveNoUnits(t *testing.T) {
	long.Skip(t)
	for _, f := range []family.Family{family.MeanField{}, family.Structured{}, family.FullRank{}, family.LowRank{Rank: 1}} {
		for _, s := range []Settings{{Method: Climb{Steps: 60, Restarts: 2}}, {Method: Climb{Steps: 400, Stop: Automatic}}} {
			fit := func(c float64) *Posterior {
				s := s
				s.climb().Family, s.Seed, s.climb().StartDraws = f, *seed, 30
				p, err := Fit(context.Background(), mustCompile(t, split(4, 2, c)), s)
				require.NoError(t, err)
				return p
			}
			want := fit(1)
			for _, k := range []int{-20, 13} {
				got := fit(math.Ldexp(1, k))
				require.Equal(t, inUnits(want.Q, k), got.Q.Theta(), "%s, 2 to the power of %d", f.Name(), k)
			}
		}
	}
}

// A fit with parameters can be saved, and goes on bit for bit.
func TestSaveParameters(t *testing.T) {
	d := mustCompile(t, split(3, 2, 1))
	s := Settings{Seed: *seed, Method: Climb{StartDraws: 30, Steps: 120}}
	whole, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	s.climb().Family = family.FullRank{}
	s.climb().OnStep = func(st Step) error {
		if st.T == 50 {
			cancel()
		}
		return nil
	}
	part, err := Fit(ctx, d, s)
	require.ErrorIs(t, err, context.Canceled)
	var b bytes.Buffer
	require.NoError(t, part.Save(&b))
	loaded, err := Load(&b, d)
	require.NoError(t, err)
	require.Equal(t, part.Q.Theta(), loaded.Q.Theta())
	loaded.Settings.climb().OnStep = nil
	done, err := loaded.Resume(context.Background())
	require.NoError(t, err)
	require.Equal(t, whole.Q.Theta(), done.Q.Theta())
	require.Equal(t, whole.Steps, done.Steps)
	require.Zero(t, done.Q.SD(0))
}

// A fit of cells does not learn parameters.
func TestParametersWithoutCells(t *testing.T) {
	_, err := Fit(context.Background(), mustCompile(t, learnedGroups(1)), Settings{Method: Cells{}})
	require.Error(t, err)
	require.Regexp(t, `does not learn parameters, and the model has "mu" \(param_test.go:\d+\): use Climb`, err.Error())
	_, err = Fit(context.Background(), mustCompile(t, learnedGroups(1)), Settings{Method: Climb{Family: family.Softplus{}}})
	require.ErrorContains(t, err, "2 parameters")
}

// A parameter that the evidence does not hold is no number to trust: where it rises without end, as far as a fit goes, or stays
// the same. One that goes to its bound is held there.
func TestParameterThatNothingHolds(t *testing.T) {
	long.Skip(t)
	t.Parallel()
	for name, c := range map[string]struct {
		build func(m *graph.Model)
		says  string
	}{
		"rises":                {func(m *graph.Model) { m.Factor(m.Param("a", 0)) }, `is higher on one side of parameter "a" (param_test.go:`},
		"rises as a logarithm": {func(m *graph.Model) { m.Factor(graph.Log(m.Param("a", 1, graph.Positive()))) }, `is higher on one side of parameter "a"`},
		"rises to a pole":      {func(m *graph.Model) { m.Observe("y", graph.Normal(0, m.Param("a", 1, graph.Positive())), 0) }, `is higher on one side of parameter "a"`},
		"rises to a limit":     {func(m *graph.Model) { m.Factor(graph.Neg(graph.Exp(graph.Neg(m.Param("a", 0))))) }, `is as good on one side of parameter "a"`},
		"is in nothing":        {func(m *graph.Model) { m.Param("a", 0) }, `is as good on one side of parameter "a"`},
		"has a maximum":        {func(m *graph.Model) { m.Observe("y", graph.Normal(m.Param("a", 0), 1), 3) }, ""},
		"has a wide one":       {func(m *graph.Model) { m.Observe("y", graph.Normal(m.Param("a", 2), 100), 3) }, ""},
		"has a bound":          {func(m *graph.Model) { m.Factor(m.Param("a", 1, graph.Between(0, 5))) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := graph.NewModel()
			c.build(m)
			m.Sample("z", graph.Normal(0, 1))
			p, err := Fit(context.Background(), mustCompile(t, m), Settings{Seed: *seed, Method: Climb{StartDraws: 30, Steps: 2000}})
			require.NoError(t, err)
			v, err := p.Verdict()
			require.NoError(t, err)
			if c.says == "" {
				require.Equal(t, TrustFit, v.Trust, v)
				return
			}
			require.Equal(t, TrustNothing, v.Trust, v)
			require.Contains(t, v.String(), c.says)
		})
	}
}
