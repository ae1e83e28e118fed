package graph

import (
	"maps"
	"math"
	"slices"

	"github.com/facetvi/facet/internal/truncnorm"
)

// SumOut returns the density of the latents but for switches, which are summed out: at z it is
//
//	r(z_rest)·Π_i p(z_i),    r(z_rest) = r₀(z_rest)·Π_i Σ_j P_ij·exp(L_ij(z_rest)),
//
// where j are the intervals of switch i, P_ij are their prior probabilities, L_ij is the sum of the terms of log r
// that depend on it, and r₀ is what depends on none. It has the same latents, hyperplanes, priors and evidence as d. The switches have
// their priors p in it, and nothing depends on them: their posterior given the rest is that of a Tabulation.
//
// Summed lists the switches that this is done with: those of d.Switches whose prior and thresholds are numbers, of which no other prior
// depends on, and no two of which meet in a term. The density is nil if there are none. It keeps the data of d.
func (d *Density) SumOut() (summed *Density, switches []SwitchLatent, err error) {
	switches, terms := d.summable()
	if len(switches) == 0 {
		return nil, nil, nil
	}
	prior, err := d.Residuals(1)
	if err != nil {
		return nil, nil, err
	}
	d.st.mu.Lock()
	m := d.m.snapshot()
	d.st.mu.Unlock()
	in := map[int]bool{}
	for k, w := range switches {
		for _, t := range terms[k] {
			in[t] = true
		}
		m.terms = append(m.terms, modelTerm{"sum over " + m.latents[w.Latent].name, m.latents[w.Latent].place, m.sumOver(w, terms[k], prior).in(m), false})
	}
	kept := m.terms[:0:0]
	for t, x := range m.terms {
		if !in[t] {
			kept = append(kept, x)
		}
	}
	c := &compiled{m: m, from: d.from, arr: d.arr, names: d.names, index: d.index, terms: kept, fingerprint: d.fingerprint}
	if err := c.compile(nil); err != nil {
		return nil, nil, err
	}
	return &Density{compiled: c, data: d.data, params: d.params, loose: d.loose}, switches, nil
}

// sumOver is log Σ_j P_j·exp(L_j) over the intervals of a switch, where L_j is the sum of the given terms.
func (m *Model) sumOver(w SwitchLatent, terms []int, prior *Residuals) Expr {
	cuts := make([]float64, len(w.Planes))
	w.Thresholds(1).Fill(cuts, make([]float64, len(m.latents)))
	var logs []Expr
	for j := range len(w.Planes) + 1 {
		signs := Substitution{Sign: func(l int) (Guard, bool) {
			k := slices.Index(w.Planes, l)
			return constantGuard(m, j > k != w.Down), k >= 0
		}}
		rewrite := &rewriter{m: m, sub: signs, done: map[nodeID]nodeID{}}
		sum := make([]term, len(terms))
		for i, t := range terms {
			sum[i] = term{rewrite.rewrite(m.terms[t].id), 1}
		}
		lo, hi := truncnorm.Between(cuts, j)
		o := m.st.total(prior.LogMass(w.Latent, 0, lo, hi), sum)
		if !math.IsInf(o.c, -1) {
			logs = append(logs, Expr{m: m, id: m.st.affineSum(o.c, o.terms)})
		}
	}
	return LogSumExp(logs...)
}

// summable are the switches that SumOut sums out, and the terms that depend on each.
func (d *Density) summable() (switches []SwitchLatent, terms [][]int) {
	prior, err := d.Residuals(1)
	if err != nil {
		return nil, nil
	}
	owner := map[int]int{} // of planes: the switch
	var all []SwitchLatent
	for _, w := range d.Switches() {
		if len(w.Index) > 0 || !prior.Fixed(w.Latent) {
			continue
		}
		for _, l := range w.Planes {
			owner[l] = len(all)
		}
		all = append(all, w)
	}
	if len(all) == 0 {
		return nil, nil
	}
	of, meets := make([][]int, len(all)), make([]bool, len(all))
	d.eachTerm(func(t int, _, planes []int) {
		met := map[int]bool{}
		for _, l := range planes {
			if k, ok := owner[l]; ok {
				met[k] = true
			}
		}
		for k := range maps.Keys(met) {
			meets[k] = meets[k] || len(met) > 1 || d.m.terms[t].prior
			of[k] = append(of[k], t)
		}
	})
	for k, w := range all {
		if !meets[k] && len(of[k]) > 0 {
			switches, terms = append(switches, w), append(terms, of[k])
		}
	}
	return switches, terms
}
