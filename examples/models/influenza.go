package models

import (
	"fmt"

	"github.com/facetvi/facet/graph"
)

// Influenza is monthly mortality with an epidemic state f, for len(obs) months; see [InfluenzaOracle]. The level a, its lag b and
// the excess c are recurrences without noise of their own, all affine in the latents v and w.
// Its guards "type1" say that a month is of type 1.
func Influenza(obs []float64) *graph.Model {
	m := graph.NewModel()
	f := m.Sample("f0", graph.Normal(0, 1))
	var a, b, c graph.Expr
	for i, x := range obs {
		name := func(latent string) string { return fmt.Sprintf("%s%d", latent, i+1) }
		v := m.Sample(name("v"), graph.Normal(0, 0.023))
		w := m.Sample(name("w"), graph.Normal(0, 0.112))
		a, b = graph.Add(graph.Add(graph.Mul(1.406, a), graph.Mul(-0.622, b)), v), a
		c = graph.Add(graph.Add(graph.Mul(-0.312, c), 0.21), w)

		f = m.Sample(name("f"), graph.Normal(graph.If(graph.Greater(f, 0), 0.67, -0.67), 1))
		mean := graph.If(m.Name("type1", graph.Greater(f, 0)), a, graph.Add(a, c))
		m.Observe("obs", graph.Normal(mean, 0.002), x)
	}
	return m
}
