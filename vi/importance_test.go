package vi

import (
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
)

func importanceOf(t testing.TB, d *graph.Density, q MeanField, samples int) Importance {
	t.Helper()
	p := &Posterior{Density: d, Q: q}
	imp, err := p.Importance(samples, *seed)
	require.NoError(t, err)
	return imp
}

// A fit that is the posterior itself has weights that are all the evidence.
func TestImportanceOfTheExactPosterior(t *testing.T) {
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(1, 2))
	m.Observe("x", graph.Normal(z, 0.5), 1.7)
	precision := 1/4.0 + 1/0.25
	q := NewMeanField([]float64{(1/4.0 + 1.7/0.25) / precision}, []float64{1 / math.Sqrt(precision)})
	imp := importanceOf(t, mustCompile(t, m), q, 1000)
	want := distuv.Normal{Mu: 1, Sigma: math.Sqrt(4.25)}.LogProb(1.7)
	require.Equal(t, math.Inf(-1), imp.K)
	require.True(t, imp.Reliable())
	require.InDelta(t, 1000, imp.ESS, 1e-6)
	require.InDelta(t, want, imp.LogEvidence.Mean, 1e-12)
	require.InDelta(t, want, imp.ELBO.Mean, 1e-12)
	require.Less(t, imp.LogEvidence.SE, 1e-12)
	require.Equal(t, 1000, len(imp.Draws.Values))
}

// Gamma–Poisson: closed forms of the evidence and of the posterior of a latent
// that is transformed.
func TestImportanceOfAPositiveLatent(t *testing.T) {
	counts := []float64{3, 5, 2}
	m := graph.NewModel()
	rate := m.Sample("rate", graph.Gamma(2, 1))
	shape, scale, want := 2.0, 1.0, 0.0
	for _, k := range counts {
		m.Observe("k", graph.Poisson(rate), k)
		lg, _ := math.Lgamma(k + 1)
		want -= lg
		shape += k
		scale++
	}
	lg, _ := math.Lgamma(shape)
	want += lg - shape*math.Log(scale) // Γ(2) = 1
	q := NewMeanField([]float64{math.Log(shape / scale)}, []float64{1.3 / math.Sqrt(shape)})
	imp := importanceOf(t, mustCompile(t, m), q, 40000)

	require.True(t, imp.Reliable(), "k-hat %v", imp.K)
	checkEstimate(t, "evidence", want, imp.LogEvidence, 0.02)
	l := imp.Latents[0]
	require.Equal(t, "rate", l.Name)
	checkEstimate(t, "mean", shape/scale, l.Mean, 0.05)
	require.InDelta(t, math.Sqrt(shape)/scale, l.SD, 0.02)
	require.Greater(t, math.Abs(l.FitMean-shape/scale), 5*l.Mean.SE, "the fit itself must be rejected")
	above := imp.Expect(func(x []float64) float64 {
		if x[0] > 4 {
			return 1
		}
		return 0
	})
	checkEstimate(t, "P(rate > 4)", 1-distuv.Gamma{Alpha: shape, Beta: scale}.CDF(4), above, 0.02)
}

// checkEstimate fails beyond five standard errors, and if these could not show
// an error of seen.
func checkEstimate(t testing.TB, what string, want float64, got Estimate, seen float64) {
	t.Helper()
	require.Less(t, 5*got.SE, seen, "inconclusive: %s", what)
	require.LessOrEqual(t, math.Abs(got.Mean-want), 5*got.SE+1e-9*math.Abs(want), "%s: %v, want %v", what, got, want)
}

// The paper's Proposition 2: p(x) is a mixture, and the posterior of z two half
// normals.
func TestImportanceAcrossAGuard(t *testing.T) {
	_, d := paperSpec(t, "proposition")
	up, down := distuv.Normal{Mu: 5, Sigma: 1}.Prob(0), distuv.Normal{Mu: -2, Sigma: 1}.Prob(0)
	imp := importanceOf(t, d, NewMeanField([]float64{-0.5}, []float64{1.1}), 40000)
	require.True(t, imp.Reliable())
	checkEstimate(t, "evidence", math.Log((up+down)/2), imp.LogEvidence, 0.05)
	half := math.Sqrt(2 / math.Pi) // E|z|
	checkEstimate(t, "mean", half*(up-down)/(up+down), imp.Latents[0].Mean, 0.05)
	require.Less(t, imp.ELBO.Mean, imp.LogEvidence.Mean)
}

