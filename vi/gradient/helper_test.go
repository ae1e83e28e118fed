package gradient

import (
	"flag"
	"fmt"

	"github.com/facetvi/facet/boundary"
)

// Seed is that of the statistical tests.
var Seed = flag.Uint64("seed", 1, "seed of the statistical tests")

// Boundaries are all forms of the Boundary estimator.
func Boundaries() map[string]Boundary {
	all := map[string]Boundary{"all": {}}
	for _, by := range []boundary.Subsampling{boundary.Uniform, boundary.ByWeight} {
		for _, guards := range []int{1, 3} {
			all[fmt.Sprintf("%d %v", guards, by)] = Boundary{guards, by}
		}
	}
	return all
}
