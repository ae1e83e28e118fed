package plot_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/plot"
)

// The pictures of a fit: how it went, what it says of the latents and guards, and
// whether the data look as it predicts.
func Example() {
	observed := []float64{0.2, -0.4, 0.1, 0.3, 2.3, 1.7, 2.2, 1.9}

	m := graph.NewModel()
	change := m.Sample("change", graph.Uniform(0, 8))
	before, after := m.Sample("before", graph.Normal(0, 2)), m.Sample("after", graph.Normal(0, 2))
	for i, y := range observed {
		changed := m.Name("changed", graph.Less(change, float64(i)+0.5))
		m.Observe("level", graph.Normal(graph.If(changed, after, before), 0.5), y)
	}
	density, err := m.Compile()
	if err != nil {
		log.Fatal(err)
	}
	fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	predicted, err := fit.Predict(4000, 1)
	if err != nil {
		log.Fatal(err)
	}

	dir, err := os.MkdirTemp("", "plots")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	cells, err := plot.Cells(fit)
	if err != nil {
		log.Fatal(err)
	}
	levels, err := plot.Marginals(fit, "before", "after")
	if err != nil {
		log.Fatal(err)
	}
	levels.X.Label.Text = "level" // a plot of gonum.org/v1/plot, to be changed at will
	bands, err := plot.Predictive(predicted, "level", nil)
	if err != nil {
		log.Fatal(err)
	}
	when, err := plot.Guards(fit, density.Named("changed"), nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := plot.Save(cells, filepath.Join(dir, "cells.svg")); err != nil {
		log.Fatal(err)
	}
	if err := plot.Save(levels, filepath.Join(dir, "levels.pdf")); err != nil {
		log.Fatal(err)
	}
	if err := plot.Save(bands, filepath.Join(dir, "bands.png")); err != nil {
		log.Fatal(err)
	}
	if err := plot.Save(when, filepath.Join(dir, "when.svg")); err != nil {
		log.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		fmt.Println(f.Name())
	}
	// Output:
	// bands.png
	// cells.svg
	// levels.pdf
	// when.svg
}