// A normal that is much too narrow must not be trusted, nor one elsewhere.
func TestImportanceOfABadFit(t *testing.T) {
	m := graph.NewModel()
	for _, name := range []string{"a", "b", "c"} {
		m.Sample(name, graph.StudentsT(0, 1, 3))
	}
	d := mustCompile(t, m)
	for name, q := range map[string]MeanField{
		"narrow":    NewMeanField([]float64{0, 0, 0}, []float64{0.4, 0.4, 0.4}),
		"elsewhere": NewMeanField([]float64{3, 3, 0}, []float64{1, 1, 1}),
	} {
		imp := importanceOf(t, d, q, 10000)
		require.Greater(t, imp.K, 0.7, name)
		require.False(t, imp.Reliable(), name)
		require.Contains(t, imp.Verdict(), "do not trust", name)
		require.Less(t, imp.ESS, 3000.0, name)
	}
}

func TestImportanceVerdict(t *testing.T) {
	for _, c := range []struct {
		k    float64
		n    int
		want string
	}{
		{math.Inf(-1), 1000, "good"}, {0.2, 1000, "good"}, {0.6, 1000, "ok"}, {0.69, 10000, "ok"},
		{0.45, 50, "needs more than 66 draws, 50 were taken"}, {0.68, 1000, "needs more than 1334 draws"},
		{0.8, 10000, "too far"}, {1.2, 10000, "no finite mean"}, {math.Inf(1), 10000, "no Pareto distribution fits"},
	} {
		imp := Importance{K: c.k, Weights: make([]float64, c.n)}
		require.Contains(t, imp.Verdict(), c.want, "%v", c)
		require.Equal(t, !strings.Contains(imp.Verdict(), "do not trust"), imp.Reliable(), "%v", c)
	}
}

func TestImportanceString(t *testing.T) {
	imp := Importance{
		K: 0.312, ESS: 871.4, ELBO: Estimate{-12.3456, 0.012}, LogEvidence: Estimate{-12.2, 0.0031},
		Latents: []Reweighted{
			{"threshold", 6.5012, 0.25, Estimate{6.4951, 0.0072}, 0.288},
			{"σ", 0.1, 0.01, Estimate{0.11, 0.001}, 0.012},
		},
		Weights: make([]float64, 1000),
	}
	require.Equal(t, `k-hat            0.31  good: trust the reweighted numbers
effective draws  871 of 1000
ELBO             -12.346 ± 0.012
log evidence     -12.200 ± 0.0031

latent     fit mean    sd  reweighted mean    ± se     sd
threshold     6.501  0.25            6.495  0.0072  0.288
σ               0.1  0.01             0.11   0.001  0.012
`, imp.String())
}

func TestImportanceProcessors(t *testing.T) {
	_, d := paperSpec(t, "temperature")
	q := PriorStart(d)
	many := importanceOf(t, d, q, 500)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	require.Equal(t, many, importanceOf(t, d, q, 500))
}

func TestImportanceErrors(t *testing.T) {
	d := smooth(t)
	p := &Posterior{Density: d, Q: NewMeanField([]float64{0, 0}, []float64{1, 1})}
	_, err := p.Importance(20, 1)
	require.EqualError(t, err, "vi: 20 samples; a k-hat needs 21")
	_, err = p.Importance(-1, 1)
	require.Error(t, err)
	_, err = (&Posterior{Density: d, Q: MeanField{}}).Importance(100, 1)
	require.Error(t, err)

	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	m.Factor(graph.Log(z))
	p = &Posterior{Density: mustCompile(t, m), Q: NewMeanField([]float64{0}, []float64{1})}
	_, err = p.Importance(100, 1)
	require.ErrorContains(t, err, "vi: log r is NaN at a draw: the factor (importance_test.go:")
}
