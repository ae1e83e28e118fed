package derive

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/facetvi/facet/internal/elimination"
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lower"
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

// mostEliminated bounds what switches that meet may cost: rows of tables, see elimination.
const mostEliminated = 1 << 14

// Terms are those of log r, and what they are made of.
type Terms struct {
	Nodes       *ir.Nodes
	Arr         *regions.Arrangement
	Dim, Params int
	List        []LogTerm
}

// A LogTerm is a term of log r, perhaps the prior of the next latent after the parameters.
type LogTerm struct {
	ID    ir.ID
	Prior bool
}

// Switches lists the switches that can be summed out exactly, given all other latents. Two switches meet if a term of log r depends
// on both. Those that do not meet are independent, and those that meet, as the states of a chain, are summed out
// one after the other. Where that would take long, as with the change points of one series, or where the prior of one depends on
// another, Switches lists those with the most planes of which no two meet. Of very large programs it lists none.
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
	slices.SortStableFunc(all, func(a, b SwitchLatent) int { return cmp.Compare(len(b.Planes), len(a.Planes)) })
	for i := range all {
		all[i].sort(x.Arr)
	}
	return m.apart(all, cheap(all, m.together, m.priors))
}

// meetings say which switches meet.
type meetings struct {
	of       [][]int // by latent: the switches with which a term also depends on it
	priors   []bool  // by latent: one of these terms is a prior of theirs
	together [][]int // planes, by term in which switches meet
}

// meetings looks for terms in which latents that may be switches meet, and takes those out of is that a term depends on
// otherwise than by guards. It is not ok if that takes too long.
func (x Terms) meetings(is []bool) (m meetings, ok bool) {
	m.of, m.priors = make([][]int, x.Dim), make([]bool, x.Dim)
	prior := x.Params - 1 // parameters have none
	ok = x.Each(func(t int, latents, planes []int) {
		var met []int
		of := -1
		if x.List[t].Prior {
			prior++
			of = prior
			met = append(met, of)
		}
		for _, i := range latents {
			is[i] = is[i] && of == i
		}
		for _, l := range planes {
			met = append(met, x.Arr.Latents(l)...)
		}
		slices.Sort(met)
		met = slices.DeleteFunc(slices.Compact(met), func(i int) bool { return !is[i] })
		if len(met) > 1 {
			for _, i := range met {
				m.of[i] = append(m.of[i], met...)
				m.priors[i] = m.priors[i] || slices.Contains(met, of)
			}
			m.together = append(m.together, slices.Clone(planes))
		}
	})
	return m, ok
}

// Each calls f for the terms of log r, in their order, with the latents and the planes that each depends on. It reports false, and ends, if that
// takes too long.
func (x Terms) Each(f func(t int, latents, planes []int)) bool {
	stamp, visits := make([]int, x.Nodes.Len()), 0
	var latents, planes []int
	var stack []ir.ID
	for t, term := range x.List {
		latents, planes = latents[:0], planes[:0]
		stack = append(stack, term.ID)
		for len(stack) > 0 {
			id := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if stamp[id] == t+1 {
				continue
			}
			stamp[id] = t + 1
			visits++
			switch x.Nodes.Like(id).Kind {
			case ir.Latent:
				latents = append(latents, int(x.Nodes.Head(id).A))
			case ir.Sign:
				planes = append(planes, int(x.Nodes.Head(id).A))
			default:
				stack = x.Nodes.AppendOperands(stack, id)
			}
		}
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

// cheap reports which switches can be summed with all that they are connected with, by terms
// that depend on some planes together.
func cheap(all []SwitchLatent, together [][]int, apart []bool) []bool {
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
	p, is := elimination.NewPlan(values, factors, mostEliminated), make([]bool, len(all))
	for k := range all {
		is[k] = p.Cost(k) <= mostEliminated
	}
	return is
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

// A Tabulation is log r as a sum of factors over the intervals that switches are in, which are
// the values of as many variables, given the other latents and signs.
type Tabulation struct {
	Factors []elimination.Factor
	first   []int // rows of the program; the first one has the terms that are in no factor
	prog    *lower.Program
}

// tabulate returns the tabulation of switches.
func (b *Builder) tabulate(ctx context.Context, switches []SwitchLatent) (*Tabulation, error) {
	t, places := &Tabulation{first: []int{1}}, placesOf(switches)
	planes := make([][]int, len(b.terms)) // of the switches, by term
	for l, terms := range b.affect {
		if len(places[l]) > 0 {
			for _, k := range terms {
				planes[k] = append(planes[k], l)
			}
		}
	}
	var rest []int
	terms, of := [][]int(nil), map[string]int{} // by factor
	for k := range b.terms {
		if planes[k] == nil {
			rest = append(rest, k)
			continue
		}
		f := places.factor(planes[k])
		id := fmt.Sprint(f)
		at, ok := of[id]
		if !ok {
			at = len(terms)
			of[id] = at
			t.Factors, terms, t.first = append(t.Factors, f), append(terms, nil), append(t.first, t.first[at]+f.Rows())
		}
		terms[at] = append(terms[at], k)
	}
	outs := []ir.ID{b.Store.Sum(1, b.sum(rest, ir.NewRewriter(b.Store, ir.Substitution{})), b.of.C, b.Number(1))}
	for k, f := range t.Factors {
		class := make([]int, len(f.Vars)) // of each variable, in the row
		signs := ir.Substitution{Sign: func(l int) (formula ir.ID, ok bool) {
			for _, x := range places[l] {
				if j, ok := slices.BinarySearch(f.Vars, x.of); ok {
					above, _ := slices.BinarySearch(f.Cuts[j], x.at+1)
					return b.Always(class[j] > above != switches[x.of].Down), true
				}
			}
			return formula, false
		}}
		for range f.Rows() {
			if err := cmp.Or(ctx.Err(), b.tooMany()); err != nil {
				return nil, err
			}
			outs = append(outs, b.sum(terms[k], ir.NewRewriter(b.Store, signs)))
			nextRow(class, f)
		}
	}
	var err error
	t.prog, err = b.Compile(outs)
	return t, err
}

// nextRow makes class that of the next row of f's table.
func nextRow(class []int, f elimination.Factor) {
	for j := len(class) - 1; j >= 0; j-- {
		if class[j]++; class[j] <= len(f.Cuts[j]) {
			return
		}
		class[j] = 0
	}
}

// A Table computes a tabulation at points.
type Table struct {
	X *lower.Executor // whose Z and Signs are those of the points
	t *Tabulation
}

// Bind returns a table of n points for the data of d.
func (t *Tabulation) Bind(d Density, n int) (*Table, error) {
	x, err := d.Executor(t.prog, n, lower.Compute{Out: true})
	return &Table{x, t}, err
}

// Rest is the sum of the terms that depend on no switch.
func (x *Table) Rest() []float64 { return x.X.Out[:x.X.N] }

// Factor is factor k, its rows × N.
func (x *Table) Factor(k int) []float64 { return x.X.Out[x.t.first[k]*x.X.N : x.t.first[k+1]*x.X.N] }

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
