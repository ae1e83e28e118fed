package vi_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

// The summary names the strongest correlations, and they are those of the draws: also by a mean field, which has none itself.
func TestSummaryCorrelations(t *testing.T) {
	d := newLinearModel(false, 10, rand.New(rand.NewPCG(1, 2))).compile(t)
	for _, f := range []family.Family{family.FullRank{}, family.MeanField{}, family.Structured{}, family.LowRank{Rank: 2}}[:long.Or(1, 4)] {
		fit, err := vi.Fit(context.Background(), d, vi.Settings{Seed: 1, Method: vi.Climb{Family: f, Steps: 2000}})
		require.NoError(t, err)
		s := fit.Summary()
		require.Len(t, s.Correlations, 10, f.Name())
		require.Regexp(t, `correlation\n`, s.String())
		sample, err := fit.Sample()
		require.NoError(t, err)
		draws, err := fit.Draws(20000, 1)
		require.NoError(t, err)
		for _, c := range s.Correlations {
			a, err := draws.Of(c.A)
			require.NoError(t, err)
			b, err := draws.Of(c.B)
			require.NoError(t, err)
			drawn := stat.Correlation(a, b, nil)
			require.InDelta(t, drawn, c.Value, 5*(1-drawn*drawn)*math.Sqrt(1/sample.ESS+1./20000), "%s %s", c.A, c.B)
		}
		some, err := s.Of(s.Correlations[0].A, s.Correlations[0].B)
		require.NoError(t, err)
		require.Equal(t, s.Correlations[:1], some.Correlations[:1])
	}
}
