package vi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// shifting is a series whose level shifts, or does not.
func shifting(shifts bool) *graph.Density {
	m := graph.NewModel()
	before := m.Sample("before", graph.Normal(0, 3))
	level := func(int) graph.Expr { return before }
	if shifts {
		when, after := m.Sample("when", graph.Uniform(0, 10)), m.Sample("after", graph.Normal(0, 3))
		level = func(t int) graph.Expr { return graph.If(graph.Less(when, float64(t)), after, before) }
	}
	for t, y := range []float64{1.1, 0.7, 1.4, 0.9, 1.2, 2.1, 2.6, 1.9, 2.2, 2.4} {
		m.Observe("series", graph.Normal(m.Deterministic("level", level(t)), 0.5), y)
	}
	density, err := m.Compile()
	if err != nil {
		log.Fatal(err)
	}
	return density
}

// Has the level of a series shifted, and where is it now?
func ExampleHowMany() {
	models, err := vi.HowMany(context.Background(), []vi.Program{
		{Name: "no shift", Density: shifting(false), Prior: 0.5},
		{Name: "one shift", Density: shifting(true), Prior: 0.5},
	}, vi.Settings{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range models.Models { // fmt.Print(models) prints a table
		fmt.Printf("%-9s  probability %.2f, predictions %.2f\n", m.Name, m.Prob.Value, m.Stacking)
	}
	first, err := models.Moments("before") // over both, by their probabilities
	if err != nil {
		log.Fatal(err)
	}
	predicted, err := models.Predict(4000, 1)
	if err != nil {
		log.Fatal(err)
	}
	level, err := predicted.Mean("level")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("level: %.1f at first, %.1f now\n", first.Mean.Value, level[9])
	// Output:
	// no shift   probability 0.07, predictions 0.00
	// one shift  probability 0.93, predictions 1.00
	// level: 1.1 at first, 2.2 now
}

// Can the fits of a program be right?
func ExampleCalibrate() {
	c, err := vi.Calibrate(context.Background(), shifting(true), vi.Calibrating{Fits: 200, Fit: vi.Settings{Seed: 1, Method: vi.Cells{Quick: true}}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.P > 0.05) // fmt.Println(c) says so in a sentence
	// Output: true
}

// Which responses did the program not expect, from the others?
func ExamplePosterior_LOO() {
	left, err := dosed().LOO()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("elpd %.1f ± %.1f\n", left.ELPD.Value, left.ELPD.SE)
	for _, point := range left.Unreliable() {
		fmt.Printf("%s, k-hat %.0f\n", point.Name, point.K)
	}
	// Output:
	// elpd -5.9 ± 0.9
	// response[6], k-hat 1
}

// Does a prior matter?
func ExamplePosterior_Sensitivity() {
	s, err := dosed().Sensitivity()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(s)
	// Output: no prior matters to threshold, without, with, effect
}
