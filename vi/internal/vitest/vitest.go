// Package vitest holds what the tests of vi and of the packages below it share:
// models with closed forms, and comparisons by standard errors.
package vitest

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/mc"
)

// Compile compiles a model that has no errors.
func Compile(t testing.TB, m *graph.Model) *graph.Density {
	t.Helper()
	d, err := m.Compile()
	require.NoError(t, err)
	return d
}

// Change is a series with a change point that may be anywhere.
func Change(t testing.TB) *graph.Density {
	t.Helper()
	m := graph.NewModel()
	when := m.Sample("when", graph.Uniform(0, 12))
	before, after := m.Sample("before", graph.Normal(0, 3)), m.Sample("after", graph.Normal(0, 3))
	for i, y := range []float64{0.3, -0.4, 0.6, 0.1, 2.3, 0.4, 2.9, 3.3, 2.6, 2.4, 3.1} {
		m.Observe("y", graph.Normal(graph.If(m.Name("past", graph.Greater(i+1, when)), after, before), 1), y)
	}
	return Compile(t, m)
}

// Paper is one of the paper's experiments, compiled.
func Paper(t testing.TB, name string) (models.Spec, *graph.Density) {
	t.Helper()
	spec, err := models.ByName(name)
	require.NoError(t, err)
	return spec, Compile(t, spec.Model())
}

// Smooth is a model without guards.
func Smooth(t testing.TB) *graph.Density {
	t.Helper()
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	r := m.Sample("rate", graph.Gamma(2, 1))
	m.Observe("y", graph.Normal(graph.Sin(x), graph.Sqrt(r)), 0.5)
	m.Observe("k", graph.Poisson(r), 3)
	return Compile(t, m)
}

// MaxZ is the largest |mean − want| in standard errors. Components without
// variance must agree to rounding. A component whose standard error could not
// show an error of detect·scale makes the test inconclusive, where scale is the
// largest component of want.
func MaxZ(t testing.TB, mean, se, want []float64, detect float64) float64 {
	t.Helper()
	scale := 0.0
	for _, w := range want {
		scale = math.Max(scale, math.Abs(w))
	}
	return MaxZScaled(t, mean, se, want, detect*scale, scale)
}

// MaxZScaled is MaxZ with the error that must be seen given, and the scale of
// rounding.
func MaxZScaled(t testing.TB, mean, se, want []float64, seen, scale float64) float64 {
	t.Helper()
	require.Len(t, mean, len(want))
	worst := 0.0
	for i, w := range want {
		require.Less(t, 5*se[i], seen, "inconclusive: component %d has standard error %g", i, se[i])
		d := math.Abs(mean[i] - w)
		if d <= 1e-11*scale {
			continue
		}
		worst = math.Max(worst, d/se[i])
	}
	return worst
}

// Estimate fails beyond five standard errors, and if these could not show an error
// of seen.
func Estimate(t testing.TB, what string, want float64, got mc.Estimate, seen float64) {
	t.Helper()
	require.Less(t, 5*got.SE, seen, "inconclusive: %s", what)
	require.LessOrEqual(t, math.Abs(got.Value-want), 5*got.SE+1e-9*math.Abs(want), "%s: %v, want %v", what, got, want)
}

// Draws is the number of draws of a test that has n with -exhaustive: a quarter of them with -tags long, a ninth without,
// and a sixteenth with -short. Precision says what is still seen of an error.
func Draws(n int) int {
	coarse := coarser()
	return n / (coarse * coarse)
}

// Precision is the error that a test with Draws detects: detect with -exhaustive, and as many times
// that as standard errors are larger.
func Precision(detect float64) float64 { return float64(coarser()) * detect }

// coarser is by what standard errors are larger than with -exhaustive.
func coarser() int {
	if testing.Short() {
		return 4
	}
	return long.Few(long.Or(3, 2), 1)
}
