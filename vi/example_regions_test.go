package vi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// A heater that nobody saw: was it on in hour 3, and what is its most probable
// history? The numbers are those of the exact posterior, in which the hours are
// independent and each has odds exp((2x − 1)/0.32) of on.
func ExamplePosterior_MostProbablePath() {
	warmth := []float64{0.2, -0.1, 1.1, 0.6, 0.9, 0.1}

	m := graph.NewModel()
	for t, x := range warmth {
		drive := m.Sample(fmt.Sprint("drive", t), graph.Normal(0, 1))
		on := m.Name("on", graph.Greater(drive, 0))
		m.Observe("warmth", graph.Normal(graph.If(on, 1, 0), 0.4), x)
	}
	density, err := m.Compile()
	if err != nil {
		log.Fatal(err)
	}
	fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}

	on := density.Named("on")
	p, err := fit.ProbNamed("on", 3)
	if err != nil {
		log.Fatal(err)
	}
	both, err := fit.Prob(graph.And(on[3], on[4]))
	if err != nil {
		log.Fatal(err)
	}
	given, err := fit.ProbGiven(on[3], graph.Or(on[3], on[5]))
	if err != nil {
		log.Fatal(err)
	}
	path, err := fit.MostProbablePath(on)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("on at 3: %.2f; at 3 and 4: %.2f; at 3 if at 3 or 5: %.2f\n", p.Value, both.Value, given.Value)
	fmt.Printf("path: %v with probability %.2f\n", path.Holds, path.Prob.Value)
	// Output:
	// on at 3: 0.65; at 3 and 4: 0.60; at 3 if at 3 or 5: 0.96
	// path: [false false true true true false] with probability 0.46
}
