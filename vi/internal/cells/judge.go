package cells

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/mixture"
	"github.com/facetvi/facet/vi/weighted"
)

// How a cell is judged.
const (
	leastDraws = 400
	mostDraws  = 8000
	unreliable = 0.7 // k-hat
)

// draws is how many judge a cell of a part of the mass.
func (f *Search) draws(part float64) int {
	return max(leastDraws, int(mostDraws*part)*cheapGuards/max(cheapGuards, f.d.Arrangement().Len()))
}

// judge measures a cell by n draws of its own distribution, and some of one that is
// wider. It returns the part of them that is effective.
func (f *Search) judge(ctx context.Context, x *graph.Executor, c *Cell, n int, rng *rand.Rand) (effective float64, err error) {
	narrow, err := ratios(ctx, f.d, x, c.Q, n, rng)
	if err != nil {
		return 0, err
	}
	c.ELBO = mc.Mean(narrow.ratio)
	smoothed, err := weighted.ParetoSmooth(narrow.ratio)
	if err != nil {
		return 0, err
	}
	c.KHat = smoothed.K
	broad := mixture.Widened(c.Q, mixture.WideScale(f.d.Dim()))
	far, err := ratios(ctx, f.d, x, broad, n/mixture.WideShare, rng)
	if err != nil {
		return 0, err
	}
	// the balance heuristic (Veach and Guibas, 1995)
	share := float64(n/mixture.WideShare) / float64(n+n/mixture.WideShare)
	all := make([]float64, 0, n+n/mixture.WideShare)
	inner, outer := narrow.logQ(), far.logQ()
	for k, l := range mixture.LogProbsBeside(broad, narrow.z, c.Q, inner) {
		all = append(all, narrow.logR[k]-logAdd(math.Log1p(-share)+inner[k], math.Log(share)+l))
	}
	for k, l := range mixture.LogProbsBeside(c.Q, far.z, broad, outer) {
		all = append(all, far.logR[k]-logAdd(math.Log1p(-share)+l, math.Log(share)+outer[k]))
	}
	if e := mc.LogMean(all); finite(e.Value) { // else what the search has found stands
		c.LogEvidence = e
	}
	return evenness(all), nil
}
