package vi_test

import (
	"context"
	"fmt"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

// What does a fit know that its own distribution does not say? The data say that a drug works from some
// dose between 6 and 7 on, any of them; a normal cannot say that and is too sure. Its draws with weights can.
func ExamplePosterior_Sample() {
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
	fit, err := vi.Fit(context.Background(), d, vi.Settings{Seed: 1, Method: vi.Climb{Family: family.MeanField{}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	sample, err := fit.Sample()
	if err != nil {
		fmt.Println(err)
		return
	}
	elbo, err := fit.ELBO(10000, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("the normal: ELBO %.1f, sd of the threshold %.1f\n", elbo.Value, fit.Q.SD(0))
	_, sd := sample.Moments(0) // that of fit.SD("threshold")
	fmt.Printf("the posterior: log evidence %.1f, sd of the threshold %.1f\n", sample.LogEvidence.Value, sd.Value)
	// Output:
	// the normal: ELBO -10.9, sd of the threshold 0.2
	// the posterior: log evidence -10.7, sd of the threshold 0.3
}
