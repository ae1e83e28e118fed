package graph_test

import (
	"fmt"

	"github.com/facetvi/facet/graph"
)

// A machine is either fine or worn, and worn machines make longer parts. The
// guards wear > 1 and 2·wear < 2 have one zero set, and so are one hyperplane.
func Example() {
	m := graph.NewModel()
	wear := m.Sample("wear", graph.Normal(0, 1))
	worn := graph.Greater(wear, 1)
	length := graph.If(worn, graph.Add(10, wear), 10)
	m.Observe("length", graph.Normal(length, 0.5), 10.4)
	m.If(graph.Less(graph.Mul(2, wear), 2), nil, func() {
		m.Observe("noise", graph.Poisson(3), 5)
	})

	density, err := m.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(density.Guards()), "guards,", density.Arrangement().Len(), "hyperplane")
	for _, z := range []float64{0.5, 1.5} {
		logProb, err := density.LogProb([]float64{z})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("wear %.1f, region %v: log r = %.3f\n", z, density.Arrangement().Signs([]float64{z}), logProb)
	}
	// Output:
	// 2 guards, 1 hyperplane
	// wear 0.5, region -: log r = -1.590
	// wear 1.5, region +: log r = -6.984
}

// The side of a branch that is not taken reaches nothing: log(−1) is not a
// number, but it is behind a guard.
func ExampleIf() {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Factor(graph.If(graph.Greater(x, 0), graph.Log(x), -1))
	density, err := m.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	z := []float64{-1}
	logProb, err := density.LogProb(z)
	if err != nil {
		fmt.Println(err)
		return
	}
	grad, err := density.GradAt(z, density.Arrangement().Signs(z))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("log r = %.4f, gradient %.0f\n", logProb, grad)
	// Output:
	// log r = -2.4189, gradient [1]
}

// The first mistake is kept, with its place, and Compile returns it.
func ExampleModel_Compile() {
	m := graph.NewModel()
	a := m.Sample("a", graph.Normal(0, 1))
	b := m.Sample("b", graph.Normal(0, 1))
	wave := graph.Greater(graph.Sin(a), graph.Cos(b))
	m.Observe("y", graph.Normal(graph.If(wave, 1, 0), 1), 0.3)
	_, err := m.Compile()
	fmt.Println(err)
	// Output:
	// graph: example_test.go:73: guard 0: sin(a) - cos(b) = 0 cannot be solved for any of its latents: for a: sin(…) has no inverse; for b: cos(…) has no inverse
}

// One program, compiled once, for many data sets.
func ExampleDensity_WithData() {
	m := graph.NewModel()
	rate := m.Sample("rate", graph.Exponential(0.5))
	for range 3 {
		m.Observe("count", graph.Poisson(rate), 0)
	}
	density, err := m.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, counts := range [][]float64{{1, 0, 2}, {4, 6, 5}} {
		d, err := density.WithData(map[string][]float64{"count": counts})
		if err != nil {
			fmt.Println(err)
			return
		}
		logProb, err := d.LogProb([]float64{0}) // rate = exp(0)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%v: %.4f\n", counts, logProb)
	}
	// Output:
	// [1 0 2]: -4.8863
	// [4 6 5]: -18.7379
}

// Schools' effects, and pupils' marks with the school of each: a plate of groups, and
// one of observations that picks its group's effect.
func ExampleModel_Plate() {
	school := []int{0, 0, 1, 1, 1, 2}
	hours := []float64{1, 2, 1, 3, 4, 2}
	mark := []float64{2.1, 3.0, 1.2, 3.4, 4.1, 2.6}

	m := graph.NewModel()
	spread := m.Sample("spread", graph.HalfNormal(1))
	slope := m.Sample("slope", graph.Normal(0, 1))
	var effects []graph.Expr
	m.Plate(3, func(p *graph.Plate) {
		p.Collect(&effects, p.Sample("effect", graph.Normal(0, spread)))
	})
	m.Plate(len(mark), func(p *graph.Plate) {
		mean := graph.Add(p.Index(effects, school), graph.Mul(slope, p.Data(hours)))
		p.Observe("mark", graph.Normal(mean, 0.5), mark)
	})
	density, err := m.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(density.Latents())
	fmt.Println(len(density.Data()), "observations")
	// Output:
	// [spread slope effect[0] effect[1] effect[2]]
	// 6 observations
}
