package smc_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi"
)

// What the default fit costs, and how far it is from references: means in posterior standard deviations, and standard deviations
// as parts of these. BenchmarkModels is of the sampler alone. All models are fitted with -long.
func BenchmarkFit(b *testing.B) {
	for _, x := range trials[:long.Or(3, len(trials))] {
		b.Run(x.name, func(b *testing.B) {
			d := density(b, x.build)
			cpu, mean, sd, seed, trusted := 0.0, 0.0, 0.0, uint64(0), 0.0
			for b.Loop() {
				seed++
				from := cputime.Seconds()
				fit, err := vi.Fit(context.Background(), d, vi.Settings{Seed: seed})
				require.NoError(b, err)
				cpu += cputime.Seconds() - from
				for _, ref := range x.references {
					m, err := fit.Mean(ref.latent)
					require.NoError(b, err)
					s, err := fit.SD(ref.latent)
					require.NoError(b, err)
					mean = max(mean, math.Abs(m.Value-ref.mean)/ref.sd)
					sd = max(sd, math.Abs(s.Value/ref.sd-1))
				}
				v, err := fit.Verdict()
				require.NoError(b, err)
				if v.Trust == vi.TrustFit {
					trusted++
				}
				b.Log(v)
			}
			b.ReportMetric(cpu/float64(b.N), "CPU-s")
			b.ReportMetric(mean, "mean-off")
			b.ReportMetric(sd, "sd-off")
			b.ReportMetric(trusted/float64(b.N), "trusted")
		})
	}
}
