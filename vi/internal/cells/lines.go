package cells

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/facetvi/facet/regions"
)

// lines are the planes of an arrangement in groups of parallel ones: a group cuts
// the line of its Φ into intervals, interval k after k of its planes.
type lines struct {
	arr   *regions.Arrangement
	group [][]int // planes, ascending by threshold
	of    []int   // a plane's group
	at    []int   // and its place there
	open  []bool  // groups whose planes bound no cell
}

func newLines(arr *regions.Arrangement) *lines {
	g := &lines{arr: arr, of: make([]int, arr.Len()), at: make([]int, arr.Len())}
	index := map[string]int{}
	for l, h := range arr.Planes() {
		key := fmt.Sprintf("%v %b", h.Index, h.Coef)
		k, ok := index[key]
		if !ok {
			k = len(g.group)
			index[key] = k
			g.group = append(g.group, nil)
		}
		g.group[k] = append(g.group[k], l)
		g.of[l] = k
	}
	g.open = make([]bool, len(g.group))
	for _, planes := range g.group {
		slices.SortFunc(planes, func(a, b int) int { return cmp.Compare(arr.Plane(b).Const, arr.Plane(a).Const) })
		for i, l := range planes {
			g.at[l] = i
		}
	}
	return g
}

// interval is where a region is on the line of group k.
func (g *lines) interval(k int, s regions.Signs) int {
	n, _ := slices.BinarySearchFunc(g.group[k], true, func(l int, _ bool) int {
		if s.Positive(l) {
			return -1
		}
		return 1
	})
	return n
}

// free lets planes bound no cell.
func (g *lines) free(planes []int) {
	for _, l := range planes {
		g.open[g.of[l]] = true
	}
}
