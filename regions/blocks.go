package regions

import (
	"fmt"
	"maps"
	"slices"
)

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

// A level is a value of n·z at which planes lie: one, or several in an arrangement from PushForward, where nothing is merged.
type level struct {
	at     float64
	planes []oriented
}

type oriented struct {
	plane    int
	reversed bool // the plane's sign is + where n·z is below the level
}

// A slab is one slab for each family of a block, and so a sign for each of its planes.
type slabs []int

// Blocks returns the numbers of the planes in groups that share no coordinate: under a distribution with independent coordinates, the
// signs of one group are independent of those of the others. Groups are in the order of their first planes, and ascending.
func (a *Arrangement) Blocks() [][]int {
	group := make([]int, a.dim) // a forest over the coordinates
	for i := range group {
		group[i] = i
	}
	root := func(i int) int {
		for group[i] != i {
			group[i] = group[group[i]]
			i = group[i]
		}
		return i
	}
	for _, h := range a.planes {
		for _, i := range h.Index[1:] {
			group[root(i)] = root(h.Index[0])
		}
	}
	number := map[int]int{}
	var out [][]int
	for l, h := range a.planes {
		r := root(h.Index[0])
		k, known := number[r]
		if !known {
			k = len(out)
			number[r] = k
			out = append(out, nil)
		}
		out[k] = append(out[k], l)
	}
	return out
}

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
		n, scale, err := a.planes[l].Canonical()
		if err != nil { // an image under PushForward may be that uneven; it is a family of its own
			n, scale = a.planes[l], 1
		}
		for _, i := range n.Index {
			used[i] = true
		}
		at := -n.Const
		n.Const = 0
		key := fmt.Sprint(n.Index)
		f := -1
		for _, known := range of[key] {
			if slices.EqualFunc(b.families[known].normal.Coef, n.Coef, near) {
				f = known
				break
			}
		}
		if f < 0 {
			f = len(b.families)
			of[key] = append(of[key], f)
			b.families = append(b.families, family{normal: n})
		}
		b.families[f].insert(at, oriented{l, scale < 0})
	}
	b.coords = slices.Sorted(maps.Keys(used))
	return b
}

// insert keeps the levels ascending, and puts planes that coincide on one level.
func (f *family) insert(at float64, p oriented) {
	j, _ := slices.BinarySearchFunc(f.levels, at, func(v level, at float64) int {
		if near(v.at, at) {
			return 0
		}
		if v.at < at {
			return -1
		}
		return 1
	})
	if j < len(f.levels) && near(f.levels[j].at, at) {
		f.levels[j].planes = append(f.levels[j].planes, p)
		return
	}
	f.levels = slices.Insert(f.levels, j, level{at, []oriented{p}})
}

// sign writes the signs of the family's planes in slab j.
func (f *family) sign(positive []bool, j int) {
	for k, v := range f.levels {
		for _, p := range v.planes {
			positive[p.plane] = (k < j) != p.reversed
		}
	}
}

// slab is the slab that the signs say, if they agree on one.
func (f *family) slab(s Signs) (j int, ok bool) {
	for k, v := range f.levels {
		for _, p := range v.planes {
			switch above := s.Positive(p.plane) != p.reversed; {
			case above && j < k, !above && j > k:
				return 0, false
			case above:
				j = k + 1
			}
		}
	}
	return j, true
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
