package layer_test

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/expect/layer"
	"github.com/facetvi/facet/graph"
)

// The gradient of P(x + ε > 0) by x, in a Gorgonia graph: the normal density at x, where automatic differentiation has 0.
func ExampleLayer_Apply() {
	m := graph.NewSimulation()
	x := m.Param("x", 0)
	noise := m.Sample("ε", graph.Normal(0, 1))
	e, err := expect.Of(m, graph.If(graph.Greater(graph.Add(x, noise), 0), 1, 0))
	if err != nil {
		panic(err)
	}
	rows, err := expect.NewRows(e.Density(), nil, 1000, 1)
	if err != nil {
		panic(err)
	}

	g := gorgonia.NewGraph()
	at := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithName("x"), gorgonia.WithShape(3, 1),
		gorgonia.WithValue(tensor.New(tensor.WithShape(3, 1), tensor.WithBacking([]float64{-1, 0, 1}))))
	probability, err := layer.Of(rows).Apply(nil, at, nil)
	if err != nil {
		panic(err)
	}
	if _, err := gorgonia.Grad(gorgonia.Must(gorgonia.Sum(probability)), at); err != nil {
		panic(err)
	}
	machine := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(at))
	defer machine.Close()
	if err := machine.RunAll(); err != nil {
		panic(err)
	}
	slope, err := at.Grad()
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.4f\n", slope.Data())
	// Output: [0.2420 0.3989 0.2420]
}
