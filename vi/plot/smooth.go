package plot

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot/plotter"

	"github.com/facetvi/facet/graph"
)

// A smooth is the density of weighted draws, a local linear estimate (Jones, Statistics and
// Computing 3, 1993) in each of some intervals by the draws there alone:
//
//	f(x) = (a₂·S₀ − a₁·S₁)/(a₀·a₂ − a₁²),   S_j = Σ w_k·K(u_k)·u_k^j/h,   a_j = ∫ K(u)·u^j du,   u_k = (x_k − x)/h,
//
// where the integral is over the part of the kernel, K(u) = (1 − u²)² on [−1, 1], that lies in the interval. At an end
// of an interval it has no bias of first order either. An interval ends where the density may jump and the estimates from both
// sides differ by more than their errors.
type smooth struct {
	x, weights []float64 // in order
	cuts       []float64 // ends of the intervals, from the least to the largest: where the density jumps
}

// newSmooth takes draws with weights that sum to 1, or with equal ones if weights is nil, and the values at which the density
// may jump, in order, the first and the last of which are its bounds.
func newSmooth(x, weights, cuts []float64) *smooth {
	order := make([]int, len(x))
	s := &smooth{x: slices.Clone(x), weights: make([]float64, len(x)), cuts: cuts}
	floats.Argsort(s.x, order)
	for k, j := range order {
		s.weights[k] = 1 / float64(len(x))
		if weights != nil {
			s.weights[k] = weights[j]
		}
	}
	s.cuts = slices.DeleteFunc(slices.Clone(cuts), func(c float64) bool { return !s.jumps(cuts, c) })
	return s
}

// jumps reports whether the density is surely another on the other side of a cut, or has only one side there.
func (s *smooth) jumps(cuts []float64, cut float64) bool {
	k, _ := slices.BinarySearch(cuts, cut)
	if k == 0 || k == len(cuts)-1 {
		return true
	}
	left, v := s.within(cuts[k-1], cut)(cut)
	right, w := s.within(cut, cuts[k+1])(cut)
	return math.Abs(left-right) > surely*math.Sqrt(v+w)
}

// cuts are the values at which the density of a latent or a component may jump: those of the guards on it alone, and its bounds.
func cuts(d *graph.Density, i int, low, high float64) []float64 {
	all := []float64{low, high}
	add := func(x float64) {
		if low < x && x < high {
			all = append(all, x)
		}
	}
	if i < d.Dim() {
		arr := d.Arrangement()
		for l, h := range arr.Planes() {
			if arr.Curve(l) == nil && len(h.Index) == 1 && h.Index[0] == i {
				add(d.Coordinate(i).Value(-h.Const / h.Coef[0]))
			}
		}
	} else {
		for _, g := range d.Guards() {
			if k, x, ok := g.Component(); ok && k == i-d.Dim() {
				add(x)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

const (
	smoothPoints = 400  // of an interval, but fewer
	smoothMost   = 4000 // of all
	// smoothWidth is h·n^(1/5)/sd for the kernel (1 − u²)² and a normal density (Silverman 1986, §3.4).
	smoothWidth = 2.78
	// quarter is the width of the shortest interval with a quarter of a standard normal.
	quarter = 0.637
	// even is how wide that is at least, of an interval that is filled evenly, where it is 0.25.
	even = 0.15
	// surely is a number of standard errors.
	surely = 3
	// fewDraws is an effective number.
	fewDraws = 200
)

// lines is the density from one value to another. At a cut it has two points, one above the other.
func (s *smooth) lines(from, to float64) (xys plotter.XYs) {
	n := max(8, min(smoothPoints, smoothMost/len(s.cuts)))
	for k, low := range s.cuts[:len(s.cuts)-1] {
		a, b := max(low, from), min(s.cuts[k+1], to)
		if a >= b {
			continue
		}
		f := s.within(low, s.cuts[k+1])
		for j := range n + 1 {
			x := a + (b-a)*float64(j)/float64(n)
			y, _ := f(x)
			xys = append(xys, plotter.XY{X: x, Y: y})
		}
	}
	return xys
}

// within is the density in an interval, and its variance.
func (s *smooth) within(low, high float64) func(x float64) (f, variance float64) {
	first, last := sort.SearchFloat64s(s.x, low), sort.SearchFloat64s(s.x, high)
	x, w := s.x[first:last], s.weights[first:last]
	h := bandwidth(x, w, high-low)
	if h == 0 {
		return func(float64) (float64, float64) { return 0, 0 }
	}
	return func(at float64) (f, variance float64) {
		from, to := integrals(max(-1, (low-at)/h)), integrals(min(1, (high-at)/h))
		a0, a1, a2 := to[0]-from[0], to[1]-from[1], to[2]-from[2]
		for k := sort.SearchFloat64s(x, at-h); k < len(x) && x[k] < at+h; k++ {
			u := (x[k] - at) / h
			term := w[k] * (1 - u*u) * (1 - u*u) * (a2 - a1*u) / (h * (a0*a2 - a1*a1))
			f, variance = f+term, variance+term*term
		}
		return max(0, f), variance
	}
}

// integrals are those of (1 − u²)²·u^j from 0 for j = 0, 1, 2.
func integrals(u float64) [3]float64 {
	v := u * u
	return [3]float64{u * (1 - v*(2./3-v/5)), v * (1./2 - v*(1./2-v/6)), u * v * (1./3 - v*(2./5-v/7))}
}

// bandwidth is h for weighted draws in order. Their width is that of a quarter of them, where they lie closest, so that it is of
// one mode if there are several. Where few draws are in a bounded interval they make a line, and where they fill it evenly the
// density is nearly one. h is 0 for fewer than two different draws with weight.
func bandwidth(x, w []float64, interval float64) float64 {
	total, squares := 0.0, 0.0
	for _, v := range w {
		total, squares = total+v, squares+v*v
	}
	if total == 0 {
		return 0
	}
	shortest, in, low := math.Inf(1), 0.0, 0
	for k := range x {
		in += w[k]
		for in-w[low] >= total/4 && low < k {
			in -= w[low]
			low++
		}
		if in >= total/4 && x[k] > x[low] {
			shortest = min(shortest, x[k]-x[low])
		}
	}
	if math.IsInf(shortest, 1) {
		return 0
	}
	n := total * total / squares
	h := smoothWidth * shortest / quarter * math.Pow(n, -0.2)
	switch {
	case math.IsInf(interval, 1):
		return h
	case n < fewDraws, shortest > even*interval:
		return max(h, interval)
	}
	return h
}
