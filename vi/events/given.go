package events

import (
	"fmt"
	"math"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/mc"
)

// mostCombinations is how many combinations of intervals are summed for an exact
// probability; beyond that, draws are cheaper.
const mostCombinations = 1 << 16

// conditionalDraws is the number of draws behind an estimated conditional
// probability.
const conditionalDraws = 100_000

// ProbGiven is the posterior probability that g holds where given holds,
//
//	P(g | given) = P(g and given) / P(given),
//
// with its standard error. Both are any guards of the model's latents, made before
// it was compiled or after: comparisons, or And, Or and Not of some.
//
// It is exact, with standard error 0, however rare given is, if the hyperplanes
// that the two depend on are parallel wherever latents link them, as when each
// compares one latent with a number. Otherwise it is estimated from the ones of
// 100 000 draws in which given holds: a rare given has a large standard error,
// and one that holds in none is an error, as is one that is impossible. The
// seed of the draws is fixed.
//
// Under a mean field, guards on different latents are independent, even where
// they are not in the true posterior.
func (e Events) ProbGiven(g, given graph.Guard) (mc.Estimate, error) {
	nan := mc.Estimate{Value: math.NaN(), SE: math.NaN()}
	e, err := e.with(g, given)
	if err != nil {
		return nan, err
	}
	var both, all float64
	holds, pair := make([]bool, 2), []graph.Guard{g, given}
	count := func(s regions.Signs, weight float64) {
		if graph.Holding(holds, pair, s); holds[1] {
			all += weight
			if holds[0] {
				both += weight
			}
		}
	}
	exact := e.eachCombination(planesOf(g, given), count)
	if exact {
		if all == 0 {
			return nan, fmt.Errorf("events: the condition has probability 0")
		}
		return mc.Estimate{Value: both / all}, nil
	}
	e.eachRegion(conditionalDraws, 0, func(s regions.Signs) { count(s, 1) })
	if all == 0 {
		return nan, fmt.Errorf("events: the condition holds in none of %d draws: it is too rare, below %.0e or so", conditionalDraws, 3.0/conditionalDraws)
	}
	return frequency(both, all), nil
}

// probExact is the probability that g holds, if it can be had exactly.
func (e Events) probExact(g graph.Guard) (prob float64, ok bool) {
	ok = e.eachCombination(g.Planes(), func(s regions.Signs, weight float64) {
		if g.Holds(s) {
			prob += weight
		}
	})
	return min(prob, 1), ok
}

// planesOf are the hyperplanes that the guards depend on.
func planesOf(guards ...graph.Guard) (planes []int) {
	for _, g := range guards {
		planes = append(planes, g.Planes()...)
	}
	slices.Sort(planes)
	return slices.Compact(planes)
}

// eachCombination calls visit with each way in which the given hyperplanes,
// ascending, can have signs, and its exact probability; the signs of the others
// mean nothing.
// It reports false, and calls nothing, if there is no exact one, or too many.
func (e Events) eachCombination(planes []int, visit func(s regions.Signs, prob float64)) bool {
	blocks, combinations := e.signBlocks(planes), 1
	for _, b := range blocks {
		if b.patterns == nil || combinations > mostCombinations/len(b.patterns) {
			return false
		}
		combinations *= len(b.patterns)
	}
	positive := make([]bool, e.arr.Len())
	var combine func(b int, prob float64)
	combine = func(b int, prob float64) {
		if b == len(blocks) {
			visit(regions.NewSigns(positive), prob)
			return
		}
		for _, x := range blocks[b].patterns {
			for i, l := range blocks[b].planes {
				positive[l] = x.positive[i]
			}
			combine(b+1, prob*x.prob)
		}
	}
	combine(0, 1)
	return true
}
