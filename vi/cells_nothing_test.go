package vi

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// What has no posterior is an error that says so, also by default.
func TestCellsOfNothing(t *testing.T) {
	t.Parallel()
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Factor(graph.Mul(x, x))
	_, err := Fit(context.Background(), mustCompile(t, m), Settings{Seed: 1})
	require.ErrorContains(t, err, "vi: log r has no maximum in any cell that was found: if it rises without end, the posterior is not a distribution")
	m = graph.NewModel()
	x = m.Sample("x", graph.Normal(0, 1))
	m.Factor(graph.Log(graph.Sub(x, 100)))
	_, err = Fit(context.Background(), mustCompile(t, m), Settings{Seed: 1})
	require.ErrorContains(t, err, "log r is finite at none of the draws from the prior")
	require.ErrorContains(t, err, "cells_nothing_test.go:")
}
