package vi

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/cputime"
)

// BenchmarkTruncatedPriors is a default fit with two latents that have a truncated prior, beside the same with the priors as
// they are: CPU seconds of each, and how many of the second the first one costs.
func BenchmarkTruncatedPriors(b *testing.B) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name   string
		prior  func(mean graph.Expr) graph.Dist
		lo, hi float64
	}{
		{"Normal", func(graph.Expr) graph.Dist { return graph.Normal(1, 2) }, 0.2, inf},
		{"NormalLatentMean", func(mean graph.Expr) graph.Dist { return graph.Normal(mean, 2) }, 0.2, inf},
		{"Gamma", func(graph.Expr) graph.Dist { return graph.Gamma(2, 1) }, 0.3, 4},
		{"GammaLatentRate", func(mean graph.Expr) graph.Dist { return graph.Gamma(2, graph.Exp(mean)) }, 0.3, 4},
		{"LogNormal", func(graph.Expr) graph.Dist { return graph.LogNormal(0, 1) }, 0.3, 4},
		{"Exponential", func(graph.Expr) graph.Dist { return graph.Exponential(1) }, 0.3, 4},
		{"InverseGamma", func(graph.Expr) graph.Dist { return graph.InverseGamma(2, 1) }, 0.3, 4},
		{"StudentsT", func(graph.Expr) graph.Dist { return graph.StudentsT(3, 1, 1) }, 0.3, 4},
		{"Beta", func(graph.Expr) graph.Dist { return graph.Beta(2, 2) }, 0.2, 0.9},
		{"Weibull", func(graph.Expr) graph.Dist { return graph.Weibull(1.5, 1) }, 0.3, 4},
	} {
		b.Run(c.name, func(b *testing.B) {
			var seconds [2]float64
			for i := 0; b.Loop(); i++ {
				for k := range seconds {
					d := scales(b, func(mean graph.Expr) graph.Dist {
						if k == 0 {
							return graph.Truncated(c.prior(mean), c.lo, c.hi)
						}
						return c.prior(mean)
					}, c.name)
					start := cputime.Seconds()
					_, err := Fit(context.Background(), d, Settings{Seed: uint64(i + 1)})
					require.NoError(b, err)
					seconds[k] += cputime.Seconds() - start
				}
			}
			b.ReportMetric(seconds[0]/float64(b.N), "CPU-s/truncated")
			b.ReportMetric(seconds[1]/float64(b.N), "CPU-s/whole")
			b.ReportMetric(seconds[0]/seconds[1], "ratio")
		})
	}
}

// scales are observations of a mean and one of two latents that have the prior.
func scales(t testing.TB, prior func(mean graph.Expr) graph.Dist, name string) *graph.Density {
	m := graph.NewModel()
	mean := m.Sample("mean", graph.Normal(0, 1))
	x := m.Sample("x", prior(mean))
	y := m.Sample("y", prior(mean))
	for i, v := range []float64{0.4, 1.1, 0.8, 0.2, 1.4, 0.7, 0.9, 0.3} {
		at := x
		if i%2 == 1 {
			at = y
		}
		m.Observe("v", graph.Normal(graph.Add(mean, at), 0.5), v)
	}
	d, err := m.Compile()
	require.NoError(t, err, name)
	return d
}
