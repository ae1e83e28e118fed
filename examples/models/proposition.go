package models

import "github.com/facetvi/facet/graph"

// Proposition is the model of the paper's Proposition 2, for which reparameterization without the boundary is wrong; see
// [PropositionOracle]. Its guard is "positive".
func Proposition() *graph.Model {
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	mean := graph.If(m.Name("positive", graph.Greater(z, 0)), 5, -2)
	m.Observe("x", graph.Normal(mean, 1), 0.0)
	return m
}
