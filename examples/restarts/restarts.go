// Package restarts keeps every explanation of the data that fits from several
// starts find, not only the best.
//
// A mean-field normal settles on one explanation. Where several are far apart,
// the ELBO of each fit is a lower bound on the log evidence of its own, so the
// mixture of the fits with weights in proportion to exp(ELBO) stands for all
// of them. Of an explanation that no start leads to it knows nothing.
package restarts

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

// An Explanation is one of the fits and its weight among all that were kept;
// the weights sum to one.
type Explanation struct {
	*vi.Posterior
	ELBO   vi.Estimate
	Weight float64
}

const (
	samples    = 4000  // of an ELBO
	negligible = 0.001 // a weight
)

// Of returns the explanations that the restarts of a fit have found (see
// vi.Settings.Restarts), the best first. One that two restarts have found counts
// once, and those with a weight below 0.001 are left out. Ask for ten restarts or
// more: fewer may all start near the best explanation. A fit that was interrupted
// before its restarts is the only explanation, with an ELBO of zero.
func Of(fit *vi.Posterior) []Explanation {
	if len(fit.Restarts) == 0 {
		return []Explanation{{Posterior: fit, Weight: 1}}
	}
	var all []Explanation
	for _, r := range fit.Restarts {
		if r.Err == "" || r.Kept {
			one := *fit
			one.Q, one.Steps = r.Q, r.Steps
			all = append(all, Explanation{Posterior: &one, ELBO: r.ELBO})
		}
	}
	return distinct(all)
}

// Windows fits the posterior piece by piece, each piece from a start in it. The
// model must have one observation named "window" of a Normal around a latent; its
// values are the centres, and if they lie at most two standard deviations apart,
// the windows add up to a constant within 2 %, and the posterior is the sum of
// what is seen in each. That is a better posterior than one fit where the other
// latents follow the one that the windows cut: in each window they are fitted
// anew. The error of a fit that stopped early comes with what there is by then.
func Windows(ctx context.Context, model *graph.Density, centres []float64,
	start func(d *graph.Density, centre float64) (family.Q, error), s vi.Settings) ([]Explanation, error) {
	var all []Explanation
	for _, c := range centres {
		d, err := model.WithData(map[string][]float64{"window": {c}})
		if err != nil {
			return nil, err
		}
		q, err := start(d, c)
		if err != nil {
			return nil, err
		}
		s.Start = q
		fit, stopped := vi.Fit(ctx, d, s)
		if fit == nil {
			return nil, stopped
		}
		elbo, err := fit.ELBO(samples, 0)
		if err != nil {
			return nil, err
		}
		all = append(all, Explanation{Posterior: fit, ELBO: elbo})
		if stopped != nil {
			return weigh(all), fmt.Errorf("window at %g: %w", c, stopped)
		}
	}
	return weigh(all), nil
}

// distinct orders the fits by ELBO, leaves out those that say the same as a
// better one, or that have next to no weight, and gives the others weights.
func distinct(all []Explanation) []Explanation {
	slices.SortStableFunc(all, func(a, b Explanation) int { return cmp.Compare(b.ELBO.Mean, a.ELBO.Mean) })
	var kept []Explanation
	for _, e := range all {
		if e.ELBO.Mean-all[0].ELBO.Mean > math.Log(negligible) &&
			!slices.ContainsFunc(kept, func(k Explanation) bool { return same(k.Q, e.Q) }) {
			kept = append(kept, e)
		}
	}
	return weigh(kept)
}

// weigh sets the weights in proportion to exp(ELBO), in place, and returns all.
func weigh(all []Explanation) []Explanation {
	elbo := make([]float64, len(all))
	for i, e := range all {
		elbo[i] = e.ELBO.Mean
	}
	for i := range all {
		all[i].Weight = math.Exp(elbo[i] - floats.LogSumExp(elbo))
	}
	return all
}

// same reports whether two normals overlap: if both were counted, what they
// share would be counted twice. Their Bhattacharyya coefficient ∫√(ab) is 1 if
// they are equal and 0 if they are far apart.
func same(a, b family.Q) bool {
	log := 0.0
	for i := range a.Dim() {
		sa, sb := a.SD(i), b.SD(i)
		v := sa*sa + sb*sb
		d := a.Mean(i) - b.Mean(i)
		log += 0.5*math.Log(2*sa*sb/v) - d*d/(4*v)
	}
	return log > math.Log(0.1)
}

// Effort says how many steps the fits took in all, and how many of them have
// warnings, such as that they have not settled.
func Effort(all []Explanation) string {
	steps, warned := 0, 0
	for _, e := range all {
		steps += e.Steps
		if len(e.Warnings) > 0 {
			warned++
		}
	}
	if warned > 0 {
		return fmt.Sprintf("%d steps, but %d of %d fits have not settled: take more", steps, warned, len(all))
	}
	return fmt.Sprintf("%d steps", steps)
}

// Prob is the probability that g holds in the mixture of the explanations.
func Prob(all []Explanation, g graph.Guard) (float64, error) {
	sum := 0.0
	for _, e := range all {
		p, err := e.Posterior.Prob(g)
		if err != nil {
			return 0, err
		}
		sum += e.Weight * p
	}
	return sum, nil
}

// Draws returns about n draws of each latent, by name, on the program's own
// scale: from each explanation as many as its weight says.
func Draws(all []Explanation, n int, seed uint64) map[string][]float64 {
	out := map[string][]float64{}
	for i, e := range all {
		draws := e.Posterior.Draws(int(math.Round(e.Weight*float64(n))), seed+uint64(i))
		for _, row := range draws.Values {
			for j, name := range draws.Names {
				out[name] = append(out[name], row[j])
			}
		}
	}
	return out
}
