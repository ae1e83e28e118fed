package vi_test

import (
	"context"
	"fmt"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// proposition is the model of the paper's Proposition 2, and its guard.
func proposition() (*graph.Model, graph.Guard) {
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	above := graph.Greater(z, 0)
	m.Observe("x", graph.Normal(graph.If(above, 5, -2), 1), 0)
	return m, above
}

// The posterior probability that a guard of the program holds. It is 0.00003
// exactly. The best normal says 0.014, for a normal cannot stop at 0; and
// reparameterization, which does not see the data through an if, says 0.5.
func ExamplePosterior_Prob() {
	m, above := proposition()
	d, err := m.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range []vi.Estimator{vi.Reparam{}, vi.Boundary{}} {
		fit, err := vi.Fit(context.Background(), d, vi.Settings{Estimator: e, StepSize: 0.001, Seed: 1})
		if err != nil {
			fmt.Println(err)
			return
		}
		p, err := fit.Prob(above)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-8s  P(z > 0) = %.1f\n", e.Name(), p)
	}
	// Output:
	// reparam   P(z > 0) = 0.5
	// boundary  P(z > 0) = 0.0
}
