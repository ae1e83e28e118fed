package graph

import (
	"cmp"
	"slices"
)

// A Switch is a latent that log r uses only in its own prior and in guards on it
// alone: given the others, log r knows no more of it than the interval between the
// guards' thresholds. A change point, the threshold of a group, the noise in a
// regime's indicator are switches.
type Switch struct {
	Latent int
	Planes []int     // the guards' hyperplanes, in the order of their thresholds
	Cuts   []float64 // the thresholds, as values of the coordinate
}

// mostVisits bounds the search for switches: nodes that are visited once for each
// term of log r that uses them.
const mostVisits = 1 << 24

// Switches lists switches that do not meet: no term of log r depends on two of
// them. Their posterior given all other latents is a product. Where switches meet,
// as the change points of one series do, it lists those with the most planes. It
// lists none of a program so large that the search would take long.
func (d *Density) Switches() []Switch {
	all := make([]Switch, d.Dim())
	is := make([]bool, d.Dim())
	for i, l := range d.m.latents {
		all[i].Latent, is[i] = i, l.prior.law.shares != nil
	}
	for l, h := range d.arr.Planes() {
		for _, i := range h.Index {
			is[i] = is[i] && len(h.Index) == 1
		}
		if i := h.Index[0]; len(h.Index) == 1 {
			all[i].Planes = append(all[i].Planes, l)
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
				if h := d.arr.Plane(int(n.a)); len(h.Index) == 1 {
					met = append(met, h.Index[0])
				}
			default:
				n.operands(func(o nodeID) { stack = append(stack, o) })
			}
		}
		if visits > mostVisits {
			return nil
		}
		slices.Sort(met)
		met = slices.Compact(met)
		if len(met) > 1 {
			for _, i := range met {
				meets[i] = append(meets[i], met...)
			}
		}
	}
	all = slices.DeleteFunc(all, func(s Switch) bool { return !is[s.Latent] || len(s.Planes) == 0 })
	slices.SortStableFunc(all, func(a, b Switch) int { return cmp.Compare(len(b.Planes), len(a.Planes)) })
	taken := make([]bool, d.Dim())
	var list []Switch
	for _, s := range all {
		if slices.ContainsFunc(meets[s.Latent], func(i int) bool { return i != s.Latent && taken[i] }) {
			continue
		}
		taken[s.Latent] = true
		slices.SortFunc(s.Planes, func(a, b int) int { return cmp.Compare(d.arr.Plane(b).Const, d.arr.Plane(a).Const) })
		for _, l := range s.Planes {
			s.Cuts = append(s.Cuts, 0-d.arr.Plane(l).Const)
		}
		list = append(list, s)
	}
	return list
}
