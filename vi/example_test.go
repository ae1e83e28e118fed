package vi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// A drug works from some dose on. From which, and how well?
func Example() {
	dose := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	response := []float64{0.2, -0.4, 0.1, 0.3, -0.2, 0.4, 2.3, 1.7, 2.2, 1.9}

	m := graph.NewModel()
	threshold := m.Sample("threshold", graph.Normal(5, 3))
	without := m.Sample("without", graph.Normal(0, 2))
	with := m.Sample("with", graph.Normal(0, 2))
	for i, x := range dose {
		works := graph.Greater(x, threshold) // the density jumps here
		m.Observe("response", graph.Normal(graph.If(works, with, without), 0.5), response[i])
	}

	density, err := m.Compile()
	if err != nil {
		log.Fatal(err)
	}
	fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range density.Latents() {
		mean, _ := fit.Mean(name)
		sd, _ := fit.SD(name)
		fmt.Printf("%-9s %4.1f ± %.1f\n", name, mean.Value, sd.Value)
	}
	// Output:
	// threshold  6.5 ± 0.3
	// without    0.1 ± 0.2
	// with       2.0 ± 0.3
}
