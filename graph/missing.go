package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
	"github.com/facetvi/facet/internal/lower"
)

// missingIn are the places of NaN in data; nil if there are none.
func missingIn(data []float64) []bool {
	if !slices.ContainsFunc(data, math.IsNaN) {
		return nil
	}
	missing := make([]bool, len(data))
	for i, x := range data {
		missing[i] = math.IsNaN(x)
	}
	return missing
}

// without is the program where the given observations are missing.
func (c *compiled) without(missing []bool) (*compiled, error) {
	c.st.Mu.Lock()
	now := c.m.snapshot()
	c.st.Mu.Unlock()
	next := &compiled{m: now, from: c.from, arr: c.arr, names: c.names, index: c.index, terms: c.terms, fingerprint: c.fingerprint}
	return next, next.compile(missing)
}

// compile compiles the program's terms but for those of missing observations.
func (c *compiled) compile(missing []bool) error {
	if err := c.m.needsNoMissing(missing); err != nil {
		return err
	}
	c.missing, c.m.terms = missing, c.m.termsWithout(c.terms, missing)
	c.st, c.nodes = c.m.st, c.m.st.Nodes.Clone()
	terms := make([]ir.Term, len(c.m.terms))
	for i, t := range c.m.terms {
		terms[i] = ir.Term{Atom: t.id, Coef: 1}
	}
	out := c.m.st.Total(0, terms)
	if err := c.m.checkConstants(out); err != nil {
		return err
	}
	var err error
	c.prog, err = lower.NewProgram(c.m.st, []ir.Output{out}, &out, lower.Sizes{Latents: len(c.names), Signs: c.arr.Len(), Data: len(c.m.obs)})
	c.source = sync.OnceValue(c.newSource)
	return err
}

// termsWithout are terms but for those of missing observations. Each observation has a term, in their order, and each chain one.
func (m *contents) termsWithout(terms []modelTerm, missing []bool) []modelTerm {
	if missing == nil {
		return terms
	}
	kept, at := make([]modelTerm, 0, len(terms)), 0
	for _, t := range terms {
		if !t.observes() {
			kept = append(kept, t)
			continue
		}
		chain, is := m.obs[at].hidden, missing[at]
		if at++; chain != nil {
			at += chain.steps - 1
			t.id, is = m.chainWithout(chain, t.id, missing)
		}
		if !is {
			kept = append(kept, t)
		}
	}
	return kept
}

// chainWithout is the term of a chain, id, without the emissions of missing steps: 1 in place of their densities. It reports
// whether all are missing.
func (m *contents) chainWithout(c *Hidden, id ir.ID, missing []bool) (term ir.ID, all bool) {
	steps := missing[c.first:][:c.steps]
	if !slices.Contains(steps, true) {
		return id, false
	}
	ids := make([]ir.ID, len(c.x))
	emissions := len(c.x) - c.states*c.steps
	for i, x := range c.x {
		switch {
		case i >= emissions && steps[(i-emissions)/c.states]:
			ids[i] = m.st.Constant(0)
		case lang.Of(x) == nil:
			ids[i] = m.st.Constant(lang.Plain(x))
		default:
			ids[i] = lang.ID(x)
		}
	}
	sum := m.st.Forward(c.states, c.steps, ids)
	if where := c.where.value; lang.Of(where) != nil {
		sum = m.st.Sel(lang.ID(where), sum, m.st.Constant(0))
	}
	return sum, !slices.Contains(steps, false)
}

// needsNoMissing reports what of the program depends on an observation that is missing, but for what is missing itself.
func (m *contents) needsNoMissing(missing []bool) error {
	if missing == nil || !m.dependent {
		return nil
	}
	of := make([]ir.ID, m.st.Len()) // by node: 1 + the leaf of a missing observation that it depends on, 0 for none
	for id := range ir.ID(len(of)) {
		if n := m.st.Like(id); n.Kind == ir.Data && missing[m.st.Head(id).A] {
			of[id] = id + 1
		}
		m.st.Operands(id, func(o ir.ID) { of[id] = max(of[id], of[o]) })
	}
	check := func(at *place, what string, roots ...ir.ID) error {
		for _, root := range roots {
			if of[root] > 0 {
				o := m.obs[m.st.Head(of[root]-1).A]
				return fmt.Errorf("graph: %v: the %s depends on observation %q (%v), which is missing: only what is missing too may; sample it in place of observing it",
					at, what, o.name, o.place)
			}
		}
		return nil
	}
	for i := range m.obs {
		o := &m.obs[i]
		if missing[i] {
			continue
		}
		if err := check(o.place, observationOf(o.name), o.depends()...); err != nil {
			return err
		}
	}
	for _, t := range m.terms {
		if t.observes() {
			continue
		}
		if err := check(t.place, t.what, t.id); err != nil {
			return err
		}
	}
	return nil
}

// depends are the nodes that an observation depends on, but for its value.
func (o *observation) depends() (ids []ir.ID) {
	for _, d := range o.dists() {
		ids = append(ids, d.Nodes()...)
	}
	if where := o.where.value; lang.Of(where) != nil {
		ids = append(ids, lang.ID(where))
	}
	return ids
}

// replaceable reports why x cannot take the place of the observation's value.
func (o *observation) replaceable(x float64) error {
	if o.compared && x != o.value && !(math.IsNaN(x) && math.IsNaN(o.value)) {
		return fmt.Errorf("a guard compares its value %v, which cannot be replaced: compile the program with %v in its place", o.value, x)
	}
	return o.check(x)
}

// numbersFor are the data for arithmetic: with numbers in place of what is missing.
func (c *compiled) numbersFor(data []float64) []float64 {
	if c.missing == nil {
		return data
	}
	out := slices.Clone(data)
	for i, x := range out {
		if !math.IsNaN(x) {
			continue
		}
		if out[i] = c.m.obs[i].value; math.IsNaN(out[i]) {
			out[i] = 0
		}
	}
	return out
}

// given is the density of the same program with these observations, which it keeps.
func (d *Density) given(data []float64) (*Density, error) {
	c := d.compiled
	if missing := missingIn(data); !slices.Equal(missing, c.missing) {
		var err error
		if c, err = c.without(missing); err != nil {
			return nil, err
		}
	}
	return &Density{compiled: c, data: c.numbersFor(data), params: d.params, loose: d.loose}, nil
}

// isMissing reports whether observation i is.
func (c *compiled) isMissing(i int) bool { return c.missing != nil && c.missing[i] }

// drawMissing draws what is missing into dst given z and what was observed.
func (d *Density) drawMissing(dst, z []float64, rng *rand.Rand) {
	ev := d.evaluate(z)
	defer ev.Release()
	ev.Data = d.Data()
	var path []int // of the chain that the observation is a step of
	for i := range d.m.obs {
		o := &d.m.obs[i]
		if o.hidden != nil && o.step == 0 {
			path = nil
		}
		if !d.missing[i] {
			continue
		}
		if dst[i] = math.NaN(); !ev.holds(o.where) {
			continue
		}
		dist := o.dist()
		if o.hidden != nil {
			if path == nil {
				path = o.hidden.path(ev, d.missing, rng)
			}
			dist = o.hidden.emission[o.step][path[o.step]]
		}
		dst[i] = dist.FromCoordinate(dist.Draw(ev.params(dist), rng))
		ev.Data[i] = dst[i]
	}
}
