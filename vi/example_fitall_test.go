package vi_test

import (
	"context"
	"fmt"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// One program and many series: when did each rise? An iterator can read them from a file or
// a database as they are needed.
func ExampleFitAll() {
	const days = 6
	m := graph.NewModel()
	when := m.Sample("when", graph.Uniform(0, days))
	before, after := m.Sample("before", graph.Normal(0, 2)), m.Sample("after", graph.Normal(0, 2))
	for day := range days {
		m.Observe("y", graph.Normal(graph.If(graph.Greater(when, day), before, after), 0.5), 0)
	}
	d, err := m.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	series := func(yield func(string, map[string][]float64) bool) {
		_ = yield("north", map[string][]float64{"y": {0.1, -0.2, 3.1, 2.8, 3.0, 3.3}}) &&
			yield("south", map[string][]float64{"y": {1.1, 0.8, 1.0, 1.3, 3.9, 4.2}}) &&
			yield("west", map[string][]float64{"y": {1, 2}})
	}
	for f := range vi.FitAll(context.Background(), d, series, vi.Settings{Seed: 1}) {
		if f.Err != nil {
			fmt.Println(f.Err)
			continue
		}
		day, err := f.Fit.Quantile("when", 0.5)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: day %.0f\n", f.Key, day.Value+0.5)
	}
	// Output:
	// north: day 2
	// south: day 4
	// vi: "west": graph: observation "y": 2 values for 6 observations
}
