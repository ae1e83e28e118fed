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
		fmt.Printf("%.1f: %.1f or %.1f\n", w, masses[0].Value, masses[1].Value)
	}
	// Output:
	// 9.8: 1.0 or 0.0
	// 10.1: 1.0 or 0.0
	// 11.1: 0.1 or 0.9
	// 9.9: 1.0 or 0.0
	// 12.1: 0.0 or 1.0
	// 12.0: 0.0 or 1.0
}

// When was the machine worn? Each hour it may wear out, and it hardly ever mends. The states are a
// chain, which is summed out exactly: the probabilities are those of all 1024 paths.
func ExamplePosterior_Masses_chain() {
	vibration := []float64{0.2, -0.5, 0.9, 0.1, 1.2, 0.6, 1.4, 2.3, 1.8, 2.1}
	m := graph.NewModel()
	worn := m.Sample("worn[0]", graph.Bernoulli(0.1))
	for hour, v := range vibration {
		if hour > 0 {
			worn = m.Sample(fmt.Sprintf("worn[%d]", hour), graph.Bernoulli(graph.Switch(worn, 0.1, 0.999)))
		}
		m.Observe("vibration", graph.Normal(graph.Switch(worn, 0, 2), 1), v)
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
	for hour := range vibration {
		_, masses, err := fit.Masses(fmt.Sprintf("worn[%d]", hour))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d: %.2f\n", hour, masses[1].Value)
	}
	// Output:
	// 0: 0.00
	// 1: 0.00
	// 2: 0.05
	// 3: 0.10
	// 4: 0.37
	// 5: 0.53
	// 6: 0.86
	// 7: 0.99
	// 8: 1.00
	// 9: 1.00
}
