package derive

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/facetvi/facet/internal/elimination"
	"github.com/facetvi/facet/internal/ir"
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
	// Beside says that it depends on another switch alone, and is listed for that it can be summed out with that.
	Beside bool

	form  regions.Hyperplane // that the planes share, without the constant
	cuts  []float64          // a threshold is cuts_j + Σ_k slope_k·z[Index_k],
	slope []float64
	curve []*regions.Curve // unless the planes are curves
	at    int              // the latent's position in the curves' Latents
}

// mostVisits bounds the search for switches: nodes that are visited once for each
// term of log r that uses them.
const mostVisits = 1 << 24

// mostEliminated bounds what switches that meet may cost: rows of tables, see elimination.
const mostEliminated = 1 << 14

// Switches lists the switches that can be summed out exactly, given all other latents. Two switches meet if a branch of a term of log r depends
// on both (see branch). Those that do not meet are independent, and those that meet, as the states of a chain, are summed out
// one after the other. Where that would take long, as with the change points of one series, or where the prior of one depends on
// another, Switches lists some of which no two meet, those with the most planes for each that they meet first, and beside each at most one other that can
// be summed together with it, and meets no others of them. Of very large programs it lists none.
func (x Density) Switches() []SwitchLatent {
	all := make([]SwitchLatent, x.Dim)
	is := slices.Clone(x.Shares)
	for i := range all {
		all[i].Latent = i
	}
	for l := range x.Arr.Len() {
		for k, i := range x.Arr.Latents(l) {
			is[i] = is[i] && all[i].take(x.Arr, l, k)
		}
	}
	m, few := x.meetings(is)
	if !few {
		return nil
	}
	all = slices.DeleteFunc(all, func(s SwitchLatent) bool { return !is[s.Latent] || len(s.Planes) == 0 })
	for i, list := range m.of {
		slices.Sort(list)
		m.of[i] = slices.Compact(list)
	}
	slices.SortStableFunc(all, func(a, b SwitchLatent) int {
		return cmp.Compare(len(b.Planes)*max(1, len(m.of[a.Latent])), len(a.Planes)*max(1, len(m.of[b.Latent])))
	})
	for i := range all {
		all[i].sort(x.Arr)
	}
	return m.beside(m.apart(all, cheap(all, m.together, m.priors)), all)
}

// meetings say which switches meet.
type meetings struct {
	of       [][]int // by latent: the switches with which a term also depends on it, ascending
	priors   []bool  // by latent: one of these terms is a prior of theirs
	together [][]int // planes, by term in which switches meet
}

// meetings looks for terms in which latents that may be switches meet, and takes those out of is that a term depends on
// otherwise than by guards. It is not ok if that takes too long.
func (x Terms) meetings(is []bool) (m meetings, ok bool) {
	m.of, m.priors = make([][]int, x.Dim), make([]bool, x.Dim)
	branches := newBrancher(x.Nodes, func(l int) (list []int) {
		for _, i := range x.Arr.Latents(l) {
			if is[i] {
				list = append(list, i)
			}
		}
		return list
	})
	ok = x.Each(func(t int, latents, planes []int) {
		of := x.List[t].Of
		for _, i := range latents {
			is[i] = is[i] && of == i
		}
		met := branches.owners(branch{planes: planes})
		if len(met) > 1 && (of < 0 || !is[of]) {
			for _, b := range branches.of(x.List[t].ID) {
				m.add(branches.owners(b), b.planes)
			}
		}
		if of < 0 || !is[of] {
			return
		}
		if !slices.Contains(met, of) {
			met = append(met, of)
		}
		if m.add(met, planes); len(met) > 1 {
			for _, i := range met {
				m.priors[i] = true
			}
		}
	})
	return m, ok
}

// add notes that switches meet, in a term that depends on planes.
func (m *meetings) add(met, planes []int) {
	if len(met) < 2 {
		return
	}
	for _, i := range met {
		m.of[i] = append(m.of[i], met...)
	}
	m.together = append(m.together, slices.Clone(planes))
}

// Compared reports of each latent whether it has a prior of its own and else is used in guards alone: with all signs given, log r is its prior's log
// density plus what does not depend on it. None is if that takes too long to see.
func (x Terms) Compared() []bool {
	is := make([]bool, x.Dim)
	for i := x.Params; i < x.Dim; i++ {
		is[i] = true
	}
	few := x.Each(func(t int, latents, planes []int) {
		of := x.List[t].Of
		if of >= 0 {
			is[of] = is[of] && len(planes) == 0
		}
		for _, i := range latents {
			if i != of {
				is[i] = false
				if of >= 0 {
					is[of] = false
				}
			}
		}
	})
	if !few {
		clear(is)
	}
	return is
}

// Each calls f for the terms of log r, in their order, with the latents and the planes that each depends on. It reports false, and ends, if that
// takes too long.
func (x Terms) Each(f func(t int, latents, planes []int)) bool {
	w, visits := newWalk(x.Nodes.Len()), 0
	var latents, planes []int
	for t, term := range x.List {
		latents, planes = latents[:0], planes[:0]
		w.from(term.ID, func(id ir.ID) {
			visits++
			switch x.Nodes.Like(id).Kind {
			case ir.Latent:
				latents = append(latents, int(x.Nodes.Head(id).A))
			case ir.Sign:
				planes = append(planes, int(x.Nodes.Head(id).A))
			default:
				w.stack = x.Nodes.AppendOperands(w.stack, id)
			}
		})
		if visits > mostVisits {
			return false
		}
		f(t, latents, planes)
	}
	return true
}

