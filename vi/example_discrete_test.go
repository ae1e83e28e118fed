package vi_test

import (
	"context"
	"fmt"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// Which machine made each part? Two machines differ in what their parts weigh; a discrete
// latent for each part says which it is from.
func ExamplePosterior_Masses() {
	weights := []float64{9.8, 10.1, 11.1, 9.9, 12.1, 12.0}
	m := graph.NewModel()
	share := m.Sample("share", graph.Beta(2, 2))
	first := m.Sample("first", graph.Normal(10, 0.5))
	second := m.Sample("second", graph.Normal(12, 0.5))
	for i, w := range weights {
		machine := m.Sample(fmt.Sprintf("machine[%d]", i), graph.Bernoulli(share))
		m.Observe("weight", graph.Normal(graph.Switch(machine, first, second), 0.3), w)
	}
	d, err := m.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	fit, err := vi.Fit(context.Background(), d, vi.Settings{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, w := range weights {
		_, masses, err := fit.Masses(fmt.Sprintf("machine[%d]", i))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%.1f: %.1f\n", w, masses)
	}
	// Output:
	// 9.8: [1.0 0.0]
	// 10.1: [1.0 0.0]
	// 11.1: [0.1 0.9]
	// 9.9: [1.0 0.0]
	// 12.1: [0.0 1.0]
	// 12.0: [0.0 1.0]
}
