package vi_test

import (
	"context"
	"fmt"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

// Is a normal good enough to be believed? The data say that a drug works from some
// dose between 6 and 7 on, any of them; a normal cannot say that and is too sure.
// A fit of cells can: see the example of Verdict.
func ExamplePosterior_Importance() {
	response := []float64{0.2, -0.4, 0.1, 0.3, -0.2, 0.4, 2.3, 1.7, 2.2, 1.9}
	m := graph.NewModel()
	threshold := m.Sample("threshold", graph.Normal(5, 3))
	without := m.Sample("without", graph.Normal(0, 2))
	with := m.Sample("with", graph.Normal(0, 2))
	for i, y := range response {
		works := graph.Greater(float64(i+1), threshold)
		m.Observe("response", graph.Normal(graph.If(works, with, without), 0.5), y)
	}
	d, err := m.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	fit, err := vi.Fit(context.Background(), d, vi.Settings{Family: family.MeanField{}, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	imp, err := fit.Importance(10000, 1) // Println(imp) prints all of it as a table
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(imp.Verdict())
	fmt.Printf("ELBO %.1f, log evidence %.1f\n", imp.ELBO.Value, imp.LogEvidence.Value)
	t := imp.Latents[0]
	fmt.Printf("%s: sd %.1f, reweighted %.1f\n", t.Name, t.FitSD, t.SD)
	// Output:
	// good: trust the reweighted numbers
	// ELBO -10.9, log evidence -10.7
	// threshold: sd 0.2, reweighted 0.3
}
