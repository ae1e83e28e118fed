package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Elements of a vector, one at each x, are drawn as stairs: each from half-way to
// the place before it to half-way to the one after. So an element alone is
// seen, and nothing is claimed between two. Elements with the same x share a place.

// A place is an x and the elements there.
type place struct {
	x        float64
	elements []int
}

// places are those of n elements in increasing order, and the ends of the stairs, one more. x has the elements' positions
// in any order, or is nil for 0, 1, …. It returns an error unless x has n finite elements.
func places(x []float64, n int) (at []place, edges []float64, err error) {
	if n == 0 || x != nil && len(x) != n {
		return nil, nil, fmt.Errorf("%d positions for %d elements", len(x), n)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	position := func(i int) float64 { return float64(i) }
	if x != nil {
		position = func(i int) float64 { return x[i] }
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	}
	for _, i := range order {
		v := position(i)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, nil, fmt.Errorf("position %d is %v", i, v)
		}
		if k := len(at) - 1; k >= 0 && at[k].x == v {
			at[k].elements = append(at[k].elements, i)
		} else {
			at = append(at, place{v, []int{i}})
		}
	}
	edges = make([]float64, len(at)+1)
	for i := 1; i < len(at); i++ {
		edges[i] = (at[i-1].x + at[i].x) / 2
	}
	first, last := 0.5, 0.5
	if end := len(at) - 1; end > 0 {
		first, last = edges[1]-at[0].x, at[end].x-edges[end]
	}
	edges[0], edges[len(at)] = at[0].x-first, at[len(at)-1].x+last
	return at, edges, nil
}

// indexLabel is what to write at an axis of positions.
func indexLabel(x []float64) string {
	if x == nil {
		return "index"
	}
	return ""
}

// stairs draws elements from … to−1 of v.
func stairs(edges, v []float64, from, to int) (x, y []float64) {
	for i := from; i < to; i++ {
		x = append(x, edges[i], edges[i+1])
		y = append(y, v[i], v[i])
	}
	return x, y
}

// runs are the longest stretches of v without NaN, as [from, to).
func runs(v []float64) [][2]int {
	var out [][2]int
	for i := range v {
		switch {
		case math.IsNaN(v[i]):
		case i == 0 || math.IsNaN(v[i-1]):
			out = append(out, [2]int{i, i + 1})
		default:
			out[len(out)-1][1] = i + 1
		}
	}
	return out
}
