package plot

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

// The ellipse of a correlated fit is its covariance, and every picture can be
// drawn of it.
func TestCorrelatedFits(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	y := m.Sample("y", graph.Normal(x, 0.5))
	up := m.Name("up", graph.Greater(graph.Add(x, y), 0.5))
	m.Observe("o", graph.Normal(graph.If(up, 1, 0.5), 1), 1)
	d, err := m.Compile()
	require.NoError(t, err)
	for _, f := range []family.Family{family.Structured{}, family.FullRank{}, family.LowRank{Rank: 1}} {
		fit, err := vi.Fit(context.Background(), d, vi.Settings{Family: f, Steps: 1000, Seed: 1})
		require.NoError(t, err)
		s, err := newSlice(fit, 0, 1)
		require.NoError(t, err)
		a, b, c := s.root()
		along := fit.Q.(family.Gaussian).Regression(regions.Hyperplane{Index: []int{0}, Coef: []float64{1}})
		require.InEpsilon(t, fit.Q.SD(0), a, 1e-6)
		require.InEpsilon(t, along[1]*fit.Q.SD(0), b, 1e-6, "Cov(x, y)/sd(x)")
		require.InEpsilon(t, fit.Q.SD(1)*fit.Q.SD(1), b*b+c*c, 1e-6)
		_, err = Regions(fit, "x", "y")
		require.NoError(t, err)
		_, err = Marginals(fit)
		require.NoError(t, err)
		_, err = Guards(fit, d.Named("up"), nil)
		require.NoError(t, err)
	}
}
