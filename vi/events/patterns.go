package events

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/facetvi/facet/internal/components"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

// Hyperplanes whose latents are independent under q have independent signs. So
// the signs fall into independent blocks, each with few different patterns. Where
// the hyperplanes of a block are parallel, as when they all compare one latent
// with a number, the patterns are intervals of one variable, and its law gives
// their probabilities. Those of a mixture are sums over its parts.

// A pattern is one of the values that the signs of some hyperplanes can have
// together. The variance is that of the estimate prob, and 0 if that is exact.
type pattern struct {
	positive []bool
	prob     float64
	variance float64
}

// A signBlock is a block of hyperplanes and the patterns of their signs.
type signBlock struct {
	planes   []int
	patterns []pattern // the most probable first; nil if it is not exact
}

// signBlocks are the blocks of the given hyperplanes, ascending, as if there were
// no others.
func (e Events) signBlocks(planes []int) (out []signBlock) {
	group := e.q.Groups()
	groups := make([][]int, len(planes)) // of latents, by plane
	for k, l := range planes {
		for _, i := range e.arr.Latents(l) {
			groups[k] = append(groups[k], group[i])
		}
	}
	for _, block := range components.Of(groups) {
		b := signBlock{planes: make([]int, len(block))}
		for i, l := range block {
			b.planes[i] = planes[l]
		}
		switch m, ok := e.q.(family.Mixed); {
		case e.parallel(b.planes):
			b.patterns = e.intervals(b.planes)
		case ok:
			b.patterns = e.together(m, b.planes)
		}
		out = append(out, b)
	}
	return out
}

// together are the patterns of a mixture: those of its parts, if all are exact.
func (e Events) together(m family.Mixed, planes []int) []pattern {
	all := tally{}
	for k := range m.Len() {
		part, weight := Events{e.d, m.Part(k), e.arr}, m.Weight(k)
		if !part.eachCombination(planes, func(s regions.Signs, prob float64) {
			if prob > 0 {
				all.add(weight*prob, len(planes), func(k int) bool { return s.Positive(planes[k]) })
			}
		}) {
			return nil
		}
	}
	return all.patterns(0)
}

func (e Events) parallel(planes []int) bool {
	a := e.arr
	first := a.Plane(planes[0])
	return !slices.ContainsFunc(planes, func(l int) bool {
		h := a.Plane(l)
		return a.Curve(l) != nil || !slices.Equal(h.Index, first.Index) || !slices.Equal(h.Coef, first.Coef)
	})
}

// intervals are the patterns of parallel hyperplanes n·z > −c.
func (e Events) intervals(planes []int) []pattern {
	order := make([]int, len(planes)) // by threshold
	at := make([]float64, len(planes))
	h := e.arr.Plane(planes[0])
	h.Const = 0
	law := e.q.Law(h)
	for k, l := range planes {
		order[k], at[k] = k, -e.arr.Plane(l).Const
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(at[i], at[j]) })
	var out []pattern
	low := math.Inf(-1)
	for k := range len(planes) + 1 {
		high := math.Inf(1)
		if k < len(planes) {
			high = at[order[k]]
		}
		positive := make([]bool, len(planes))
		for _, i := range order[:k] {
			positive[i] = true
		}
		out = append(out, pattern{positive, law.Between(low, high), 0})
		low = high
	}
	mostProbableFirst(out)
	return out
}

// mostProbableFirst sorts; among equals patterns with fewer + come first.
func mostProbableFirst(list []pattern) {
	slices.SortStableFunc(list, func(a, b pattern) int { return cmp.Compare(b.prob, a.prob) })
}

// A tally is the weights of patterns: probabilities, or how many draws had each.
type tally map[string]float64

func (t tally) add(weight float64, n int, positive func(k int) bool) {
	key := make([]byte, n)
	for k := range key {
		if positive(k) {
			key[k] = 1
		}
	}
	t[string(key)] += weight
}

// patterns are those of the tally: of probabilities if draws is 0, and otherwise
// the frequencies among so many draws.
func (t tally) patterns(draws int) (out []pattern) {
	for _, key := range slices.Sorted(maps.Keys(t)) {
		x := pattern{positive: make([]bool, len(key)), prob: t[key]}
		for k := range x.positive {
			x.positive[k] = key[k] == 1
		}
		if draws > 0 {
			f := frequency(x.prob, float64(draws))
			x.prob, x.variance = f.Value, f.SE*f.SE
		}
		out = append(out, x)
	}
	mostProbableFirst(out)
	return out
}

// frequency is the share of draws in which something holds. Its standard error
// is the binomial one √(f(1 − f)/of) at Laplace's f = (holds + 1)/(of + 2), which is
// positive also where all draws agree.
func frequency(holds, of float64) mc.Estimate {
	f := (holds + 1) / (of + 2)
	return mc.Estimate{Value: holds / of, SE: math.Sqrt(f * (1 - f) / of)}
}

// eachRegion calls visit with the regions of n draws.
func (e Events) eachRegion(n int, seed uint64, visit func(regions.Signs)) {
	rng, z := mc.NewRand(seed), make([]float64, e.q.Dim())
	for range n {
		e.q.Rand(z, rng)
		visit(e.arr.Signs(z))
	}
}
