package graph_test

import (
	"fmt"

	"github.com/facetvi/facet/graph"
)

// What a guard may compare: two latents, products of positive ones, a curve, branches. Max makes a kink, and no jump.
func ExampleGreater() {
	m := graph.NewModel()
	early, late := m.Sample("early", graph.Uniform(0, 10)), m.Sample("late", graph.Uniform(0, 10))
	a, b := m.Sample("a", graph.Exponential(1)), m.Sample("b", graph.Exponential(1))
	mu, tau, eta := m.Sample("mu", graph.Normal(0, 1)), m.Sample("tau", graph.HalfNormal(1)), m.Sample("eta", graph.Normal(0, 1))
	x, y := m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1))

	m.Name("two change points", graph.Greater(late, early))
	m.Name("products", graph.Greater(graph.Mul(a, 2), graph.Mul(b, 3))) // log a − log b > log 1.5
	m.Name("threshold of a group", graph.Greater(x, graph.Add(mu, graph.Mul(tau, eta))))
	on := graph.Greater(y, 0)
	m.Name("on a branch", graph.Greater(graph.If(on, x, y), 1)) // Or(And(on, x > 1), And(Not(on), y > 1))
	m.Observe("z", graph.Normal(graph.Max(0, graph.Sub(x, y)), 1), 0.4)

	d, err := m.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, g := range d.Guards() {
		fmt.Println(g)
	}
	// Output:
	// late - early > 0
	// log(a) - log(b) > 0.405465
	// x - mu - tau·eta > 0
	// y > 0
	// x > 1
	// y > 1
	// y - x > 0
}
