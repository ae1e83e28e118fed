package plot

import (
	"fmt"
	"math"
)

// Elements of a vector, one at each x, are drawn as stairs: each from half-way to
// the element before it to half-way to the one after. So an element alone is
// seen, and nothing is claimed between two.

// edges are the ends of the stairs, one more than elements. x is as in
// positions.
func edges(x []float64, n int) ([]float64, error) {
	x, err := positions(x, n)
	if err != nil {
		return nil, err
	}
	e := make([]float64, n+1)
	for i := 1; i < n; i++ {
		e[i] = (x[i-1] + x[i]) / 2
	}
	first, last := 0.5, 0.5
	if n > 1 {
		first, last = e[1]-x[0], x[n-1]-e[n-1]
	}
	e[0], e[n] = x[0]-first, x[n-1]+last
	return e, nil
}

// positions is x, or 0, 1, …, n−1 if x is nil. It returns an error unless x has
// n finite elements in increasing order.
func positions(x []float64, n int) ([]float64, error) {
	if x == nil {
		x = make([]float64, n)
		for i := range x {
			x[i] = float64(i)
		}
	}
	if n == 0 || len(x) != n {
		return nil, fmt.Errorf("%d positions for %d elements", len(x), n)
	}
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) || i > 0 && v <= x[i-1] {
			return nil, fmt.Errorf("position %d is %v; positions are finite and increase", i, v)
		}
	}
	return x, nil
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
