package expect_test

import (
	"context"
	"fmt"
	"log"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/graph"
)

// How much stock is best, if a unit costs 1, demand is Normal(8, 3), and to run out of stock costs 20? Where the cost is
// least 1 = 20·φ((level − 8)/3)/3, at 12.196, and it is 13.815.
func Example() {
	m := graph.NewSimulation()
	level := m.Param("level", 9)
	demand := m.Sample("demand", graph.Normal(8, 3))
	short := graph.If(graph.Greater(demand, level), 20, 0) // the cost jumps here
	cost, err := expect.Of(m, graph.Add(level, short))
	if err != nil {
		log.Fatal(err)
	}
	here, err := cost.Estimate(context.Background(), 100_000, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("E[cost] = %v, ∂E[cost]/∂level = %.3f\n", here.Value, here.By("level").Value)
	best, err := cost.Minimize(context.Background(), expect.Settings{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("at best level = %.1f, E[cost] = %v\n", best.At[0], best.Value)
	// Output:
	// E[cost] = 16.4482 ± 0.033, ∂E[cost]/∂level = -1.516
	// at best level = 12.2, E[cost] = 13.85 ± 0.017
}
