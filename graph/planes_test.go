package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

func TestPlanes(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	y := m.Sample("y", graph.Normal(0, 1))
	a, b, c := graph.Greater(x, 0), graph.Less(y, 1), graph.Greater(graph.Add(x, y), 2)
	require.Equal(t, []int{0}, a.Planes())
	require.Equal(t, []int{1}, b.Planes())
	require.Equal(t, []int{0}, graph.Less(graph.Mul(3, x), 0).Planes(), "the same hyperplane")
	require.Equal(t, []int{0, 1, 2}, graph.Or(graph.And(c, graph.Not(a)), graph.And(b, a)).Planes())
	require.Empty(t, graph.Greater(1, 0).Planes())
	require.Empty(t, graph.Guard{}.Planes())
}
