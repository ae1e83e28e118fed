package vi_test

import (
	"context"
	"fmt"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
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
// exactly, and a fit of cells leaves the other side of the guard out. The best normal has 0.01 there, for a normal cannot stop at
// 0; and reparameterization, which does not see the data through an if, ends at one that has 0.5. What these fits say of the
// posterior is right all the same: it is of draws with weights.
func ExamplePosterior_Prob() {
	m, above := proposition()
	d, err := m.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	for name, s := range map[string]vi.Settings{
		"a normal, reparameterized": {Seed: 1, Method: vi.Climb{Family: family.MeanField{}, Estimator: vi.Reparam{}, StepSize: 0.001}},
		"a normal, with boundaries": {Seed: 1, Method: vi.Climb{Family: family.MeanField{}, StepSize: 0.001}},
		"cells":                     {Seed: 1},
	} {
		fit, err := vi.Fit(context.Background(), d, s)
		if err != nil {
			fmt.Println(err)
			return
		}
		p, err := fit.Prob(above)
		if err != nil {
			fmt.Println(err)
			return
		}
		own := fit.Q.Law(d.Arrangement().Plane(0)).Above(0)
		fmt.Printf("%s: P(z > 0) = %.3f; of the fitted distribution itself %.2f\n", name, p.Value, own)
	}
	// Unordered output:
	// a normal, reparameterized: P(z > 0) = 0.000; of the fitted distribution itself 0.50
	// a normal, with boundaries: P(z > 0) = 0.000; of the fitted distribution itself 0.01
	// cells: P(z > 0) = 0.000; of the fitted distribution itself 0.00
}
