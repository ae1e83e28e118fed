// Package components finds the connected components of a hypergraph: sets are connected that share
// a number, and
//
//	connected(A, C)  =  A ∩ C ≠ ∅, or connected(A, B) and connected(B, C) for some B
//
//	{1, 2} ── {2, 5} ── {5}      {3, 4}      {}       three components
//
// Package elimination sums over each by itself, package events multiplies their probabilities,
// package family numbers groups of dependent latents by them.
package components

// Of returns the positions of sets of natural numbers in groups that share no number: two sets are in one group if they share
// one, or if other sets link them so. Groups are in the order of their first sets, and ascending. An empty set is alone.
func Of(sets [][]int) (groups [][]int) {
	var f forest
	for _, set := range sets {
		for _, x := range set {
			f.join(set[0], x)
		}
	}
	of := map[int]int{} // the group of a root
	for k, set := range sets {
		at, known := len(groups), false
		if len(set) > 0 {
			root := f.root(set[0])
			if at, known = of[root]; !known {
				at = len(groups)
				of[root] = at
			}
		}
		if !known {
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], k)
	}
	return groups
}

// A forest is a partition of the numbers 0, 1, 2, …, all alone at first: numbers are in one part if they have one root. It holds the
// parent of each number up to the last one that was joined.
type forest []int

func (f *forest) join(i, j int) {
	for k := len(*f); k <= max(i, j); k++ {
		*f = append(*f, k)
	}
	(*f)[f.root(j)] = f.root(i)
}

func (f *forest) root(i int) int {
	parent := *f
	for parent[i] != i {
		parent[i] = parent[parent[i]]
		i = parent[i]
	}
	return i
}
