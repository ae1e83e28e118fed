package events

import (
	"fmt"

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
	lists := make([][]pattern, len(groups))
	for k, group := range groups {
		t := tally{}
		if e.eachCombination(group.planes, func(s regions.Signs, prob float64) { group.add(t, prob, s) }) {
			lists[k] = t.patterns(0)
		}
	}
	if err := e.count(lists, draws, seed, func(k int, t tally, s regions.Signs) { groups[k].add(t, 1, s) }); err != nil {
		return Path{}, err
	}
	path := Path{Holds: make([]bool, len(guards)), Prob: product(lists, make([]int, len(lists)))}
	for k, group := range groups {
		for i, m := range group.members {
			path.Holds[m] = lists[k][0].positive[i]
		}
	}
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
