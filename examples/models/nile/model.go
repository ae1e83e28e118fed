// Package nile is two shifts of the level of a series: the river's yearly flow at Aswan.
//
//	first, second         ~ Uniform(1871, 1970)
//	before, middle, after ~ Normal(9, 2)                 10¹⁰ m³ a year
//	noise                 ~ HalfNormal(2)
//	flow_y                ~ Normal(level, noise), where the level is before,
//	    middle or after if none, one or both of the shifts have come by y
package nile

import "github.com/facetvi/facet/graph"

// Unit is that of the model, in units of the data.
const Unit = 100

// Model is the program for the flows of the years from FirstYear on, and the latent of its second shift. Its guards "first ahead"
// and "second ahead" say of each year that the shift is still to come.
func Model(flow []float64) (m *graph.Model, second graph.Expr) {
	m = graph.NewModel()
	years := graph.Uniform(FirstYear, FirstYear+len(flow)-1)
	first, second := m.Sample("first", years), m.Sample("second", years)
	prior := graph.Normal(9, 2)
	before, middle, after := m.Sample("before", prior), m.Sample("middle", prior), m.Sample("after", prior)
	noise := m.Sample("noise", graph.HalfNormal(2))

	for i, v := range flow {
		year := FirstYear + i
		ahead1 := m.Name("first ahead", graph.Greater(first, year))
		ahead2 := m.Name("second ahead", graph.Greater(second, year))
		level := graph.If(ahead1, graph.If(ahead2, before, middle), graph.If(ahead2, middle, after))
		m.Observe("flow", graph.Normal(level, noise), v/Unit)
	}
	return m, second
}
