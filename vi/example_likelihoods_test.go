package vi_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// How long do pumps last, if the study ended after four years and some still worked?
func ExampleFit_censored() {
	years := []float64{0.3, 1.2, 4, 2.5, 4, 0.9, 4, 3.1, 4, 2.2}
	m := graph.NewModel()
	rate := m.Sample("rate", graph.Gamma(2, 3))
	life := graph.Exponential(rate)
	for _, t := range years {
		m.Observe("years", graph.Censored(life, math.Inf(-1), 4), t) // 4 is: at least 4
	}
	m.Deterministic("works for ten", graph.Exp(graph.LogCCDF(life, 10)))

	density, err := m.Compile()
	if err != nil {
		log.Fatal(err)
	}
	fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	mean, _ := fit.Mean("rate")
	fmt.Printf("rate %.2f a year\n", mean.Value) // exactly (2+6)/(3+26.2)
	predictive, err := fit.Predict(4000, 1)
	if err != nil {
		log.Fatal(err)
	}
	works, _ := predictive.Mean("works for ten")
	fmt.Printf("%.0f %% work for ten\n", 10*math.Round(10*works[0])) // exactly (29.2/39.2)⁸ = 9.5 %
	// Output:
	// rate 0.27 a year
	// 10 % work for ten
}

// Two machines made these parts, and nobody wrote down which: the class of each part is
// summed out.
func ExampleFit_mixture() {
	weights := []float64{9.8, 10.1, 12.2, 9.9, 12.1, 12.0, 10.3, 11.7, 9.9, 10.0}
	m := graph.NewModel()
	share := m.Sample("share", graph.Beta(2, 2))
	first := m.Sample("first", graph.Normal(10, 0.5))
	second := m.Sample("second", graph.Normal(12, 0.5))
	for _, w := range weights {
		m.Observe("weight", graph.Mixture([]graph.Expr{graph.Sub(1, share), share},
			graph.Normal(first, 0.3), graph.Normal(second, 0.3)), w)
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
		fmt.Printf("%-6s %.1f\n", name, mean.Value)
	}
	// Output:
	// share  0.4
	// first  10.0
	// second 12.0
}
