package vi_test

import (
	"bytes"
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// levels is a shift of level, of which the given data are observed as y.
func levels(t *testing.T, ys ...float64) *graph.Density {
	m := graph.NewModel()
	when, a, b := m.Sample("when", graph.Uniform(0, 8)), m.Sample("a", graph.Normal(0, 2)), m.Sample("b", graph.LogNormal(0, 1))
	for i, y := range ys {
		m.Observe("y", graph.Normal(graph.If(graph.Less(when, float64(i)), b, a), 0.5), y)
	}
	return vitest.Compile(t, m)
}

func fitOf(t *testing.T, d *graph.Density) *vi.Posterior {
	fit, err := vi.Fit(context.Background(), d, vi.Settings{Seed: 1})
	require.NoError(t, err)
	return fit
}

// The summary says how many observations are missing; two programs of the same data can be compared, whatever is missing besides; a
// saved fit is of the same missing data.
func TestMissingInReports(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	some, longer := levels(t, 0.1, nan, -0.3, 0.4, 2, 1.7, nan, 2.2), levels(t, 0.1, nan, -0.3, 0.4, 2, 1.7, nan, 2.2, nan, nan)
	fit := fitOf(t, some)
	summary := fit.Summary()
	require.Equal(t, [2]int{2, 8}, [2]int{summary.Missing, summary.Observations})
	require.Contains(t, summary.String(), "missing: 2 of 8 observations\n")
	whole := fitOf(t, levels(t, 0.1, 0, -0.3, 0.4, 2, 1.7, 2, 2.2))
	require.NotContains(t, whole.Summary().String(), "missing:")

	c, err := vi.Compare(fit, fitOf(t, longer))
	require.NoError(t, err)
	require.InDelta(t, 0.5, c.Models[0].Prob.Value, 5*c.Models[0].Prob.SE)
	_, err = vi.Compare(fit, whole)
	require.ErrorContains(t, err, "observations")

	var file bytes.Buffer
	require.NoError(t, fit.Save(&file))
	saved := file.String()
	_, err = vi.Load(bytes.NewBufferString(saved), some)
	require.NoError(t, err)
	_, err = vi.Load(bytes.NewBufferString(saved), whole.Density)
	require.ErrorContains(t, err, "of other observations")
}

// Series of one program that have different observations missing are fitted by FitAll, each as alone.
func TestMissingInFitAll(t *testing.T) {
	long.Skip(t)
	t.Parallel()
	nan := math.NaN()
	series := map[string][]float64{
		"none": {0.1, 0, -0.3, 0.4, 2, 1.7, 2, 2.2}, "two": {nan, 0, -0.3, 0.4, nan, 1.7, 2, 2.2},
		"last": {0.1, 0, -0.3, 0.4, 2, 1.7, nan, nan}, "all": {nan, nan, nan, nan, nan, nan, nan, nan},
	}
	d := levels(t, series["none"]...)
	for f := range vi.FitAll(context.Background(), d, func(yield func(string, map[string][]float64) bool) {
		for key, y := range series {
			if !yield(key, map[string][]float64{"y": y}) {
				return
			}
		}
	}, vi.Settings{Seed: 1}) {
		require.NoError(t, f.Err)
		alone, err := vi.Fit(context.Background(), levels(t, series[f.Key]...), vi.Settings{Seed: vi.SeedOf(1, f.Key)})
		require.NoError(t, err)
		for _, name := range []string{"when", "a", "b"} {
			want, err := alone.Mean(name)
			require.NoError(t, err)
			got, err := f.Fit.Mean(name)
			require.NoError(t, err)
			require.InDelta(t, want.Value, got.Value, 5*math.Hypot(want.SE, got.SE)+1e-12, "%s of %s", name, f.Key)
		}
	}
}

// A named expression of what is to come is that of the values that are drawn, and so its mean is a probability, here with a closed form.
func TestPredictedExpressions(t *testing.T) {
	m := graph.NewModel()
	level := m.Sample("level", graph.Normal(0, 5))
	for _, y := range []float64{1, 2, 1, 3, math.NaN()} {
		m.Observe("y", graph.Normal(level, 1), y)
	}
	m.Deterministic("above", graph.If(graph.Greater(m.Observed("y", 4), 3), 1, 0))
	const n = 40_000
	r, err := fitOf(t, vitest.Compile(t, m)).Predict(n, 1)
	require.NoError(t, err)
	above, err := r.Mean("above")
	require.NoError(t, err)
	precision := 4 + 1./25
	want := distuv.Normal{Mu: 7 / precision, Sigma: math.Sqrt(1 + 1/precision)}.Survival(3)
	require.InDelta(t, want, above[0], 4*math.Sqrt(want*(1-want)/n))
}

// PredictWith the program of the fit is Predict; another program may have its latents in another order and its own data.
func TestPredictWith(t *testing.T) {
	fit := fitOf(t, levels(t, 0.1, 0, -0.3, 0.4, 2, 1.7, 2, 2.2))
	want, err := fit.Predict(200, 3)
	require.NoError(t, err)
	got, err := fit.PredictWith(fit.Density, 200, 3)
	require.NoError(t, err)
	for _, p := range []*vi.Predictive{&want, &got} {
		_, err := p.Of("y")
		require.NoError(t, err)
	}
	a, _ := want.Of("y")
	b, _ := got.Of("y")
	require.Equal(t, a.RawMatrix().Data, b.RawMatrix().Data)

	m := graph.NewModel()
	high := m.Sample("b", graph.Gamma(1, 1)) // as LogNormal, a logarithm
	when := m.Sample("when", graph.Uniform(0, 9))
	m.Deterministic("sum", graph.Add(high, when))
	m.Observe("x", graph.Normal(graph.Mul(100, high), 1), math.NaN())
	other, err := fit.PredictWith(vitest.Compile(t, m), 200, 3)
	require.NoError(t, err)
	x, err := other.Of("x")
	require.NoError(t, err)
	sum, err := other.Of("sum")
	require.NoError(t, err)
	latents, err := want.Latents.Of("b")
	require.NoError(t, err)
	changes, err := want.Latents.Of("when")
	require.NoError(t, err)
	for k := range latents {
		require.InDelta(t, 100*latents[k], x.At(k, 0), 6)
		require.InDelta(t, latents[k]+changes[k], sum.At(k, 0), 1e-9)
	}
	require.ErrorContains(t, other.Latents.WriteCSV(new(bytes.Buffer)), "not made by a Posterior")

	_, err = fit.PredictWith(nil, 10, 3)
	require.ErrorContains(t, err, "vi: predicting with a nil density")
	for says, build := range map[string]func(m *graph.Model){
		`has a latent "c", of which there are no draws`: func(m *graph.Model) { m.Sample("c", graph.Normal(0, 1)) },
		"latent when cannot be":                         func(m *graph.Model) { m.Sample("when", graph.Uniform(0, 1)) },
		"latent b cannot be":                            func(m *graph.Model) { m.Sample("b", graph.Bernoulli(0.5)) },
	} {
		m := graph.NewModel()
		build(m)
		_, err := fit.PredictWith(vitest.Compile(t, m), 10, 3)
		require.ErrorContains(t, err, says)
	}
}
