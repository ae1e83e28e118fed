// Package nile is no, one or two shifts of the level of a series: the river's yearly flow at Aswan. With two,
//
//	first, second         ~ Uniform(1871, 1970)
//	before, middle, after ~ Normal(9, 2)                 10¹⁰ m³ a year
//	noise                 ~ HalfNormal(2)
//	flow_y                ~ Normal(level, noise), where the level is before,
//	    middle or after if none, one or both of the shifts have come by y
//
// With one there is no second shift and no middle, and with none a level throughout, before.
package nile

import "github.com/facetvi/facet/graph"

// Unit is that of the model, in units of the data.
const Unit = 100

// Model is the program for the flows of the years from FirstYear on, with 0, 1 or 2 shifts. Its guards "first ahead" and "second
// ahead" say of each year that the shift is still to come. It panics if shifts is another number.
func Model(flow []float64, shifts int) *graph.Model {
	m := graph.NewModel()
	names := []string{"first", "second"}[:shifts]
	var when, levels []graph.Expr
	for _, name := range names {
		when = append(when, m.Sample(name, graph.Uniform(FirstYear, FirstYear+len(flow)-1)))
	}
	for _, name := range [][]string{{"before"}, {"before", "after"}, {"before", "middle", "after"}}[shifts] {
		levels = append(levels, m.Sample(name, graph.Normal(9, 2)))
	}
	noise := m.Sample("noise", graph.HalfNormal(2))

	for i, v := range flow {
		var ahead []graph.Guard
		for k, name := range names {
			ahead = append(ahead, m.Name(name+" ahead", graph.Greater(when[k], FirstYear+i)))
		}
		m.Observe("flow", graph.Normal(level(ahead, levels), noise), v/Unit)
	}
	return m
}

// level is levels[k] after k of the shifts, given which are still ahead.
func level(ahead []graph.Guard, levels []graph.Expr) graph.Expr {
	if len(ahead) == 0 {
		return levels[0]
	}
	return graph.If(ahead[0], level(ahead[1:], levels), level(ahead[1:], levels[1:]))
}
