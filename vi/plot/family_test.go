package plot

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

// Every picture can be drawn of the fit of any family.
func TestFamilies(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	y := m.Sample("y", graph.Normal(x, 0.5))
	up := m.Name("up", graph.Greater(graph.Add(x, y), 0.5))
	m.Observe("o", graph.Normal(graph.If(up, 1, 0.5), 1), 1)
	d, err := m.Compile()
	require.NoError(t, err)
	for _, f := range []family.Family{family.MeanField{}, family.Structured{}, family.FullRank{}, family.LowRank{Rank: 1}}[:long.Or(2, 4)] {
		fit, err := vi.Fit(context.Background(), d, vi.Settings{Seed: 1, Method: vi.Climb{Family: f, Steps: long.Or(100, 1000)}})
		require.NoError(t, err)
		_, err = Marginals(fit)
		require.NoError(t, err)
		_, err = Guards(fit, d.Named("up"), nil)
		require.NoError(t, err)
	}
}
