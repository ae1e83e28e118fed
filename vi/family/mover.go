package family

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/regions"
)

// Pick is the number of a weight, with the probability that it is: that at u, 0 ≤ u < 1, of the cumulative weights, which sum to 1.
func Pick(weights []float64, u float64) int {
	for k, w := range weights {
		if u < w {
			return k
		}
		u -= w
	}
	return floats.MaxIdx(weights) // rounding left it above them all
}

// normalMover is the Mover of a normal. Given Φ, the rest of q is what it was: a draw
// moves along the regression on Φ, to a Φ from the tail, and its log q changes by
// that of Φ.
func normalMover(q Gaussian, h regions.Hyperplane, positive bool) Mover {
	law, along := q.Law(h), q.Regression(h)
	mean, sd, prob := law[0].Mean, law[0].SD, law.OnSide(positive)
	return func(z []float64, rng *rand.Rand) (logQ, weight float64) {
		phi := h.At(z)
		// The upper tail of probability p is where a normal variable exceeds
		// −quantile(p).
		u := 1 - rng.Float64()
		depth := -distuv.UnitNormal.Quantile(prob * u)
		if !positive {
			depth = -depth
		}
		for i, v := range along {
			z[i] += (mean + depth*sd - phi) * v
		}
		was := (phi - mean) / sd
		return 0.5 * (was*was - depth*depth), prob
	}
}
