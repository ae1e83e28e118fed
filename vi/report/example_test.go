package report_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/report"
)

// A fit as a page: what it is called, what was asked, and where the first element is on the axis.
func Example() {
	sales := []float64{12, 9, 11, 14, 10, 12, 19, 22, 18, 21, 20, 23}

	m := graph.NewModel()
	change := m.Sample("change", graph.Uniform(2013, 2024))
	before, after := m.Sample("before", graph.Exponential(0.1)), m.Sample("after", graph.Exponential(0.1))
	for i, n := range sales {
		changed := m.Name("changed", graph.Greater(2013+i, change))
		m.Observe("sales", graph.Poisson(graph.If(changed, after, before)), n)
	}
	m.Deterministic("growth", graph.Div(after, before))
	density, err := m.Compile()
	if err != nil {
		log.Fatal(err)
	}
	fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}

	dir, err := os.MkdirTemp("", "report")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "sales.html")
	err = report.Save(file, fit, report.Options{Title: "Sales", About: "When did they grow, and how much?", From: 2013})
	if err != nil {
		log.Fatal(err)
	}
	page, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the verdict is there:", bytes.Contains(page, []byte("Trust these numbers")))
	fmt.Println("pictures:", bytes.Count(page, []byte("<svg")))
	fmt.Println("asks for something elsewhere:", bytes.Contains(page, []byte("src=")) || bytes.Contains(page, []byte("href=")))
	// Output:
	// the verdict is there: true
	// pictures: 6
	// asks for something elsewhere: false
}
