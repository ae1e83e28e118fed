package vi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// Regimes that nobody sees, summed out: major earthquakes in the world, by year from 1900 to 2006, are more in some years than in
// others. (W. Zucchini and I. L. MacDonald, Hidden Markov Models for Time Series, 2009.)
func Example_regimeSwitching() {
	counts := []float64{
		13, 14, 8, 10, 16, 26, 32, 27, 18, 32, 36, 24, 22, 23, 22, 18, 25, 21, 21, 14, 8, 11, 14, 23, 18, 17, 19, 20, 22, 19, 13, 26,
		13, 14, 22, 24, 21, 22, 26, 21, 23, 24, 27, 41, 31, 27, 35, 26, 28, 36, 39, 21, 17, 22, 17, 19, 15, 34, 10, 15, 22, 18, 15, 20,
		15, 22, 19, 16, 30, 27, 29, 23, 20, 16, 21, 21, 25, 16, 18, 15, 18, 14, 10, 15, 8, 15, 6, 11, 8, 7, 18, 16, 13, 12, 13, 20,
		15, 16, 12, 18, 15, 16, 13, 15, 16, 11, 11,
	}

	m := graph.NewModel()
	rate := m.SampleVector("rate", graph.Ordered(2, graph.LogNormal(3, 1))) // rate[0] < rate[1]
	stay := m.SampleN("stay", 2, graph.Beta(9, 1))
	years := m.ObserveHMM("quakes", graph.HMM{
		Initial:    graph.Numbers(0.5, 0.5),
		Transition: [][]graph.Expr{{stay[0], graph.Sub(1, stay[0])}, {graph.Sub(1, stay[1]), stay[1]}},
		Emission:   func(_ int, s []int) graph.Dist { return graph.Poisson(rate[s[0]]) },
	}, counts)
	years.Deterministic("active", 1)

	density, err := m.Compile()
	if err != nil {
		log.Fatal(err)
	}
	fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	predictive, err := fit.Predict(1000, 1)
	if err != nil {
		log.Fatal(err)
	}
	rates, _ := predictive.Mean("rate")
	fmt.Printf("%.1f a year, or %.1f\n", rates[0], rates[1])
	active, _ := predictive.Mean("active")
	for _, year := range []int{1921, 1934, 1943, 2000} {
		fmt.Printf("active in %d with probability %.1f\n", year, active[year-1900])
	}
	// Output:
	// 15.1 a year, or 25.5
	// active in 1921 with probability 0.0
	// active in 1934 with probability 0.7
	// active in 1943 with probability 1.0
	// active in 2000 with probability 0.0
}
