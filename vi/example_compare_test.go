package vi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// Has the level of a series shifted?
func ExampleCompare() {
	series := []float64{1.1, 0.7, 1.4, 0.9, 1.2, 2.1, 2.6, 1.9, 2.2, 2.4}
	fit := func(shifts bool) *vi.Posterior {
		m := graph.NewModel()
		before := m.Sample("before", graph.Normal(0, 3))
		level := func(int) graph.Expr { return before }
		if shifts {
			when, after := m.Sample("when", graph.Uniform(0, 10)), m.Sample("after", graph.Normal(0, 3))
			level = func(t int) graph.Expr { return graph.If(graph.Less(when, float64(t)), after, before) }
		}
		for t, y := range series {
			m.Observe("series", graph.Normal(level(t), 0.5), y)
		}
		density, err := m.Compile()
		if err != nil {
			log.Fatal(err)
		}
		p, err := vi.Fit(context.Background(), density, vi.Settings{Seed: 1})
		if err != nil {
			log.Fatal(err)
		}
		return p
	}
	c, err := vi.Compare(fit(false), fit(true))
	if err != nil {
		log.Fatal(err)
	}
	c.Models[0].Name, c.Models[1].Name = "no shift", "one shift"
	// fmt.Print(c) prints a table
	for _, m := range c.Models {
		fmt.Printf("%-9s  log evidence %.1f  probability %.2f\n", m.Name, m.LogEvidence.Value, m.Prob.Value)
	}
	// Output:
	// no shift   log evidence -13.5  probability 0.07
	// one shift  log evidence -10.9  probability 0.93
}
