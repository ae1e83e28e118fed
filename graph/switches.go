package graph

import (
	"cmp"
	"math"
	"slices"

	"github.com/facetvi/facet/regions"
)

// A SwitchLatent is a latent that log r uses only in its own prior and in parallel guards
// that rise, or fall, with it: given the others, log r knows no more of it than the
// interval between the guards' thresholds. A change point, the threshold of a group,
// the noise in a regime's indicator are switches.
type SwitchLatent struct {
	Latent int
	// Planes are the guards' planes, in the order of their thresholds.
	Planes []int
	// Index are the other latents that the thresholds depend on, ascending.
	Index []int
	// Down says that the planes' signs are + below their thresholds, and not above.
	Down bool

	form  regions.Hyperplane // that the planes share, without the constant
	cuts  []float64          // a threshold is cuts_j + Σ_k slope_k·z[Index_k],
	slope []float64
	curve []*regions.Curve // unless the planes are curves
	at    int              // the latent's position in the curves' Latents
}

// mostVisits bounds the search for switches: nodes that are visited once for each
// term of log r that uses them.
const mostVisits = 1 << 24

// Switches lists switches that do not meet: no term of log r depends on two of
// them. Their posterior given all other latents is a product. Where switches meet,
// as the change points of one series do, it lists those with the most planes. It
// lists none of a program so large that the search would take long.
func (d *Density) Switches() []SwitchLatent {
	d.made()
	all := make([]SwitchLatent, d.Dim())
	is := make([]bool, d.Dim())
	for i, l := range d.m.latents {
		all[i].Latent, is[i] = i, l.prior.law.shares != nil
	}
	for l := range d.arr.Len() {
		for k, i := range d.arr.Latents(l) {
			is[i] = is[i] && all[i].take(d.arr, l, k)
		}
	}
	meets := make([][]int, d.Dim()) // switches with which a term also depends on one
	stamp, visits := make([]int, d.nodes.len()), 0
	prior := d.m.params - 1 // parameters have none
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
			switch n := d.nodes.at(id); n.kind {
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
	all = slices.DeleteFunc(all, func(s SwitchLatent) bool { return !is[s.Latent] || len(s.Planes) == 0 })
	slices.SortStableFunc(all, func(a, b SwitchLatent) int { return cmp.Compare(len(b.Planes), len(a.Planes)) })
	taken, below := make([]bool, d.Dim()), make([]bool, d.Dim()) // below: in the thresholds of one that is taken
	var list []SwitchLatent
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
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.cuts[a], s.cuts[b]) })
		sorted := s
		sorted.Planes, sorted.cuts, sorted.curve = nil, nil, nil
		for _, k := range order {
			sorted.Planes, sorted.cuts = append(sorted.Planes, s.Planes[k]), append(sorted.cuts, s.cuts[k])
			sorted.curve = append(sorted.curve, d.arr.Curve(s.Planes[k]))
		}
		list = append(list, sorted)
	}
	return list
}

// take takes on plane l, of whose latents k is the switch's, if it is parallel to
// those before.
func (s *SwitchLatent) take(arr *regions.Arrangement, l, k int) bool {
	h, of, c := arr.Plane(l), arr.Latents(l), arr.Curve(l)
	down, cut := false, 0.0
	if c != nil {
		trend := c.Trend(k)
		if trend == 0 || c.WhyNot(k) != "" || c.Roots(k) > 1 {
			return false
		}
		down = trend < 0
		cut = 0 - h.Const // thresholds of parallel curves are in this order
		if down {
			cut = h.Const
		}
	} else {
		down, cut = h.Coef[k] < 0, 0-h.Const/h.Coef[k]
	}
	first := len(s.Planes) == 0
	if !first && (!slices.Equal(h.Index, s.form.Index) || !slices.Equal(h.Coef, s.form.Coef)) {
		return false
	}
	s.Planes, s.cuts = append(s.Planes, l), append(s.cuts, cut)
	if !first {
		return true
	}
	s.form, s.Down, s.at = h, down, k
	for j, i := range of {
		if j == k {
			continue
		}
		s.Index = append(s.Index, i)
		if c == nil {
			s.slope = append(s.slope, 0-h.Coef[j]/h.Coef[k])
		}
	}
	return true
}

// Curved reports whether the planes are curves.
func (s SwitchLatent) Curved() bool { return s.curve[0] != nil }

// Thresholds computes the thresholds of a switch at n points. It is for one
// goroutine, and allocates nothing after it is made.
type Thresholds struct {
	s     SwitchLatent
	n     int
	shift []float64
	batch []*regions.CurveBatch
}

// Thresholds returns what computes those of the switch at n points.
func (s SwitchLatent) Thresholds(n int) *Thresholds {
	t := &Thresholds{s: s, n: n, shift: make([]float64, n)}
	if s.Curved() {
		for _, c := range s.curve {
			t.batch = append(t.batch, c.Bind(n))
		}
	}
	return t
}

// Fill writes the thresholds to dst, Planes × n, given the other latents in z,
// latents × n, where the switch's own coordinate does not count: −∞ or ∞ where the
// guard has one sign wherever the switch is.
func (t *Thresholds) Fill(dst, z []float64) {
	n := t.n
	clear(t.shift)
	for j, slope := range t.s.slope {
		for k, x := range z[t.s.Index[j]*n:][:n] {
			t.shift[k] += slope * x
		}
	}
	for j := range t.s.Planes {
		row := dst[j*n:][:n]
		if t.batch == nil {
			for k, x := range t.shift {
				row[k] = t.s.cuts[j] + x
			}
			continue
		}
		b := t.batch[j]
		for k, i := range t.s.curve[j].Latents() {
			b.In[k] = z[i*n:][:n]
		}
		phi := b.Values()
		copy(row, b.Solve(t.s.at))
		for k, x := range row {
			if math.IsNaN(x) {
				row[k] = math.Inf(1)
				if phi[k] > 0 != t.s.Down {
					row[k] = math.Inf(-1)
				}
			}
		}
	}
}
