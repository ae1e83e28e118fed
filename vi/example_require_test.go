package vi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// A condition that must hold. Given that a > b, two standard normals have means of ±1/√π, and the evidence is P(a > b) = 1/2.
func ExampleFit_require() {
	m := graph.NewModel()
	a := m.Sample("a", graph.Normal(0, 1))
	b := m.Sample("b", graph.Normal(0, 1))
	m.Require(graph.Greater(a, b))

	density, err := m.Compile()
	if err != nil {
		log.Fatal(err)
	}
	fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	mean, err := fit.Mean("a")
	if err != nil {
		log.Fatal(err)
	}
	evidence, err := fit.LogEvidence()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("mean of a %.2f, log evidence %.2f\n", mean.Value, evidence.Value)
	// Output:
	// mean of a 0.56, log evidence -0.69
}
