package cells

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
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

// A span is what of the line of a group of parallel planes belongs to a cell:
// intervals first to last.
type span struct{ first, last int }

func key(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		fmt.Fprintf(&b, "%d-%d,", s.first, s.last)
	}
	return b.String()
}

// bounds are the sides of planes that bound spans.
type bounds struct {
	all    []regions.Side
	half   []family.Side  // those that are half-spaces,
	of     []regions.Side // which are these,
	curved []regions.Side // and the others
}

// boundsOf are those at the ends of spans.
func (g *lines) boundsOf(spans []span) (w bounds) {
	for k, s := range spans {
		planes := g.group[k]
		if s.first > 0 {
			w.all = append(w.all, regions.Side{Plane: planes[s.first-1], Positive: true})
		}
		if s.last < len(planes) {
			w.all = append(w.all, regions.Side{Plane: planes[s.last], Positive: false})
		}
	}
	for _, s := range w.all {
		if g.arr.Curve(s.Plane) != nil {
			w.curved = append(w.curved, s)
			continue
		}
		w.half, w.of = append(w.half, family.Side{Hyperplane: g.arr.Plane(s.Plane), Positive: s.Positive}), append(w.of, s)
	}
	return w
}

// outside reports whether z is not on one of sides.
func (g *lines) outside(sides []regions.Side, z []float64) bool {
	return slices.ContainsFunc(sides, func(s regions.Side) bool { return g.arr.At(s.Plane, z) > 0 != s.Positive })
}

// inInterval are signs with switch w in its interval j.
func inInterval(signs regions.Signs, w derive.SwitchLatent, j int) regions.Signs {
	for k, l := range w.Planes {
		signs = signs.Force(l, j > k != w.Down)
	}
	return signs
}

// moveColumn puts column k of x from interval i of a line to interval to, by the signs of the planes
// between them.
func moveColumn(x *graph.Executor, k int, planes []int, i, to int) {
	for _, l := range planes[min(i, to):max(i, to)] {
		x.Signs[l*x.N+k] = 0
		if to > i {
			x.Signs[l*x.N+k] = 1
		}
	}
}
