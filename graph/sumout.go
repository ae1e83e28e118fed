package graph

import (
	"math"
	"slices"

	"github.com/facetvi/facet/internal/components"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/elimination"
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
	"github.com/facetvi/facet/internal/residuals"
	"github.com/facetvi/facet/internal/truncnorm"
)

// SumOut returns the density of the latents but for switches, which are summed out: at z it is
//
//	r(z_rest)·Π_i p(z_i),    r(z_rest) = r₀(z_rest)·Π_g Σ_j P_gj·exp(L_gj(z_rest)),
//
// where g are groups of switches that meet in terms, one switch each where none do, j are the combinations of a group's intervals, P_gj are their prior
// probabilities, L_gj is the sum of the terms of log r that depend on the group, and r₀ is what depends on none. Sums over groups are by elimination: that
// over the states of a chain is a forward sum. It has the same latents, hyperplanes, priors and evidence as d. The switches have
// their priors p in it, and nothing depends on them: their posterior given the rest is that of a derive.Tabulation.
//
// This is done with switches: those of d.Engine().Switches() whose prior and thresholds are numbers, of which nothing is required, on which no continuous
// latent's prior depends, and that do not make the program much longer. The density is nil if there are none. It keeps the data of d.
func (d *Density) SumOut() (summed *Density, switches []derive.SwitchLatent, err error) {
	x, err := remembered(d, d.sumOut)
	if err != nil || x.compiled == nil {
		return nil, nil, err
	}
	return &Density{compiled: x.compiled, data: d.data, params: d.params, loose: d.loose}, x.switches, nil
}

// A sumOut is a program with switches summed out.
type sumOut struct {
	compiled *compiled
	switches []derive.SwitchLatent
}

func (d *Density) sumOut() (x sumOut, err error) {
	groups := d.summable()
	if len(groups) == 0 {
		return x, nil
	}
	prior, err := d.Residuals(1)
	if err != nil {
		return x, err
	}
	d.st.Mu.Lock()
	m := d.m.snapshot()
	d.st.Mu.Unlock()
	in := map[int]bool{}
	for _, g := range groups {
		for _, t := range g.terms {
			in[t.term] = true
		}
		first := m.latents[g.switches[0].Latent]
		m.terms = append(m.terms, modelTerm{"sum over " + first.name, first.place, m.node(m.sumOver(g, prior)), false})
		x.switches = append(x.switches, g.switches...)
	}
	kept := m.terms[:0:0]
	for t, x := range m.terms {
		switch {
		case !in[t]:
			kept = append(kept, x)
		case x.prior: // each latent has one
			kept = append(kept, modelTerm{x.what, x.place, m.st.Constant(0), true})
		}
	}
	x.compiled = &compiled{m: m, from: d.from, arr: d.arr, names: d.names, index: d.index, terms: kept, fingerprint: d.fingerprint, centred: d.centred}
	return x, x.compiled.compile(nil)
}

// sumOver is log Σ_j P_j·exp(L_j) over the intervals of a group's switches, where P_j is their prior probability, and L_j is the sum of the group's terms.
func (m *Model) sumOver(g summand, prior *residuals.Batch) Expr {
	if len(g.switches) == 1 {
		return m.sumOverOne(g.switches[0], g.terms, m.masses(g.switches[0], prior))
	}
	var masses []func(int) Expr
	for _, w := range g.switches {
		masses = append(masses, m.masses(w, prior))
	}
	rows := make([][]Expr, len(g.terms))
	for t, f := range g.factors {
		for r := range f.Rows() {
			rows[t] = append(rows[t], m.logSum(Expr{}, g.terms[t:t+1], m.inRow(g, f, r)))
		}
	}
	return elimination.Fold(g.order,
		func(f, row int) Expr { return rows[f][row] },
		func(v, value int) Expr { return masses[v](value) },
		func(terms []Expr) Expr {
			sum := make([]ir.Term, len(terms))
			for i, x := range terms {
				sum[i] = ir.Term{Atom: m.node(x), Coef: 1}
			}
			return m.total(0, sum)
		},
		func(logs []Expr) Expr {
			return LogSumExp(slices.DeleteFunc(slices.Clone(logs), lang.IsNone)...)
		})
}

// inRow is a rewriter that puts switches where a row of a factor has them.
func (m *Model) inRow(g summand, f elimination.Factor, row int) *ir.Rewriter {
	class := make([]int, len(f.Vars))
	for j := len(class) - 1; j >= 0; j-- {
		classes := len(f.Cuts[j]) + 1
		class[j], row = row%classes, row/classes
	}
	return ir.NewRewriter(m.st, ir.Substitution{Sign: func(l int) (ir.ID, bool) {
		for j, v := range f.Vars {
			if at := slices.Index(g.switches[v].Planes, l); at >= 0 {
				above, _ := slices.BinarySearch(f.Cuts[j], at+1)
				return m.st.Constant(ir.Indicator(class[j] > above != g.switches[v].Down)), true
			}
		}
		return 0, false
	}})
}

// masses are the log prior probabilities of a switch's intervals.
func (m *Model) masses(w derive.SwitchLatent, prior *residuals.Batch) func(j int) Expr {
	cuts := make([]float64, len(w.Planes))
	w.Thresholds(1).Fill(cuts, make([]float64, len(m.latents)))
	return func(j int) Expr {
		lo, hi := truncnorm.Between(cuts, j)
		return lang.Number(prior.LogMass(w.Latent, 0, lo, hi))
	}
}

