package gradient

import "flag"

// Seed is that of the statistical tests.
var Seed = flag.Uint64("seed", 1, "seed of the statistical tests")

// Boundaries are all forms of the Boundary estimator.
func Boundaries() map[string]Boundary {
	return map[string]Boundary{"all": {}, "1": SingleGuard(), "3": {Guards: 3}}
}