// apart are those switches, the first ones first, that are cheap or meet no other one, and of which none is in the
// thresholds of another.
func (m meetings) apart(all []SwitchLatent, cheap []bool) (list []SwitchLatent) {
	taken, below := make([]bool, len(m.of)), make([]bool, len(m.of)) // below: in the thresholds of one that is taken
	for k, s := range all {
		if !cheap[k] && slices.ContainsFunc(m.of[s.Latent], func(i int) bool { return i != s.Latent && taken[i] }) ||
			slices.ContainsFunc(s.Index, func(i int) bool { return taken[i] }) || below[s.Latent] {
			continue
		}
		for _, i := range s.Index {
			below[i] = true
		}
		taken[s.Latent] = true
		list = append(list, s)
	}
	return list
}

func (m meetings) meet(i, j int) bool {
	_, meet := slices.BinarySearch(m.of[i], j)
	return meet
}

// beside adds to switches that are taken, others that meet one of these alone, which meets no other, and can be summed with it: by which of two
// variables a tree splits, beside the threshold of the split.
func (m meetings) beside(taken, all []SwitchLatent) (list []SwitchLatent) {
	list = slices.Clip(taken)
	near := func(i int) (n int) { // of those that are listed, it itself among them
		for _, t := range list {
			if t.Latent == i || m.meet(i, t.Latent) {
				n++
			}
		}
		return n
	}
	for _, s := range all {
		apart := func(t SwitchLatent) bool {
			return t.Latent == s.Latent || slices.Contains(t.Index, s.Latent) || slices.Contains(s.Index, t.Latent) ||
				m.meet(s.Latent, t.Latent) && near(t.Latent) != 1
		}
		if s.Beside = true; !m.priors[s.Latent] && near(s.Latent) == 1 && !slices.ContainsFunc(list, apart) {
			list = append(list, s)
		}
	}
	if len(list) == len(taken) {
		return taken
	}
	p := plan(list, m.together, m.priors)
	kept := slices.Clip(taken)
	for k, s := range list {
		if s.Beside && p.Cost(k) <= mostEliminated {
			kept = append(kept, s)
		}
	}
	return kept
}

// cheap reports which switches can be summed with all that they are connected with, by terms
// that depend on some planes together.
func cheap(all []SwitchLatent, together [][]int, apart []bool) []bool {
	p, is := plan(all, together, apart), make([]bool, len(all))
	for k := range all {
		is[k] = p.Cost(k) <= mostEliminated
	}
	return is
}

// plan is the elimination of switches. Those that cannot be summed with those that they meet cost more than mostEliminated.
func plan(all []SwitchLatent, together [][]int, apart []bool) *elimination.Plan {
	values := make([]int, len(all))
	for k, s := range all {
		if values[k] = len(s.Planes) + 1; apart[s.Latent] {
			values[k] = math.MaxInt32
		}
	}
	var places places
	if len(together) > 0 {
		places = placesOf(all)
	}
	var factors []elimination.Factor
	known := map[string]bool{}
	for _, planes := range together {
		f := places.factor(planes)
		if f.Rows() > mostEliminated {
			for _, k := range f.Vars {
				values[k] = math.MaxInt32
			}
		} else if id := fmt.Sprint(f); !known[id] {
			known[id] = true
			factors = append(factors, f)
		}
	}
	return elimination.NewPlan(values, factors, mostEliminated)
}

// Meeting is how switches are summed out of terms that depend on planes: the factor of each term, and the order. There is none if that would cost too
// much.
func Meeting(switches []SwitchLatent, planes [][]int) (factors []elimination.Factor, order *elimination.Plan) {
	places, values, rows := placesOf(switches), make([]int, len(switches)), 0
	for _, of := range planes {
		f := places.factor(of)
		if rows += f.Rows(); rows > mostEliminated {
			return nil, nil
		}
		factors = append(factors, f)
	}
	for k, s := range switches {
		values[k] = len(s.Planes) + 1
	}
	order = elimination.NewPlan(values, factors, mostEliminated)
	for k := range switches {
		if order.Cost(k) > mostEliminated {
			return nil, nil
		}
	}
	return factors, order
}

// places are the switches that have a plane, and its number among their planes.
type places map[int][]struct{ of, at int }

func placesOf(switches []SwitchLatent) places {
	p := places{}
	for k, s := range switches {
		for j, l := range s.Planes {
			p[l] = append(p[l], struct{ of, at int }{k, j})
		}
	}
	return p
}

// factor is one that depends on planes.
func (p places) factor(planes []int) (f elimination.Factor) {
	cuts := map[int][]int{}
	for _, l := range planes {
		for _, x := range p[l] {
			cuts[x.of] = append(cuts[x.of], x.at+1)
		}
	}
	f.Vars = slices.Sorted(maps.Keys(cuts))
	for _, v := range f.Vars {
		slices.Sort(cuts[v])
		f.Cuts = append(f.Cuts, cuts[v])
	}
	return f
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

// sort sorts the planes by their thresholds.
func (s *SwitchLatent) sort(arr *regions.Arrangement) {
	order := make([]int, len(s.Planes))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.cuts[a], s.cuts[b]) })
	planes, cuts := s.Planes, s.cuts
	s.Planes, s.cuts, s.curve = nil, nil, nil
	for _, k := range order {
		s.Planes, s.cuts, s.curve = append(s.Planes, planes[k]), append(s.cuts, cuts[k]), append(s.curve, arr.Curve(planes[k]))
	}
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
