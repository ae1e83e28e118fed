package graph

import (
	"cmp"
	"slices"

	"github.com/facetvi/facet/regions"
)

// A Switch is a latent that log r uses only in its own prior and in parallel guards:
// given the others, log r knows no more of it than the interval between the guards'
// thresholds. A change point, the threshold of a group, the noise in a regime's
// indicator are switches.
type Switch struct {
	Latent int
	// Planes are the guards' hyperplanes, in the order of their thresholds: values of the
	// coordinate,
	//
	//	Cuts_j + Σ_k Slope_k·z[Index_k].
	Planes []int
	Cuts   []float64
	Index  []int
	Slope  []float64
	// Down says that the planes' signs are + below their thresholds, and not above.
	Down bool
}

// mostVisits bounds the search for switches: nodes that are visited once for each
// term of log r that uses them.
const mostVisits = 1 << 24

// Switches lists switches that do not meet: no term of log r depends on two of
// them. Their posterior given all other latents is a product. Where switches meet,
// as the change points of one series do, it lists those with the most planes. It
// lists none of a program so large that the search would take long.
func (d *Density) Switches() []Switch {
	d.made()
	all := make([]Switch, d.Dim())
	is := make([]bool, d.Dim())
	for i, l := range d.m.latents {
		all[i].Latent, is[i] = i, l.prior.law.shares != nil
	}
	for l, h := range d.arr.Planes() {
		if d.arr.Curve(l) != nil {
			for _, i := range d.arr.Latents(l) {
				is[i] = false
			}
			continue
		}
		for k, i := range h.Index {
			is[i] = is[i] && all[i].take(l, h, k)
		}
	}
	meets := make([][]int, d.Dim()) // switches with which a term also depends on one
	stamp, visits := make([]int, len(d.nodes)), 0
	prior := -1
	for t, term := range d.m.terms {
		var met []int
		of := -1
		if term.prior {
			prior++
			of = prior
			met = append(met, of)
		}
		stack := []nodeID{term.id}
		for len(stack) > 0 {
			id := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if stamp[id] == t+1 {
				continue
			}
			stamp[id] = t + 1
			visits++
			switch n := &d.nodes[id]; n.kind {
			case kLatent:
				is[n.a] = is[n.a] && of == int(n.a)
			case kSign:
				met = append(met, d.arr.Latents(int(n.a))...)
			default:
				n.operands(func(o nodeID) { stack = append(stack, o) })
			}
		}
		if visits > mostVisits {
			return nil
		}
		slices.Sort(met)
		met = slices.DeleteFunc(slices.Compact(met), func(i int) bool { return !is[i] })
		if len(met) > 1 {
			for _, i := range met {
				meets[i] = append(meets[i], met...)
			}
		}
	}
	all = slices.DeleteFunc(all, func(s Switch) bool { return !is[s.Latent] || len(s.Planes) == 0 })
	slices.SortStableFunc(all, func(a, b Switch) int { return cmp.Compare(len(b.Planes), len(a.Planes)) })
	taken, below := make([]bool, d.Dim()), make([]bool, d.Dim()) // below: in the thresholds of one that is taken
	var list []Switch
	for _, s := range all {
		if slices.ContainsFunc(meets[s.Latent], func(i int) bool { return i != s.Latent && taken[i] }) ||
			slices.ContainsFunc(s.Index, func(i int) bool { return taken[i] }) || below[s.Latent] {
			continue
		}
		for _, i := range s.Index {
			below[i] = true
		}
		taken[s.Latent] = true
		order := make([]int, len(s.Planes))
		for k := range order {
			order[k] = k
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.Cuts[a], s.Cuts[b]) })
		sorted := s
		sorted.Planes, sorted.Cuts = nil, nil
		for _, k := range order {
			sorted.Planes, sorted.Cuts = append(sorted.Planes, s.Planes[k]), append(sorted.Cuts, s.Cuts[k])
		}
		list = append(list, sorted)
	}
	return list
}

// take takes on plane l, whose coordinate k is the latent, if it is parallel to
// those before.
func (s *Switch) take(l int, h regions.Hyperplane, k int) bool {
	a := h.Coef[k]
	var index []int
	var slope []float64
	for j, i := range h.Index {
		if j != k {
			index, slope = append(index, i), append(slope, 0-h.Coef[j]/a)
		}
	}
	if len(s.Planes) > 0 && (!slices.Equal(index, s.Index) || !slices.Equal(slope, s.Slope) || s.Down != (a < 0)) {
		return false
	}
	s.Index, s.Slope, s.Down = index, slope, a < 0
	s.Planes, s.Cuts = append(s.Planes, l), append(s.Cuts, 0-h.Const/a)
	return true
}

// Shift is what the switch's thresholds are moved by at sample k of n: Σ_k
// Slope_k·z[Index_k].
func (s *Switch) Shift(z []float64, n, k int) (sum float64) {
	for j, i := range s.Index {
		sum += s.Slope[j] * z[i*n+k]
	}
	return sum
}
