package vi_test

import (
	"context"
	"fmt"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// Is a fit good enough to be believed? The data say that a drug works from some
// dose between 6 and 7 on, any of them; a normal cannot say that and is too sure.
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
	fit, err := vi.Fit(context.Background(), d, vi.Settings{Seed: 1})
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
	fmt.Printf("ELBO %.1f, log evidence %.1f\n", imp.ELBO.Mean, imp.LogEvidence.Mean)
	t := imp.Latents[0]
	fmt.Printf("%s: sd %.1f, reweighted %.1f\n", t.Name, t.FitSD, t.SD)
	// Output:
	// good: trust the reweighted numbers
	// ELBO -10.9, log evidence -10.7
	// threshold: sd 0.2, reweighted 0.3
}

// Beyond z = 5 log r falls by 5e7. No draw is there, and so the plain ELBO does
// not know.
func ExampleRareSides() {
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	m.Observe("x", graph.Normal(z, 1), 3)
	m.If(graph.Greater(z, 5), func() { m.Factor(graph.Mul(-1e7, z)) }, nil)
	d, err := m.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	rare, err := vi.RareSides(d, vi.NewMeanField([]float64{0}, []float64{1}), 1000, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("ELBO %.0f; in truth %.0f\n", rare.Plain.Mean, rare.Corrected.Mean)
	for _, s := range rare.Sides {
		fmt.Printf("P(%s) = %.1e, and costs %.0e nats\n", s.Condition, s.Prob, -s.Gap.Mean)
	}
	// Output:
	// ELBO -6; in truth -21
	// P(z > 5) = 2.9e-07, and costs 5e+07 nats
}

// Would automatic differentiation alone have followed a wrong gradient? In the
// paper's Proposition 2 it would; score, which knows of no boundaries, says so
// too.
func ExampleCheckBias() {
	m, _ := proposition()
	d, err := m.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	q := vi.NewMeanField([]float64{1}, []float64{1})
	check, err := vi.CheckBias(d, q, vi.BiasSettings{Seed: 1}) // Println(check) prints all of it as a table
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("biased: %v, by %.2f of a gradient of %.1f\n", check.Biased, check.Bias.Mean, check.Gradient.Mean)
	fmt.Println(check.Score)
	// Output:
	// biased: true, by 3.01 of a gradient of 3.9
	// score agrees with boundary
}

// Which if-statements does a fit learn from? The data depend on the first of
// these guards much, and on the second little.
func ExampleSharesByGuard() {
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	m.Factor(graph.If(graph.Greater(z, 1), 20, 0))
	m.Factor(graph.If(graph.Greater(z, -1), 0.2, 0))
	d, err := m.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	shares, err := vi.SharesByGuard(d, vi.NewMeanField([]float64{0}, []float64{1}), 10000, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, g := range shares.Guards { // Println(shares) prints a table, with the guards' lines
		fmt.Printf("%-6s  %.0f%%\n", g.Equation, 100*g.Share)
	}
	// Output:
	// z = 1   99%
	// z = -1  1%
}
