package models

import (
	"math"

	"github.com/facetvi/facet/examples/models/exact"
)

// PropositionExact is the posterior of [Proposition]: a half of a standard normal on either side of 0.
func PropositionExact() exact.Posterior {
	below, above := math.Exp(logNormal(0, -2, 1))/2, math.Exp(logNormal(0, 5, 1))/2
	var z exact.Mixture
	for _, side := range []struct{ weight, lo, hi float64 }{{below, math.Inf(-1), 0}, {above, 0, math.Inf(1)}} {
		_, mean, variance := exact.Truncated(0, 1, side.lo, side.hi)
		z.Add(side.weight, mean, variance)
	}
	return exact.Posterior{
		LogEvidence: math.Log(below + above),
		Guards:      []float64{above / (below + above)},
		Latents:     []exact.Moments{z.Moments()},
	}
}
