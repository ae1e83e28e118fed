package cells

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
)

// twoRoots is a decision tree of depth 2 that explains a table of two by two cells by either of two variables first: one is a little better.
func twoRoots(t *testing.T) *graph.Density {
	const rows, noise = 120, 0.7
	rng, m := parallel.NewRand(5), graph.NewModel()
	by, at := m.SampleN("by", 3, graph.Bernoulli(0.5)), m.SampleN("at", 3, graph.Uniform(0, 1))
	leaf := m.SampleN("leaf", 4, graph.Normal(0, 3))
	for range rows {
		x := [2]float64{rng.Float64(), rng.Float64()}
		y := noise * rng.NormFloat64()
		switch a, b := x[0] > 0.4, x[1] > 0.6; {
		case a && b:
			y += 2
		case a:
			y--
		case b:
			y -= 1.2
		}
		var above [3]graph.Guard
		for j := range above {
			above[j] = graph.Or(graph.And(graph.Equal(by[j], 1), graph.Less(at[j], x[1])), graph.And(graph.Equal(by[j], 0), graph.Less(at[j], x[0])))
		}
		mean := graph.If(above[0], graph.If(above[2], leaf[3], leaf[2]), graph.If(above[1], leaf[1], leaf[0]))
		m.Observe("y", graph.Normal(mean, noise), y)
	}
	d, err := m.Compile()
	require.NoError(t, err)
	return d
}

// From a point at which nothing fits, the search finds the cells of both roots, whichever of them the point has.
func TestCoarse(t *testing.T) {
	d := twoRoots(t)
	var total []float64
	for _, by := range []float64{0, 1} {
		z := make([]float64, d.Dim())
		var err error
		for i := range 3 {
			z[i], err = d.Coordinate(i).Inverse(by)
			require.NoError(t, err)
		}
		f, err := Find(context.Background(), d, Settings{Points: [][]float64{z}, Most: 1000, Seed: 1, Switches: d.Engine().Switches()})
		require.NoError(t, err)
		total = append(total, f.total())
		mass := map[string]float64{} // by the root's variable
		for _, c := range f.Cells {
			mass[f.values(c)] += math.Exp(c.LogEvidence.Value - f.total())
		}
		t.Log(len(f.Cells), f.Tried, f.total(), mass)
		most := 0.0
		for _, m := range mass {
			most = max(most, m)
		}
		require.InDelta(t, 0.75, most, 0.2)
	}
	require.InDelta(t, total[0], total[1], 0.05)
}
