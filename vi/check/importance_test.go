package check

import (
	"bytes"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/mc"
)

func importanceOf(t testing.TB, d *graph.Density, q family.Q, samples int) Importance {
	t.Helper()
	imp, err := weigh(d, q, samples, *seed)
	require.NoError(t, err)
	return imp
}

// weigh is Weigh for latents that are not transformed.
func weigh(d *graph.Density, q family.Q, samples int, seed uint64) (Importance, error) {
	return Weigh(d, q, samples, seed, func(i int) (mean, sd float64) { return q.Mean(i), q.SD(i) })
}

// A fit that is the posterior itself has weights that are all the evidence.
func TestImportanceOfTheExactPosterior(t *testing.T) {
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(1, 2))
	m.Observe("x", graph.Normal(z, 0.5), 1.7)
	precision := 1/4.0 + 1/0.25
	q := family.Independent([]float64{(1/4.0 + 1.7/0.25) / precision}, []float64{1 / math.Sqrt(precision)})
	imp := importanceOf(t, vitest.Compile(t, m), q, 1000)
	want := distuv.Normal{Mu: 1, Sigma: math.Sqrt(4.25)}.LogProb(1.7)
	require.Equal(t, math.Inf(-1), imp.K)
	require.True(t, imp.Reliable())
	require.InDelta(t, 1000, imp.ESS, 1e-6)
	require.InDelta(t, want, imp.LogEvidence.Value, 1e-12)
	require.InDelta(t, want, imp.ELBO.Value, 1e-12)
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
	q := family.Independent([]float64{math.Log(shape / scale)}, []float64{1.3 / math.Sqrt(shape)})
	imp, err := Weigh(vitest.Compile(t, m), q, 40000, *seed, func(int) (mean, sd float64) { // of the log-normal
		mean = math.Exp(q.Mean(0) + q.SD(0)*q.SD(0)/2)
		return mean, mean * math.Sqrt(math.Expm1(q.SD(0)*q.SD(0)))
	})
	require.NoError(t, err)

	require.True(t, imp.Reliable(), "k-hat %v", imp.K)
	vitest.Estimate(t, "evidence", want, imp.LogEvidence, 0.02)
	l := imp.Latents[0]
	require.Equal(t, "rate", l.Name)
	vitest.Estimate(t, "mean", shape/scale, l.Mean, 0.05)
	require.InDelta(t, math.Sqrt(shape)/scale, l.SD, 0.02)
	require.Greater(t, math.Abs(l.FitMean-shape/scale), 5*l.Mean.SE, "the fit itself must be rejected")
	above := imp.Expect(func(x []float64) float64 {
		if x[0] > 4 {
			return 1
		}
		return 0
	})
	vitest.Estimate(t, "P(rate > 4)", 1-distuv.Gamma{Alpha: shape, Beta: scale}.CDF(4), above, 0.02)
}

// The paper's Proposition 2: p(x) is a mixture, and the posterior of z two half
// normals.
func TestImportanceAcrossAGuard(t *testing.T) {
	_, d := vitest.Paper(t, "proposition")
	up, down := distuv.Normal{Mu: 5, Sigma: 1}.Prob(0), distuv.Normal{Mu: -2, Sigma: 1}.Prob(0)
	imp := importanceOf(t, d, family.Independent([]float64{-0.5}, []float64{1.1}), 40000)
	require.True(t, imp.Reliable())
	vitest.Estimate(t, "evidence", math.Log((up+down)/2), imp.LogEvidence, 0.05)
	half := math.Sqrt(2 / math.Pi) // E|z|
	vitest.Estimate(t, "mean", half*(up-down)/(up+down), imp.Latents[0].Mean, 0.05)
	require.Less(t, imp.ELBO.Value, imp.LogEvidence.Value)
}

// A normal that is much too narrow must not be trusted, nor one elsewhere.
func TestImportanceOfABadFit(t *testing.T) {
	m := graph.NewModel()
	for _, name := range []string{"a", "b", "c"} {
		m.Sample(name, graph.StudentsT(0, 1, 3))
	}
	d := vitest.Compile(t, m)
	for name, q := range map[string]family.Q{
		"narrow":    family.Independent([]float64{0, 0, 0}, []float64{0.4, 0.4, 0.4}),
		"elsewhere": family.Independent([]float64{3, 3, 0}, []float64{1, 1, 1}),
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
		K: 0.312, ESS: 871.4, ELBO: mc.Estimate{Value: -12.3456, SE: 0.012}, LogEvidence: mc.Estimate{Value: -12.2, SE: 0.0031},
		Latents: []Reweighted{
			{"threshold", 6.5012, 0.25, mc.Estimate{Value: 6.4951, SE: 0.0072}, 0.288, 0},
			{"σ", 0.1, 0.01, mc.Estimate{Value: 0.11, SE: 0.001}, 0.012, 0},
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
	_, d := vitest.Paper(t, "temperature")
	q := priorStart(d)
	many := importanceOf(t, d, q, 500)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	require.Equal(t, many, importanceOf(t, d, q, 500))
}

func TestImportanceErrors(t *testing.T) {
	d := vitest.Smooth(t)
	q := family.Independent([]float64{0, 0}, []float64{1, 1})
	_, err := weigh(d, q, 20, 1)
	require.EqualError(t, err, "check: 20 samples; a k-hat needs 21")
	_, err = weigh(d, q, -1, 1)
	require.Error(t, err)
	_, err = weigh(d, family.Independent(nil, nil), 100, 1)
	require.Error(t, err)

	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	m.Factor(graph.Log(z))
	_, err = weigh(vitest.Compile(t, m), family.Independent([]float64{0}, []float64{1}), 100, 1)
	require.ErrorContains(t, err, "check: log r is NaN at a draw: the factor (importance_test.go:")
}

// Draws that were made to be weighed can be written too.
func TestWriteImportanceDraws(t *testing.T) {
	d := vitest.Smooth(t)
	imp := importanceOf(t, d, priorStart(d), 100)
	var file bytes.Buffer
	require.NoError(t, imp.Draws.WriteCSV(&file))
	rows := 0
	for line := range strings.Lines(file.String()) {
		if !strings.HasPrefix(line, "#") {
			rows++
		}
	}
	require.Equal(t, 1+100, rows)
}

// The standard error of a standard deviation is that of many repetitions.
func TestSDSE(t *testing.T) {
	m := graph.NewModel()
	m.Sample("x", graph.Normal(0, 1))
	d, err := m.Compile()
	require.NoError(t, err)
	q := family.Independent([]float64{0.4}, []float64{1.3})
	var sd, se mc.Moments
	for seed := range uint64(300) {
		w, err := Weigh(d, q, 500, seed, func(int) (mean, sd float64) { return 0.4, 1.3 })
		require.NoError(t, err)
		sd.Add(w.Latents[0].SD)
		se.Add(w.Latents[0].SDSE)
	}
	require.InDelta(t, 1, sd.Mean, 4*sd.SE())
	require.InEpsilon(t, math.Sqrt(sd.Variance()), se.Mean, 4/math.Sqrt(2*300))
}
