package gradient_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
)

// everyFamily are the families for programs of so many latents.
func everyFamily(dim int) map[string]family.Family {
	all := map[string]family.Family{
		"softplus": family.Softplus{}, "mean field": family.MeanField{}, "structured": family.Structured{}, "full rank": family.FullRank{},
	}
	for rank := 1; rank <= min(2, dim); rank++ {
		all[fmt.Sprintf("low rank %d", rank)] = family.LowRank{Rank: rank}
	}
	return all
}

// memberAt is the member of f at θ.
func memberAt(t testing.TB, f family.Family, d *graph.Density, theta []float64) family.Q {
	t.Helper()
	q, err := f.New(d)
	require.NoError(t, err)
	q.Set(theta)
	require.Negative(t, q.Fault())
	return q
}

// sampled are the statistics of gradient estimates from n samples, in batches of 128.
func sampled(t require.TestingT, d *graph.Density, q family.Q, e gradient.Estimator, n int) check.GradientStats {
	const batch = 128
	s, err := check.Gradient(d, q, e, check.GradientSettings{Draws: n / batch, Samples: batch, Seed: *gradient.Seed})
	require.NoError(t, err)
	return s
}

// A judge compares means of estimates with an exact gradient, by component, in
// units of parameters.
type judge struct {
	want []float64
	// missing are parts of want that samples may miss: a mean may be without any
	// share of each.
	missing [][]float64
	unit    []float64
	// detect is the size of an error that must show at five standard errors in
	// every component; 0 if only a rejected estimator tells what the test sees.
	detect float64
	// accuracy is that of want.
	accuracy float64
}

// largest is the largest distance of a mean from want, in standard errors.
func (j judge) largest(t testing.TB, name string, mean, se []float64) float64 {
	t.Helper()
	worst := 0.0
	for k, u := range j.unit {
		d := (mean[k] - j.want[k]) * u
		low, high := 0.0, 0.0
		for _, part := range j.missing {
			low, high = low-max(0, part[k]*u), high-min(0, part[k]*u)
		}
		d -= min(max(d, low), high)
		if j.detect > 0 {
			require.Less(t, 5*se[k]*u, j.detect, "%s is inconclusive: component %d has standard error %g", name, k, se[k])
		}
		if math.Abs(d) > j.accuracy {
			worst = max(worst, math.Abs(d)/(se[k]*u))
		}
	}
	return worst
}

// size is the norm of a gradient in units.
func size(g, unit []float64) float64 {
	x := make([]float64, len(g))
	floats.MulTo(x, g, unit)
	return floats.Norm(x, 2)
}
