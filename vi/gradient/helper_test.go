package gradient

import (
	"flag"
	"fmt"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/vi/family"
)

// Seed is that of the statistical tests.
var Seed = flag.Uint64("seed", 1, "seed of the statistical tests")

// Methods are the ways in which samples are moved onto guards.
var Methods = []family.Method{family.Orthogonal, family.Elimination}

// Boundaries are all forms of the Boundary estimator.
func Boundaries() map[string]Boundary {
	all := map[string]Boundary{}
	for _, method := range Methods {
		all[fmt.Sprintf("%v, all", method)] = Boundary{Method: method}
		for _, by := range []boundary.Subsampling{boundary.Uniform, boundary.ByWeight} {
			for _, guards := range []int{1, 3} {
				all[fmt.Sprintf("%v, %d %v", method, guards, by)] = Boundary{method, guards, by}
			}
		}
	}
	return all
}
