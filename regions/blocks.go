package regions

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Blocks returns the numbers of the planes in groups that share no coordinate: under a distribution with independent coordinates, the
// signs of one group are independent of those of the others. Groups are in the order of their first planes, and ascending.
func (a *Arrangement) Blocks() [][]int {
	coordinates := make([][]int, len(a.planes))
	for l, h := range a.planes {
		coordinates[l] = h.Index
	}
	return Linked(coordinates)
}

// Linked returns the positions of sets of natural numbers in groups that share no number: two sets are in one group if they share one,
// or if other sets link them so. Groups are in the order of their first sets, and ascending. An empty set is alone.
func Linked(sets [][]int) (groups [][]int) {
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

// A block is a set of planes that share no coordinate with the others: its cells do not depend on theirs, and the cells of the whole
// arrangement are all combinations.
type block struct {
	coords   []int // the coordinates that its planes use, ascending
	families []family
}

// A family is all planes of a block with one normal n. They cut the line of n·z at the levels, into len(levels)+1 slabs; slab j lies
// between levels j−1 and j.
type family struct {
	normal Hyperplane // canonical, without a constant
	levels []level    // ascending
}

// A level is the value of n·z on a plane.
type level struct {
	at    float64
	plane int
}

// slabs are one slab for each family of a block, and so a sign for each of its planes.
type slabs []int

func (a *Arrangement) blocks() []block {
	groups := a.Blocks()
	out := make([]block, len(groups))
	for k, planes := range groups {
		out[k] = a.block(planes)
	}
	return out
}

func (a *Arrangement) block(planes []int) (b block) {
	used := map[int]bool{}
	of := map[string][]int{} // the families that use the same coordinates
	for _, l := range planes {
		h := a.Plane(l)
		for _, i := range h.Index {
			used[i] = true
		}
		key := fmt.Sprint(h.Index)
		at := slices.IndexFunc(of[key], func(f int) bool { return parallel(b.families[f].normal, h) })
		if at < 0 {
			at = len(of[key])
			of[key] = append(of[key], len(b.families))
			b.families = append(b.families, family{normal: Hyperplane{Index: h.Index, Coef: h.Coef}})
		}
		b.families[of[key][at]].insert(level{-h.Const, l})
	}
	b.coords = slices.Sorted(maps.Keys(used))
	return b
}

// parallel reports whether two canonical forms with the same coordinates have one normal, up to roundings: planes at a smaller angle than
// that meet too far away for a linear program.
func parallel(g, h Hyperplane) bool {
	return slices.EqualFunc(g.Coef, h.Coef, func(x, y float64) bool {
		return math.Abs(x-y) <= 1e-12*max(math.Abs(x), math.Abs(y))
	})
}

// insert keeps the levels ascending.
func (f *family) insert(v level) {
	k, _ := slices.BinarySearchFunc(f.levels, v, func(v, w level) int { return cmp.Compare(v.at, w.at) })
	f.levels = slices.Insert(f.levels, k, v)
}

// sign writes the signs of the family's planes in slab j.
func (f *family) sign(positive []bool, j int) {
	for k, v := range f.levels {
		positive[v.plane] = k < j
	}
}

// slab is the slab that the signs say, if they agree on one: + below it and − above.
func (f *family) slab(s Signs) (j int, ok bool) {
	for j < len(f.levels) && s.Positive(f.levels[j].plane) {
		j++
	}
	return j, !slices.ContainsFunc(f.levels[j:], func(v level) bool { return s.Positive(v.plane) })
}

// slabs is the slab of each family that the signs say, if they agree.
func (b *block) slabs(s Signs) (slabs, bool) {
	out := make(slabs, len(b.families))
	for f := range b.families {
		j, ok := b.families[f].slab(s)
		if !ok {
			return nil, false
		}
		out[f] = j
	}
	return out, true
}
