package boundary_test

import (
	"fmt"

	"gonum.org/v1/gonum/stat/distuv"
	"gorgonia.org/tensor"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/regions"
)

// The flux of F(ε) = (ε_1², 0) through the line ε_0 = 1, under a standard normal
// density, is φ(1)·E[ε_1²] = φ(1).
func ExampleIntegral() {
	line := regions.Hyperplane{Index: []int{0}, Coef: []float64{1}, Const: -1}
	field := func(_ int, points *tensor.Dense) (*tensor.Dense, error) {
		n := points.Shape()[1]
		eps, f := points.Data().([]float64), make([]float64, 2*n)
		for k := range n {
			f[k] = eps[n+k] * eps[n+k]
		}
		return tensor.New(tensor.WithShape(2, n), tensor.WithBacking(f)), nil
	}
	flux, err := boundary.Integral([]regions.Hyperplane{line}, 2, distuv.UnitNormal, field,
		boundary.IntegralSettings{Samples: 100000, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f, exactly %.2f\n", flux[0].Mean, distuv.UnitNormal.Prob(1))
	// Output:
	// 0.24, exactly 0.24
}

// The line ε_0 + 2·ε_1 = 4 is solved for ε_1, whose coefficient is the larger.
func ExampleProjection() {
	line := regions.Hyperplane{Index: []int{0, 1}, Coef: []float64{1, 2}, Const: -4}
	p, err := boundary.NewProjection(line, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, zeta := range []float64{-2, 0, 2} {
		fmt.Println(p.Point(nil, []float64{zeta}))
	}
	fmt.Println("normal", p.Normal())
	// Output:
	// [-2 3]
	// [0 2]
	// [2 1]
	// normal [0.5 1]
}
