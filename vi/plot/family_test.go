package plot

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

// Of a mixture the pieces are seen: its marginal is 0 between two cells, and its contours
// go round each.
func TestMixtures(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	y := m.Sample("y", graph.Normal(0, 1))
	r := m.Sample("r", graph.Gamma(2, 1))
	m.Observe("o", graph.Normal(r, 1), 1)
	graph.Greater(graph.Add(x, y), 0)
	d, err := m.Compile()
	require.NoError(t, err)
	fit := &vi.Posterior{Density: d, Q: family.NewMixture([]float64{0, 0}, []family.Q{
		family.Independent([]float64{-1, 0, 0}, []float64{0.1, 0.3, 0.4}), family.Independent([]float64{1, 0.2, 0}, []float64{0.2, 0.3, 0.5}),
	})}
	points, err := marginal(fit, 0)
	require.NoError(t, err)
	least, sum := math.Inf(1), 0.0
	for k, p := range points[1:] {
		sum += (p.X - points[k].X) * (p.Y + points[k].Y) / 2
		if math.Abs(p.X) < 0.5 {
			least = min(least, p.Y)
		}
	}
	require.InDelta(t, 1, sum, 1e-3)
	require.Less(t, least, 0.1)
	s, err := newSlice(fit, 0, 1)
	require.NoError(t, err)
	lines, err := s.fitContours()
	require.NoError(t, err)
	require.Len(t, lines, 2*len(shares))
	_, err = Regions(fit, "x", "y")
	require.NoError(t, err)
	_, err = Marginals(fit)
	require.NoError(t, err)

	// a truncated piece ends at its end
	cell := family.Law{{Weight: 1, Mean: 0, SD: 1, Lo: 0.5, Hi: math.Inf(1)}}
	at := grid(cell)
	require.Zero(t, cell.Density(at[0]))
	require.InDelta(t, 0.5, at[1], 1e-3)
	require.Greater(t, cell.Density(at[1]), 1.1)
}

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
	for _, f := range []family.Family{family.MeanField{}, family.Structured{}, family.FullRank{}, family.LowRank{Rank: 1}} {
		fit, err := vi.Fit(context.Background(), d, vi.Settings{Seed: 1, Method: vi.Climb{Family: f, Steps: 1000}})
		require.NoError(t, err)
		s, err := newSlice(fit, 0, 1)
		require.NoError(t, err)
		a, b, c := s.root()
		along := fit.Q.(family.Gaussian).Regression(regions.Hyperplane{Index: []int{0}, Coef: []float64{1}})
		require.InEpsilon(t, fit.Q.SD(0), a, 1e-6)
		require.InDelta(t, along[1]*fit.Q.SD(0), b, 1e-6*fit.Q.SD(1), "Cov(x, y)/sd(x)")
		require.InEpsilon(t, fit.Q.SD(1)*fit.Q.SD(1), b*b+c*c, 1e-6)
		_, err = Regions(fit, "x", "y")
		require.NoError(t, err)
		_, err = Marginals(fit)
		require.NoError(t, err)
		_, err = Guards(fit, d.Named("up"), nil)
		require.NoError(t, err)
	}
}
