package events

import (
	"fmt"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/components"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/mc"
)

// A Path says of each of some guards whether it holds.
type Path struct {
	Holds []bool
	Prob  mc.Estimate // of all of them together, with a standard error of 0 if it is exact
}

// MostProbablePath returns the joint assignment of the guards that is the most
// probable, which need not be each guard's own more probable side. For a vector
// of guards over time, such as Density.Named("on"), it is the most probable
// path.
//
// Guards that share no latents, directly or through others, are independent
// under the fit, and their best assignments are found apart. Where guards
// compare one latent each with numbers, or parallel combinations of latents, the
// path is exact. Otherwise it is the most frequent one among the given number of
// draws, which the seed fixes; its probability is then a little too large on
// average, the more the fewer draws agree on it.
func (e Events) MostProbablePath(guards []graph.Guard, draws int, seed uint64) (Path, error) {
	for i, g := range guards {
		if e.d != nil && !g.Of(e.d) {
			return Path{}, fmt.Errorf("events: guard %d of the path belongs to another model", i)
		}
	}
	e, err := e.with(guards...)
	if err != nil {
		return Path{}, err
	}
	groups := e.groups(guards)
	tallies := make([]tally, len(groups))
	var unknown []int
	for k, group := range groups {
		tallies[k] = tally{}
		if !e.eachCombination(group.planes, func(s regions.Signs, prob float64) {
			group.add(tallies[k], prob, s)
		}) {
			unknown = append(unknown, k)
		}
	}
	if len(unknown) > 0 {
		if err := mc.CheckDraws(draws); err != nil {
			return Path{}, fmt.Errorf("events: %w", err)
		}
		if draws < 2 {
			return Path{}, fmt.Errorf("events: %d draws; %d groups of guards have to be counted", draws, len(unknown))
		}
		e.eachRegion(draws, seed, func(s regions.Signs) {
			for _, k := range unknown {
				groups[k].add(tallies[k], 1, s)
			}
		})
	}
	path := Path{Holds: make([]bool, len(guards))}
	best := make([][]pattern, len(groups))
	for k, group := range groups {
		n := 0
		if slices.Contains(unknown, k) {
			n = draws
		}
		best[k] = tallies[k].patterns(n)
		for i, m := range group.members {
			path.Holds[m] = best[k][0].positive[i]
		}
	}
	path.Prob = product(best, make([]int, len(best)))
	return path, nil
}

// A guardGroup is guards that depend on linked hyperplanes.
type guardGroup struct {
	members []int // numbers of the guards
	guards  []graph.Guard
	planes  []int
}

// add counts which of the group's guards hold in a region.
func (g guardGroup) add(t tally, weight float64, s regions.Signs) {
	holds := graph.Holding(nil, g.guards, s)
	t.add(weight, len(holds), func(i int) bool { return holds[i] })
}

// groups are the guards in groups: two are in one if latents link their
// hyperplanes. Guards that are simply true or false are alone.
func (e Events) groups(guards []graph.Guard) (out []guardGroup) {
	block := map[int]int{} // of a hyperplane
	for b, x := range e.signBlocks(planesOf(guards...)) {
		for _, l := range x.planes {
			block[l] = b
		}
	}
	blocks := make([][]int, len(guards))
	for i, g := range guards {
		for _, l := range g.Planes() {
			blocks[i] = append(blocks[i], block[l])
		}
	}
	for _, members := range components.Of(blocks) {
		g := guardGroup{members: members}
		for _, i := range members {
			g.guards = append(g.guards, guards[i])
		}
		g.planes = planesOf(g.guards...)
		out = append(out, g)
	}
	return out
}
