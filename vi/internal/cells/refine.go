package cells

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mixture"
)

// How a distribution is refined.
const (
	refineRounds = 4
	refineDraws  = 4096 // in a round, of which
	refineLeast  = 20   // times the number of latents should be effective
	refineEven   = 0.9  // of the draws that are not wider effective are enough,
	refineGain   = 1.05 // and this many times more effective draws worth another round
)

// refine looks for a mixture of normals that is nearer to the posterior than q is, where
// one normal is not near, as in a funnel. That with the least divergence KL(r‖mixture) has the
// moments of r weighted by parts, which weighted draws of the last mixture tell (population
// Monte Carlo, Cappé, Douc, Guillin, Marin and Robert, 2008):
//
//	q ──▶ draws, weights r/q ──▶ expectation maximisation ──▶ q ──▶ …
//
// It begins with q, which may be nil, and with draws that are about the posterior's. It
// returns what had the most even weights.
func refine(ctx context.Context, d *graph.Density, x *graph.Executor, s shape, q family.Q, draws [][]float64, rng *rand.Rand) (best family.Q, err error) {
	var known cloud
	size, most := 1, 0.0
	n := refineDraws * cheapGuards / max(cheapGuards, d.Arrangement().Len())
	var next []family.Q
	if q != nil {
		next = append(next, q)
	}
	fit := func() {
		if m := fitNormals(ctx, known, size, rng); m != nil {
			size = len(m)
			if q := s.of(m); q != nil {
				next = append(next, q)
			}
		}
	}
	if len(draws) > 0 {
		known.add(s.points(draws), make([]float64, len(draws)), 0)
		fit()
	}
	for round := 0; len(next) > 0; round++ {
		gained, news := false, []weighed(nil)
		for _, q := range next {
			w, err := ratios(ctx, d, x, s.over(defensive(rest(q))), n/len(next), rng)
			if err != nil {
				return nil, err
			}
			for k, z := range w.z {
				if s.outside(z) {
					w.ratio[k] = math.Inf(-1)
				}
			}
			part := even(w.ratio)
			if part == 0 {
				continue
			}
			if part > most {
				gained = gained || part > most*refineGain
				best, most = q, part
			}
			news = append(news, w)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !gained || most > refineEven*(1-1./mixture.WideShare) || round == refineRounds-1 {
			break
		}
		for _, w := range news {
			known.add(s.points(w.z), w.ratio, float64(refineLeast*len(s.latents))-floats.Sum(known.weight))
		}
		next = nil
		fit()
	}
	return best, ctx.Err()
}

// defensive is q and a part of the same that is wider.
func defensive(q family.Q) family.Q {
	logs, parts := []float64{math.Log(1 - 1./mixture.WideShare), math.Log(1. / mixture.WideShare)}, []family.Q{q, mixture.Widened(q, mixture.WideScale(q.Dim()))}
	return mixture.New(logs, parts)
}

// even is the effective part of draws, by the logarithms of their weights.
func even(logs []float64) float64 {
	top, sum, squares := floats.Max(logs), 0.0, 0.0
	if !finite(top) || slices.ContainsFunc(logs, math.IsNaN) {
		return 0
	}
	for _, l := range logs {
		w := math.Exp(l - top)
		sum += w
		squares += w * w
	}
	return sum * sum / squares / float64(len(logs))
}
