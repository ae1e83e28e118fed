package vi

import (
	"fmt"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
)

// A Path says of each of some guards whether it holds.
type Path struct {
	Holds []bool
	Prob  Estimate // of all of them together, with a standard error of 0 if it is exact
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
func (p *Posterior) MostProbablePath(guards []graph.Guard, draws int, seed uint64) (Path, error) {
	for i, g := range guards {
		if !g.Of(p.Density) {
			return Path{}, fmt.Errorf("vi: guard %d of the path belongs to another model", i)
		}
	}
	groups := p.linked(guards)
	tallies := make([]tally, len(groups))
	var unknown []int
	for k, group := range groups {
		tallies[k] = tally{}
		if !p.eachCombination(group.planes, func(s regions.Signs, prob float64) {
			group.add(tallies[k], prob, guards, s)
		}) {
			unknown = append(unknown, k)
		}
	}
	if len(unknown) > 0 {
		if draws < 2 {
			return Path{}, fmt.Errorf("vi: %d draws; %d groups of guards have to be counted", draws, len(unknown))
		}
		p.eachRegion(draws, seed, func(s regions.Signs) {
			for _, k := range unknown {
				groups[k].add(tallies[k], 1, guards, s)
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

// A guardGroup is guards, by number, that depend on linked hyperplanes.
type guardGroup struct {
	members, planes []int
}

// add counts which of the group's guards hold in a region.
func (g guardGroup) add(t tally, weight float64, guards []graph.Guard, s regions.Signs) {
	t.add(weight, len(g.members), func(i int) bool { return guards[g.members[i]].Holds(s) })
}

// linked groups the guards: two are in one group if latents link their
// hyperplanes. Guards that are simply true or false are alone.
func (p *Posterior) linked(guards []graph.Guard) (out []guardGroup) {
	of := map[int]int{} // the block of a hyperplane
	blocks := p.signBlocks(planesOf(guards...))
	parent := make([]int, len(blocks)) // a forest
	for b := range blocks {
		parent[b] = b
		for _, l := range blocks[b].planes {
			of[l] = b
		}
	}
	var root func(b int) int
	root = func(b int) int {
		if parent[b] != b {
			parent[b] = root(parent[b])
		}
		return parent[b]
	}
	for _, g := range guards {
		for _, l := range g.Planes() {
			parent[root(of[l])] = root(of[g.Planes()[0]])
		}
	}
	number := map[int]int{}
	for i, g := range guards {
		planes := g.Planes()
		if len(planes) == 0 {
			out = append(out, guardGroup{members: []int{i}})
			continue
		}
		r := root(of[planes[0]])
		k, known := number[r]
		if !known {
			k = len(out)
			number[r] = k
			out = append(out, guardGroup{})
		}
		out[k].members = append(out[k].members, i)
		out[k].planes = append(out[k].planes, planes...)
	}
	for k := range out {
		slices.Sort(out[k].planes)
		out[k].planes = slices.Compact(out[k].planes)
	}
	return out
}
