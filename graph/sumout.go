package graph

import (
	"math"
	"slices"

	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
	"github.com/facetvi/facet/internal/residuals"
	"github.com/facetvi/facet/internal/truncnorm"
)

// SumOut returns the density of the latents but for switches, which are summed out: at z it is
//
//	r(z_rest)·Π_i p(z_i),    r(z_rest) = r₀(z_rest)·Π_i Σ_j P_ij·exp(L_ij(z_rest)),
//
// where j are the intervals of switch i, P_ij are their prior probabilities, L_ij is the sum of the terms of log r
// that depend on it, and r₀ is what depends on none. It has the same latents, hyperplanes, priors and evidence as d. The switches have
// their priors p in it, and nothing depends on them: their posterior given the rest is that of a derive.Tabulation.
//
// This is done with switches: those of d.Engine().Switches() whose prior and thresholds are numbers, of which no other prior
// depends on, no two of which meet in a term, of which nothing is required, and that do not make the program much longer. The density is nil if there are none. It keeps the data of d.
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
	switches, terms := d.summable()
	if len(switches) == 0 {
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
	for k, w := range switches {
		for _, t := range terms[k] {
			in[t.term] = true
		}
		m.terms = append(m.terms, modelTerm{"sum over " + m.latents[w.Latent].name, m.latents[w.Latent].place, m.node(m.sumOver(w, terms[k], prior)), false})
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
	c := &compiled{m: m, from: d.from, arr: d.arr, names: d.names, index: d.index, terms: kept, fingerprint: d.fingerprint, centred: d.centred}
	return sumOut{c, switches}, c.compile(nil)
}

// sumOver is log Σ_j P_j·exp(L_j) over the intervals of a switch, where L_j is the sum of the given terms. Where there are many, and each term
// depends on one plane, it is a forward sum along the planes, of two states: the switch is below the plane, or above it.
func (m *Model) sumOver(w derive.SwitchLatent, terms []planeTerm, prior *residuals.Batch) Expr {
	last := len(w.Planes)
	cuts := make([]float64, last)
	w.Thresholds(1).Fill(cuts, make([]float64, len(m.latents)))
	mass := func(j int) Expr {
		lo, hi := truncnorm.Between(cuts, j)
		return lang.Number(prior.LogMass(w.Latent, 0, lo, hi))
	}
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
	o := m.st.Total(lang.Plain(c), sum)
	return m.expr(m.st.AffineSum(o.C, o.Terms))
}

// A planeTerm is the number of a term of log r, and that of the only plane of a switch that it depends on, −1 if it depends on several.
type planeTerm struct{ term, at int }

func (t planeTerm) several() bool { return t.at < 0 }

// mostWritten is how many terms are written for a switch, one for each interval where a term depends on several of its planes: a program of
// more costs more than its switch.
const mostWritten = 1 << 14

// summable are the switches that SumOut sums out, and the terms that depend on each.
func (d *Density) summable() (switches []derive.SwitchLatent, terms [][]planeTerm) {
	prior, err := d.Residuals(1)
	if err != nil {
		return nil, nil
	}
	type place struct{ of, at int }
	owner := map[int]place{} // of planes: the switch, and the number among its planes
	var all []derive.SwitchLatent
	for _, w := range d.Engine().Switches() {
		if len(w.Index) > 0 || !prior.Fixed(w.Latent) {
			continue
		}
		for j, l := range w.Planes {
			owner[l] = place{len(all), j}
		}
		all = append(all, w)
	}
	if len(all) == 0 {
		return nil, nil
	}
	of, meets := make([][]planeTerm, len(all)), make([]bool, len(all))
	for _, x := range d.m.required {
		for _, l := range x.holds.Planes() {
			if x, ok := owner[l]; ok {
				meets[x.of] = true
			}
		}
	}
	d.Engine().Each(func(t int, _, planes []int) {
		met := map[int]int{} // the plane of each switch
		for _, l := range planes {
			x, ok := owner[l]
			if !ok {
				continue
			}
			if before, ok := met[x.of]; ok && before != x.at {
				x.at = -1
			}
			met[x.of] = x.at
		}
		for k, at := range met {
			meets[k] = meets[k] || len(met) > 1 || d.m.terms[t].prior && d.centred == nil
			of[k] = append(of[k], planeTerm{t, at})
		}
	})
	for k, w := range all {
		several := slices.ContainsFunc(of[k], planeTerm.several)
		if !meets[k] && len(of[k]) > 0 && !(several && len(w.Planes)*len(of[k]) > mostWritten) {
			switches, terms = append(switches, w), append(terms, of[k])
		}
	}
	return switches, terms
}
