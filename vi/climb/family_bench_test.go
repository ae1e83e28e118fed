package climb

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
)

// priorIn is the member of f that is nearest to prior.
func priorIn(b testing.TB, f family.Family, d *graph.Density) family.Q {
	q, err := family.Of(f, d, Prior(d))
	require.NoError(b, err)
	return q
}

// BenchmarkFamily is an iteration of a fit in each family, at the prior: there most guards are in reach.
func BenchmarkFamily(b *testing.B) {
	for _, model := range floorModels {
		for _, f := range []family.Family{
			family.MeanField{}, family.Softplus{}, family.Structured{}, family.FullRank{}, family.LowRank{Rank: 2},
		} {
			b.Run(fmt.Sprintf("model=%s/family=%s/N=16", model, f.Name()), func(b *testing.B) {
				_, d := paperSpec(b, model)
				f, err := newFitter(d, newJob(d, Settings{Estimator: gradient.Boundary{}, Samples: 16, StepSize: tinyStep, Start: priorIn(b, f, d)}))
				require.NoError(b, err)
				require.NoError(b, f.step())
				b.ReportAllocs()
				for b.Loop() {
					if err := f.step(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
