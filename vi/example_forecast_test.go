package vi_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// Two readings of a series failed, and four months are still to come. A reading that is NaN is missing: the fit does not see it, and
// Predict draws it given the others.
func Example_forecast() {
	nan := math.NaN()
	readings := []float64{4.9, 5.3, nan, 5.1, 4.7, 5.2, 8.1, 7.7, nan, 8.3, 8.0, 7.8, nan, nan, nan, nan}

	m := graph.NewModel()
	shift := m.Sample("shift", graph.Uniform(0, 12))
	before := m.Sample("before", graph.Normal(5, 3))
	after := m.Sample("after", graph.Normal(5, 3))
	for month, y := range readings {
		level := graph.If(graph.Less(shift, float64(month)), after, before)
		m.Observe("reading", graph.Normal(level, 0.3), y)
	}

	density, err := m.Compile()
	if err != nil {
		log.Fatal(err)
	}
	fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	predicted, err := fit.Predict(40000, 1)
	if err != nil {
		log.Fatal(err)
	}
	mean, err := predicted.Mean("reading")
	low, err := predicted.Quantile("reading", 0.05)
	high, err := predicted.Quantile("reading", 0.95)
	for month, y := range readings {
		if math.IsNaN(y) {
			fmt.Printf("month %2d: %.1f, 90%% between %.1f and %.1f\n", month, mean[month], low[month], high[month])
		}
	}
	// Output:
	// month  2: 5.0, 90% between 4.5 and 5.6
	// month  8: 8.0, 90% between 7.4 and 8.5
	// month 12: 8.0, 90% between 7.4 and 8.5
	// month 13: 8.0, 90% between 7.4 and 8.5
	// month 14: 8.0, 90% between 7.4 and 8.5
	// month 15: 8.0, 90% between 7.4 and 8.5
}

// A series that depends on its past goes on by Observed: what is to come depends on what was drawn before it. So a fit is asked
// about other programs with the same latents, here of the same series with three months more.
func Example_next() {
	sales := []float64{10, 12, 11, 14, 13, 15, 14, 17, 16, 18}
	program := func(sales []float64) *graph.Density {
		m := graph.NewModel()
		level := m.Sample("level", graph.Normal(15, 10))
		keep := m.Sample("keep", graph.Uniform(-1, 1)) // of the distance from the level
		sd := m.Sample("sd", graph.HalfNormal(5))
		for t, y := range sales {
			mean := level
			if t > 0 {
				mean = graph.Add(level, graph.Mul(keep, graph.Sub(m.Observed("sales", t-1), level)))
			}
			m.Observe("sales", graph.Normal(mean, sd), y)
		}
		density, err := m.Compile()
		if err != nil {
			log.Fatal(err)
		}
		return density
	}

	fit, err := vi.Fit(context.Background(), program(sales), vi.Settings{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	longer := program(append(sales, math.NaN(), math.NaN(), math.NaN()))
	next, err := fit.PredictWith(longer, 40000, 1)
	if err != nil {
		log.Fatal(err)
	}
	draws, err := next.Of("sales")
	n, months := draws.Dims()
	above := 0.0
	for k := range n {
		if draws.At(k, months-1) > 15 {
			above += 1 / float64(n)
		}
	}
	fmt.Printf("in three months more than 15 are sold with probability %.1f\n", above)
	// Output:
	// in three months more than 15 are sold with probability 0.5
}
