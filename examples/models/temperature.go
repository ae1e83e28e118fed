package models

import (
	"fmt"

	"github.com/facetvi/facet/graph"
)

// Temperature is a room with an air conditioner that switches itself, for len(obs) − 1 steps; see [TemperatureOracle]. As in the
// authors' program the state q and the noise's scale branch on the same test in two ifs: four ifs a step, of three
// hyperplanes. Its guards "on" say that it cools in step 1, 2, …. It panics if obs is empty.
func Temperature(obs []float64) *graph.Model {
	m := graph.NewModel()
	theta := m.Sample("theta0", graph.Normal(20, 0.001))
	m.Observe("obs", graph.Normal(theta, 1), obs[0])

	var q graph.Expr // off
	for i := 1; i < len(obs); i++ {
		cold, hot := graph.Less(theta, 18), graph.Greater(theta, 22)
		mean := graph.If(cold, 0, graph.If(hot, 1, q))
		noise := m.Sample(fmt.Sprintf("q%d-noise", i), graph.Normal(mean, 0.001))
		q = graph.If(m.Name("on", graph.Greater(noise, 0.5)), 1, 0)
		scale := graph.If(graph.Greater(noise, 0.5), 0.22, 0.2)

		drift := graph.Div(graph.Sub(32, graph.Add(theta, graph.Mul(21, q))), 15)
		theta = m.Sample(fmt.Sprintf("theta%d", i), graph.Normal(graph.Add(theta, drift), graph.Mul(2, scale)))
		m.Observe("obs", graph.Normal(theta, 1), obs[i])
	}
	return m
}
