package events

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/mc"
)

// A RegionProb is a region of latent space and its posterior probability.
type RegionProb struct {
	Signs regions.Signs // of the density's Arrangement
	Prob  mc.Estimate
}

// TopRegions returns the most probable regions, at most k, the most probable first. Regions that no draw met are
// missing, and the probabilities of the others, as those of the largest of many estimates, tend to be a little too large.
func (e Events) TopRegions(k int) ([]RegionProb, error) {
	if k < 1 {
		return nil, fmt.Errorf("events: %d most probable regions; ask for at least 1", k)
	}
	all := make([]int, e.arr.Len())
	for l := range all {
		all[l] = l
	}
	at := map[string][]int{} // draws
	signs := map[string]regions.Signs{}
	e.eachDraw(all, func(k int, s regions.Signs) {
		key := s.String()
		at[key], signs[key] = append(at[key], k), s
	})
	var out []RegionProb
	for _, key := range e.mostProbable(at, k) {
		out = append(out, RegionProb{signs[key], e.share(at[key])})
	}
	return out, nil
}

// mostProbable are the keys of the k sets of draws with the largest weights; among equals the first in their own order.
func (e Events) mostProbable(at map[string][]int, k int) []string {
	weight := map[string]float64{}
	for key, draws := range at {
		for _, j := range draws {
			weight[key] += e.s.Weights[j]
		}
	}
	keys := slices.Sorted(maps.Keys(at))
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(weight[b], weight[a]) })
	return keys[:min(k, len(keys))]
}

// share is the posterior probability of a set that has the given draws.
func (e Events) share(draws []int) mc.Estimate {
	in := make([]float64, e.s.Len())
	for _, k := range draws {
		in[k] = 1
	}
	return e.s.Share(in, true)
}

// A Path says of each of some guards whether it holds.
type Path struct {
	Holds []bool
	Prob  mc.Estimate // of all of them together
}

// MostProbablePath returns the joint assignment of the guards that is the most probable, which need not be each guard's own
// more probable side. For a vector of guards over time, such as Density.Named("on"), it is the most probable path. It is
// that of the draws: its probability is a little too large on average, the more the fewer draws agree on it.
func (e Events) MostProbablePath(guards []graph.Guard) (Path, error) {
	for i, g := range guards {
		if !g.Of(e.s.Density()) {
			return Path{}, fmt.Errorf("events: guard %d of the path belongs to another model", i)
		}
	}
	e, err := e.with(guards...)
	if err != nil {
		return Path{}, err
	}
	at, holds := map[string][]int{}, make([]bool, len(guards))
	e.eachDraw(planesOf(guards...), func(k int, s regions.Signs) {
		key := make([]byte, len(guards))
		for i, h := range graph.Holding(holds, guards, s) {
			if key[i] = '-'; h {
				key[i] = '+'
			}
		}
		at[string(key)] = append(at[string(key)], k)
	})
	best := e.mostProbable(at, 1)[0]
	path := Path{Holds: make([]bool, len(guards)), Prob: e.share(at[best])}
	for i := range path.Holds {
		path.Holds[i] = best[i] == '+'
	}
	return path, nil
}
