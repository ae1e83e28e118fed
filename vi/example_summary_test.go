package vi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// dosed fits the model of the package example, in which a drug works from some
// dose on.
func dosed() *vi.Posterior {
	response := []float64{0.2, -0.4, 0.1, 0.3, -0.2, 0.4, 2.3, 1.7, 2.2, 1.9}

	m := graph.NewModel()
	threshold := m.Sample("threshold", graph.Normal(5, 3))
	without := m.Sample("without", graph.Normal(0, 2))
	with := m.Sample("with", graph.Normal(0, 2))
	for i, y := range response {
		works := m.Name("works", graph.Greater(float64(i+1), threshold))
		m.Observe("response", graph.Normal(graph.If(works, with, without), 0.5), y)
	}
	m.Deterministic("effect", graph.Sub(with, without))

	density, err := m.Compile()
	if err != nil {
		log.Fatal(err)
	}
	fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	return fit
}

func ExamplePosterior_Summary() {
	fit := dosed()
	summary := fit.Summary() // fmt.Print(summary) prints all of it
	some, err := summary.Of("with", "works")
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range some.Latents {
		fmt.Printf("%s: %.1f, 90%% between %.1f and %.1f\n", l.Name, l.Mean.Value, l.Q5.Value, l.Q95.Value)
	}
	for _, g := range some.Guards[4:8] {
		fmt.Printf("%s: %s with probability %.1f\n", g.Name, g.Condition, g.Prob.Value)
	}
	// Output:
	// with: 2.0, 90% between 1.6 and 2.4
	// works[4]: threshold < 5 with probability 0.0
	// works[5]: threshold < 6 with probability 0.0
	// works[6]: threshold < 7 with probability 1.0
	// works[7]: threshold < 8 with probability 1.0
}

// A summary lines up in a terminal.
func ExampleSummary_String() {
	fmt.Print(vi.Summary{
		ELBO: vi.Estimate{Value: -171.24, SE: 0.05},
		Latents: []vi.LatentSummary{
			{
				Name: "μ", Mean: vi.Estimate{Value: 6.5432, SE: 0.0004}, SD: vi.Estimate{Value: 0.2099},
				Q5: vi.Estimate{Value: 6.1979}, Q50: vi.Estimate{Value: 6.5432}, Q95: vi.Estimate{Value: 6.8884},
			},
			{
				Name: "change", Mean: vi.Estimate{Value: 1891.3, SE: 0.02}, SD: vi.Estimate{Value: 2.93},
				Q5: vi.Estimate{Value: 1886.5}, Q50: vi.Estimate{Value: 1891.3}, Q95: vi.Estimate{Value: 1896.1},
			},
		},
		Guards: []vi.GuardSummary{
			{Name: "late", Condition: "change > 1890", Prob: vi.Estimate{Value: 0.671}},
			{Name: "main.go:41", Condition: "μ > 3", Prob: vi.Estimate{Value: 0.99999}},
		},
	})
	// Output:
	// ELBO -171.24 ± 0.05 nats
	//
	// latent    mean    ± se    sd      5%     50%     95%
	// μ         6.54  0.0004  0.21    6.20    6.54    6.89
	// change  1891.3    0.02   2.9  1886.5  1891.3  1896.1
	//
	// guard       holds where    probability
	// late        change > 1890        0.671
	// main.go:41  μ > 3               >0.999
}

// Would new data look like the old?
func ExamplePosterior_Predict() {
	predicted, err := dosed().Predict(4000, 1)
	if err != nil {
		log.Fatal(err)
	}
	observed, err := predicted.Data("response")
	if err != nil {
		log.Fatal(err)
	}
	low, err := predicted.Quantile("response", 0.05)
	if err != nil {
		log.Fatal(err)
	}
	high, err := predicted.Quantile("response", 0.95)
	if err != nil {
		log.Fatal(err)
	}
	inside := 0
	for i, y := range observed {
		if low[i] <= y && y <= high[i] {
			inside++
		}
	}
	fmt.Println(inside, "of", len(observed), "responses lie in the band of 90 % of the draws")

	effect, err := predicted.Mean("effect") // a named expression, of one element
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("the drug adds about %.0f\n", effect[0])
	// Output:
	// 10 of 10 responses lie in the band of 90 % of the draws
	// the drug adds about 2
}
