package events

import (
	"container/heap"
	"fmt"
	"math"
	"slices"

	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

// A RegionProb is a region of latent space and its posterior probability.
type RegionProb struct {
	Signs regions.Signs // of the density's Arrangement
	Prob  mc.Estimate   // with a standard error of 0 if it is exact
}

// TopRegions returns the most probable regions, at most k, the most probable
// first, with their probabilities.
//
// Hyperplanes that share no latent have independent signs. Where all
// hyperplanes that are linked by shared latents are parallel, as when each
// compares one latent with a number, the result is exact: a best-first search
// over the product. The signs of other groups, and only they, are counted in the
// given number of draws, which the seed fixes, so regions that no draw met are
// missing. Then the k best are those of the estimates, of which the largest are
// a little too large.
func (e Events) TopRegions(k, draws int, seed uint64) ([]RegionProb, error) {
	if k < 1 {
		return nil, fmt.Errorf("events: %d most probable regions; ask for at least 1", k)
	}
	if err := family.Check(e.q, e.d); err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	all := make([]int, e.arr.Len())
	for l := range all {
		all[l] = l
	}
	blocks := e.signBlocks(all)
	lists := make([][]pattern, len(blocks))
	for b := range blocks {
		lists[b] = blocks[b].patterns
	}
	err := e.count(lists, draws, seed, func(b int, t tally, s regions.Signs) {
		planes := blocks[b].planes
		t.add(1, len(planes), func(k int) bool { return s.Positive(planes[k]) })
	})
	if err != nil {
		return nil, err
	}
	positive := make([]bool, len(all))
	var out []RegionProb
	for _, pick := range bestProducts(lists, k) {
		for b, r := range pick {
			for i, l := range blocks[b].planes {
				positive[l] = lists[b][r].positive[i]
			}
		}
		out = append(out, RegionProb{regions.NewSigns(positive), product(lists, pick)})
	}
	return out, nil
}

// count fills in the lists of patterns that are nil, those that are not exact: add adds to the tally
// of list b what it has in the region of a draw.
func (e Events) count(lists [][]pattern, draws int, seed uint64, add func(b int, t tally, s regions.Signs)) error {
	tallies := map[int]tally{}
	for b, list := range lists {
		if list == nil {
			tallies[b] = tally{}
		}
	}
	if len(tallies) == 0 {
		return nil
	}
	if err := mc.CheckDraws(draws); err != nil {
		return fmt.Errorf("events: %w", err)
	}
	if draws < 2 {
		return fmt.Errorf("events: %d draws; %d groups of guards have to be counted", draws, len(tallies))
	}
	e.eachRegion(draws, seed, func(s regions.Signs) {
		for b, t := range tallies {
			add(b, t, s)
		}
	})
	for b, t := range tallies {
		lists[b] = t.patterns(draws)
	}
	return nil
}

// product is the probability of independent patterns, whose estimates are
// independent: Var Π X = Π (E²X + Var X) − Π E²X.
func product(lists [][]pattern, pick []int) mc.Estimate {
	prob, square := 1.0, 1.0 // Π p, and Π (1 + Var/p²)
	for b, r := range pick {
		x := lists[b][r]
		prob *= x.prob
		if x.variance > 0 {
			square *= 1 + x.variance/(x.prob*x.prob)
		}
	}
	return mc.Estimate{Value: prob, SE: prob * math.Sqrt(square-1)}
}

// bestProducts picks one pattern from each list, in the k ways with the largest
// products. Lists are sorted, and a pick's successors step on by one in one
// list, no earlier than where the pick itself stepped last, so that each pick
// has one way to it.
func bestProducts(lists [][]pattern, k int) [][]int {
	first := choice{pick: make([]int, len(lists))}
	for _, list := range lists {
		first.log += math.Log(list[0].prob)
	}
	queue := &choices{first}
	var out [][]int
	for queue.Len() > 0 && len(out) < k {
		c := heap.Pop(queue).(choice)
		out = append(out, c.pick)
		for b := c.last; b < len(lists); b++ {
			r := c.pick[b]
			if r+1 == len(lists[b]) || lists[b][r+1].prob == 0 {
				continue
			}
			next := choice{slices.Clone(c.pick), b, c.log + math.Log(lists[b][r+1].prob) - math.Log(lists[b][r].prob)}
			next.pick[b]++
			heap.Push(queue, next)
		}
	}
	return out
}

// A choice is a pick that may come next.
type choice struct {
	pick []int
	last int // the list in which it stepped last
	log  float64
}

// choices is a heap, the most probable on top; ties in the order of the
// picks.
type choices []choice

func (c choices) Len() int      { return len(c) }
func (c choices) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c *choices) Push(x any)   { *c = append(*c, x.(choice)) }
func (c choices) Less(i, j int) bool {
	if c[i].log != c[j].log {
		return c[i].log > c[j].log
	}
	return slices.Compare(c[i].pick, c[j].pick) < 0
}

func (c *choices) Pop() any {
	last := len(*c) - 1
	x := (*c)[last]
	*c = (*c)[:last]
	return x
}
