package cells

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
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
		if m := fitNormals(ctx, known, choice{least: size, each: mixtureEach}, rng); m != nil {
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
			w, err := ratios(ctx, d, x, s.over(defensive(restOf(q))), n/len(next), rng)
			if err != nil {
				return nil, err
			}
			for k, z := range w.z {
				if s.outside(z) {
					w.ratio[k] = math.Inf(-1)
				}
			}
			part := evenness(w.ratio)
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

// OfDraws fits mixtures of normals to draws of a posterior and refines them: for posteriors
// whose guards are many and their jumps small, so that they have no cells to speak of.
// It returns nil if none has a density.
func OfDraws(ctx context.Context, d *graph.Density, draws [][]float64, seed uint64) (family.Q, error) {
	x, err := d.Executor(quick, graph.Compute{Out: true})
	if err != nil {
		return nil, err
	}
	return refine(ctx, d, x, everywhere(d.Dim(), nil), nil, draws, parallel.NewRand(seed))
}

// mixtureOf is the mixture of normals near points, where all numbers of them are tried or those until twice as many are no better; nil if a covariance
// matrix is singular.
func mixtureOf(ctx context.Context, points [][]float64, all bool, rng *rand.Rand) family.Q {
	var known cloud
	known.add(points, make([]float64, len(points)), 0)
	of := choice{least: 1, each: mixtureEach, all: all}
	if len(points) <= fewPoints {
		of.each, of.all = fewEach, true
	}
	m := fitNormals(ctx, known, of, rng)
	if m == nil {
		return nil
	}
	return everywhere(len(points[0]), nil).of(m)
}
