package vi_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/trials"
	"github.com/facetvi/facet/vi"
)

// moments are those by a fit of what a reference is of.
func moments(b *testing.B, fit *vi.Posterior, ref trials.Reference) (mean, sd float64) {
	if !ref.Log {
		m, err := fit.Mean(ref.Latent)
		require.NoError(b, err)
		s, err := fit.SD(ref.Latent)
		require.NoError(b, err)
		return m.Value, s.Value
	}
	i, _ := fit.Density.Latent(ref.Latent)
	of := func(f func(x float64) float64) float64 {
		e, err := fit.Expect(func(x []float64) float64 { return f(math.Log(x[i])) })
		require.NoError(b, err)
		return e.Value
	}
	mean = of(func(x float64) float64 { return x })
	return mean, math.Sqrt(of(func(x float64) float64 { return (x - mean) * (x - mean) }))
}

// What the default fit costs, and how far it is from references: means in posterior standard deviations, and standard deviations
// as parts of these. BenchmarkModels of vi/smc is of the sampler alone. All models are fitted with -tags long.
func BenchmarkTrials(b *testing.B) {
	for _, x := range slices.Concat(trials.Ordinary, trials.Hard)[:long.Or(3, len(trials.Ordinary)+len(trials.Hard))] {
		b.Run(x.Name, func(b *testing.B) {
			m := graph.NewModel()
			x.Build(m)
			d, err := m.Compile()
			require.NoError(b, err)
			refs, err := x.References(d)
			require.NoError(b, err)
			cpu, seed, trusted := 0.0, uint64(0), 0.0
			var off trials.Off
			for b.Loop() {
				seed++
				from := cputime.Seconds()
				fit, err := vi.Fit(context.Background(), d, vi.Settings{Seed: seed})
				require.NoError(b, err)
				cpu += cputime.Seconds() - from
				for _, ref := range refs {
					mean, sd := moments(b, fit, ref)
					off.Add(ref, mean, sd)
				}
				v, err := fit.Verdict()
				require.NoError(b, err)
				if v.Trust == vi.TrustFit {
					trusted++
				}
				b.Log(v)
			}
			b.Log(off)
			b.ReportMetric(cpu/float64(b.N), "CPU-s")
			b.ReportMetric(off.Mean, "mean-off")
			b.ReportMetric(off.SD, "sd-off")
			b.ReportMetric(trusted/float64(b.N), "trusted")
		})
	}
}
