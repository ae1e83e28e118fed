package check_test

import (
	"fmt"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
)

// proposition is the model of the paper's Proposition 2.
func proposition() *graph.Model {
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	m.Observe("x", graph.Normal(graph.If(graph.Greater(z, 0), 5, -2), 1), 0)
	return m
}

// At q = N(1, 1) the gradient with respect to the mean is −1 − 10.5·φ(1) = −3.54.
// Reparameterization sees the prior's −1 and not the jump.
func ExampleGradient() {
	d, err := proposition().Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	q := family.Independent([]float64{1}, []float64{1})
	for _, e := range []gradient.Estimator{gradient.Reparam{}, gradient.Boundary{}} {
		g, err := check.Gradient(d, q, e, check.GradientSettings{Draws: 100000, Seed: 1})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-8s  %.1f\n", e.Name(), g.Mean[0])
	}
	// Output:
	// reparam   -1.0
	// boundary  -3.5
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
	rare, err := check.RareSides(d, family.Independent([]float64{0}, []float64{1}), 1000, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("ELBO %.0f; in truth %.0f\n", rare.Plain.Value, rare.Corrected.Value)
	for _, s := range rare.Sides {
		fmt.Printf("P(%s) = %.1e, and costs %.0e nats\n", s.Condition, s.Prob, -s.Gap.Value)
	}
	// Output:
	// ELBO -6; in truth -21
	// P(z > 5) = 2.9e-07, and costs 5e+07 nats
}

// Would automatic differentiation alone have followed a wrong gradient? In the
// paper's Proposition 2 it would; score, which knows of no boundaries, says so
// too.
func ExampleCheckBias() {
	d, err := proposition().Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	q := family.Independent([]float64{1}, []float64{1})
	bias, err := check.CheckBias(d, q, check.BiasSettings{Seed: 1}) // Println(bias) prints all of it as a table
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("biased: %v, by %.2f of a gradient of %.1f\n", bias.Biased, bias.Bias.Value, bias.Gradient.Value)
	fmt.Println(bias.Score)
	// Output:
	// biased: true, by 3.59 of a gradient of 4.4
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
	shares, err := check.SharesByGuard(d, family.Independent([]float64{0}, []float64{1}), 10000, 1)
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
