package regions_test

import (
	"fmt"

	"github.com/facetvi/facet/regions"
)

// Three guards of a thermostat: heat below 18, cool above 24, and a test that negates the first and is twice as large. They are two
// planes.
func Example() {
	guards := []regions.Hyperplane{
		{Index: []int{0}, Coef: []float64{-1}, Const: 18},
		{Index: []int{0}, Coef: []float64{1}, Const: -24},
		{Index: []int{0}, Coef: []float64{2}, Const: -36},
	}
	a := regions.NewArrangement(1)
	for _, g := range guards {
		side, err := a.Add(g)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%v > 0 is %+v\n", g, side)
	}
	for l, h := range a.Planes() {
		fmt.Printf("plane %d: %v\n", l, h)
	}

	visits := map[regions.Signs]int{}
	for _, temperature := range []float64{15, 20, 21, 30} {
		visits[a.Signs([]float64{temperature})]++
	}
	comfort := regions.NewSigns([]bool{true, false})
	fmt.Println("visits to", comfort, visits[comfort], "and across plane 1", visits[comfort.Flip(1)])
	// Output:
	// -z0 + 18 > 0 is {Plane:0 Positive:false}
	// z0 - 24 > 0 is {Plane:1 Positive:true}
	// 2·z0 - 36 > 0 is {Plane:0 Positive:true}
	// plane 0: z0 - 18
	// plane 1: z0 - 24
	// visits to +- 2 and across plane 1 1
}
