//go:build long

package calibration

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/long"
)

// hierarchiesForDraws are two hierarchies of the collection, with normal and with
// binary data.
func hierarchiesForDraws() map[string]hierarchy {
	binary := hierarchy{centre: coefficient{"centre", 3, 1.5}, centred: true, off: 0.3, on: 0.7, spread: unknown("spread", 1, 0.05, 7)}
	levels := hierarchy{centre: coefficient{"centre", 5, 2}, centred: true, level: 2, noise: 0.7, spread: unknown("spread", 2, 0.05, 14)}
	return map[string]hierarchy{
		"binary": binary.simulated(184, 12, doses(5, 1), 2.6, 0.8),
		"levels": levels.simulated(183, 8, doses(9, 1), 5, 1.5),
	}
}

// Draws of centre and spread from their priors, and of many thresholds for each
// group, give the evidence and the means of centre and spread without cells: the
// product of the groups' mean likelihoods is unbiased.
func TestHierarchyByDraws(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	n, inner, most := 12000, 120, 0.05
	for name, h := range hierarchiesForDraws() {
		if name == "levels" && !long.Exhaustive() {
			continue
		}
		rng := source(3)
		exact := h.problem().solve(1)
		likelihood := make([]map[int]float64, len(h.x)) // by how many x are above the threshold
		for g := range likelihood {
			likelihood[g] = map[int]float64{}
		}
		var sum, squares, centres, spreads float64
		var weights, c, s []float64
		for range n {
			centre := h.centre.mu + h.centre.size*rng.NormFloat64()
			spread := math.Abs(rng.NormFloat64()) * map[string]float64{"binary": 1, "levels": 2}[name]
			log := -exact.LogEvidence
			for g, x := range h.x {
				total := 0.0
				for range inner {
					side := above(x, centre+spread*rng.NormFloat64())
					key := 0
					for _, v := range side {
						key += v
					}
					l, ok := likelihood[g][key]
					if !ok {
						logL, _, _ := h.data(g).given(side, 1)
						l = math.Exp(logL)
						likelihood[g][key] = l
					}
					total += l
				}
				log += math.Log(total / float64(inner))
			}
			w := math.Exp(log)
			weights, c, s = append(weights, w), append(c, centre), append(s, spread)
			sum, squares = sum+w, squares+w*w
			centres, spreads = centres+w*centre, spreads+w*spread
		}
		mean := sum / float64(n)
		se := math.Sqrt((squares/float64(n) - mean*mean) / float64(n))
		require.Less(t, se, most, "%s: inconclusive", name)
		assert.InDelta(t, 1, mean, 5*se, "%s: evidence as a multiple of the exact one", name)
		size := sum * sum / squares
		for latent, m := range map[string]float64{"centre": centres / sum, "spread": spreads / sum} {
			assert.InDelta(t, exact.Mean[latent], m, 5*exact.SD[latent]/math.Sqrt(size), "%s: %s", name, latent)
		}
		for latent, draws := range map[string][]float64{"centre": c, "spread": s} {
			v := 0.0
			for k, x := range draws {
				v += weights[k] * (x - exact.Mean[latent]) * (x - exact.Mean[latent]) / sum
			}
			assert.InEpsilon(t, exact.SD[latent], math.Sqrt(v), 5*2/math.Sqrt(size), "%s: sd of %s", name, latent)
		}
	}
}
