// Package coalmining is a change point in counts: disasters in British coal mines, year by year.
//
//	change        ~ Uniform(1851, 1962)
//	before, after ~ Exponential(1/2)           disasters a year
//	count_y       ~ Poisson(before) if y < change, else Poisson(after)
package coalmining

import "github.com/facetvi/facet/graph"

// Model is the program for the counts of the years from FirstYear on. Its guards "old" say of each year that the change is
// still to come.
func Model(counts []float64) *graph.Model {
	m := graph.NewModel()
	change := m.Sample("change", graph.Uniform(FirstYear, FirstYear+len(counts)-1))
	before := m.Sample("before", graph.Exponential(0.5))
	after := m.Sample("after", graph.Exponential(0.5))
	for i, n := range counts {
		old := m.Name("old", graph.Less(FirstYear+i, change)) // the density jumps here
		rate := m.Deterministic("rate", graph.If(old, before, after))
		m.Observe("disasters", graph.Poisson(rate), n)
	}
	m.Deterministic("left", graph.Div(after, before))
	return m
}