// sumOverOne is sumOver of one switch. Where it has many planes, and each term depends on one, it is a forward sum along the planes, of two states:
// the switch is below the plane, or above it.
func (m *Model) sumOverOne(w derive.SwitchLatent, terms []planeTerm, mass func(j int) Expr) Expr {
	last := len(w.Planes)
	if last == 1 || slices.ContainsFunc(terms, planeTerm.several) {
		var logs []Expr
		for j := range last + 1 {
			if x := m.logSum(mass(j), terms, m.inInterval(w, j)); !lang.IsNone(x) {
				logs = append(logs, x)
			}
		}
		return LogSumExp(logs...)
	}
	byPlane := make([][]planeTerm, last)
	for _, t := range terms {
		byPlane[t.at] = append(byPlane[t.at], t)
	}
	below, above := m.inInterval(w, 0), m.inInterval(w, last)
	var emission [][]Expr
	var transition [][][]Expr
	for j, of := range byPlane {
		top := Expr{}
		if j == last-1 {
			top = mass(last)
		}
		emission = append(emission, []Expr{m.logSum(Expr{}, of, below), m.logSum(top, of, above)})
		if j > 0 {
			transition = append(transition, [][]Expr{{{}, lang.Number(math.Inf(-1))}, {mass(j), {}}})
		}
	}
	return ForwardSum([]Expr{mass(0), {}}, emission, transition...)
}

// inInterval is a rewriter that puts the switch in its interval j.
func (m *Model) inInterval(w derive.SwitchLatent, j int) *ir.Rewriter {
	return ir.NewRewriter(m.st, ir.Substitution{Sign: func(l int) (ir.ID, bool) {
		k := slices.Index(w.Planes, l)
		return m.st.Constant(ir.Indicator(j > k != w.Down)), k >= 0
	}})
}

// logSum is c and the sum of the rewritten terms.
func (m *Model) logSum(c Expr, terms []planeTerm, w *ir.Rewriter) Expr {
	sum := make([]ir.Term, len(terms))
	for i, t := range terms {
		sum[i] = ir.Term{Atom: w.Rewrite(m.terms[t.term].id), Coef: 1}
	}
	return m.total(lang.Plain(c), sum)
}

// total is c and a sum.
func (m *Model) total(c float64, sum []ir.Term) Expr {
	o := m.st.Total(c, sum)
	return m.expr(m.st.AffineSum(o.C, o.Terms))
}

// A planeTerm is the number of a term of log r, and that of the only plane of a switch that it depends on, −1 if it depends on several.
type planeTerm struct{ term, at int }

func (t planeTerm) several() bool { return t.at < 0 }

// mostWritten is how many terms are written for a switch, one for each interval where a term depends on several of its planes: a program of
// more costs more than its switch.
const mostWritten = 1 << 14

// A summand is a group of switches that SumOut sums out together, and the terms that depend on them. Of several there are the terms' factors, too, and
// the order in which they are summed out.
type summand struct {
	switches []derive.SwitchLatent
	terms    []planeTerm
	factors  []elimination.Factor
	order    *elimination.Plan
}

// A switchPlane is plane number at of a switch.
type switchPlane struct{ of, at int }

// fixedSwitches are those whose priors have numbers only as parameters, and whose planes are whose.
func (d *Density) fixedSwitches() (all []derive.SwitchLatent, owner map[int]switchPlane) {
	prior, err := d.Residuals(1)
	if err != nil {
		return nil, nil
	}
	owner = map[int]switchPlane{}
	for _, w := range d.Engine().Switches() {
		if len(w.Index) > 0 || !prior.Fixed(w.Latent) {
			continue
		}
		for j, l := range w.Planes {
			owner[l] = switchPlane{len(all), j}
		}
		all = append(all, w)
	}
	return all, owner
}

// summable are the groups that SumOut sums out.
func (d *Density) summable() (groups []summand) {
	all, owner := d.fixedSwitches()
	refused, sets := make([]bool, len(all)), make([][]int, len(all))
	for k := range all {
		sets[k] = []int{k}
	}
	for _, x := range d.m.required {
		for _, l := range x.holds.Planes() {
			if x, ok := owner[l]; ok {
				refused[x.of] = true
			}
		}
	}
	var terms []planeTerm // of sets after those of switches
	var on [][]int        // their planes of switches
	d.Engine().Each(func(t int, _, planes []int) {
		x := planeTerm{term: t}
		var met, of []int
		for _, l := range planes {
			p, ok := owner[l]
			if !ok {
				continue
			}
			if x.at = p.at; len(of) > 0 {
				x.at = -1
			}
			met, of = append(met, p.of), append(of, l)
			refused[p.of] = refused[p.of] || d.m.terms[t].prior && d.centred == nil
		}
		if len(met) > 0 {
			sets, terms, on = append(sets, met), append(terms, x), append(on, of)
		}
	})
	for _, members := range components.Of(sets) {
		var g summand
		var planes [][]int
		no := false
		for _, k := range members {
			if k < len(all) {
				no, g.switches = no || refused[k], append(g.switches, all[k])
			} else {
				g.terms, planes = append(g.terms, terms[k-len(all)]), append(planes, on[k-len(all)])
			}
		}
		if !no && g.ordered(planes) {
			groups = append(groups, g)
		}
	}
	return groups
}

// ordered finds in which order the switches are summed out, by the planes of the terms; false where they cannot be, or that takes too many terms.
func (g *summand) ordered(planes [][]int) bool {
	if len(g.switches) > 1 && len(g.terms) > 0 {
		g.factors, g.order = derive.Meeting(g.switches, planes)
		return g.order != nil
	}
	return len(g.terms) > 0 && !(slices.ContainsFunc(g.terms, planeTerm.several) && len(g.switches[0].Planes)*len(g.terms) > mostWritten)
}
