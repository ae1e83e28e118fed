package plan_test

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/internal/plan"
)

// The graph of x² and its derivative, made once, runs for any number of samples.
func Example() {
	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(1, 2), gorgonia.WithName("x"))
	apply := func(k kernel.Kernel, n *gorgonia.Node) *gorgonia.Node {
		return gorgonia.Must(kernel.Apply(k, gorgonia.Nodes{n}, []bool{true}))
	}
	square := apply(kernel.Elementwise{F: kernel.Square}, x)
	slope, err := gorgonia.Grad(apply(kernel.Total{}, square), x)
	if err != nil {
		panic(err)
	}

	in, y, dy, sum := kernel.NewMatrix(1, 3), kernel.NewMatrix(1, 3), kernel.NewMatrix(1, 3), kernel.NewMatrix(1, 1)
	p, err := plan.New(3, []plan.Input{{Node: x, Value: in}}, []plan.Result{
		{Node: square, Out: y}, {Node: slope[0], Out: dy}, {Node: square, Out: sum, Sum: true},
	})
	if err != nil {
		panic(err)
	}
	for _, v := range [][]float64{{1, 2, 3}, {-1, 0.5, 10}} {
		copy(in.Data, v)
		p.Run()
		fmt.Println(y.Data, dy.Data, sum.Data)
	}
	// Output:
	// [1 4 9] [2 4 6] [14]
	// [1 0.25 100] [-2 1 20] [101.25]
}
