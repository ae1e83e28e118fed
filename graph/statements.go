package graph

import (
	"fmt"
	"math"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
)

// Sample adds a latent with the given prior and returns its value. Latents
// with support (0, ∞) or an interval are transformed from an unconstrained
// coordinate (exp, logistic, those of Truncated by Φ or a ramp), and the log-Jacobian of the transform is counted. One with a
// prior of whole numbers is discrete: its value is a number like any other, to compare
// (Equal, Less, Greater), to compute with, and to choose by (Switch). Counts are
// taken from the first one whose probability is not 0 in float64 to where 1e-12 of the prior is left; where these are more than 4096, or cannot be
// known from the priors of the latents in its parameters, it needs Truncated.
//
// A latent sampled inside an If block exists on both sides of the branch, and
// so does its prior. The posterior of everything else is unchanged by that: on
// the side where the program does not use the latent, the prior is the only
// term that mentions it and integrates to one, whatever its parameters.
func (m *Model) Sample(name string, prior Dist) Expr {
	if !m.outsidePlates("Sample") {
		return Expr{}
	}
	of := prior.of
	coord := m.st.Leaf(ir.Latent, len(m.latents))
	l := latent{name: name, prior: of, value: coord, place: m.here()}
	m.takeName(aLatent, name)
	term := m.st.Constant(0)
	switch {
	case !m.checkDist(of, "latent "+name, Guard{}):
	case m.simulation:
		l.value = m.node(m.sampleNoise(&l, of, len(m.latents)))
	case of.Support().Whole():
		l.value = m.node(m.sampleDiscrete(&l, of, len(m.latents)))
		term = m.node(m.logProb("latent "+name, l.prior, m.expr(coord)))
	case of.NoPrior() != "":
		m.fail("latent %q: %s", name, of.NoPrior())
	default:
		s, u := of.Support(), m.expr(coord)
		x := s.Forward(u)
		l.value = lang.ID(x)
		term = m.node(Add(m.logProb("latent "+name, of, x), s.LogJac(u)))
	}
	if m.err == nil {
		l.support = l.prior.Support()
	}
	m.latents = append(m.latents, l)
	m.terms = append(m.terms, modelTerm{priorOf(name), l.place, term, true})
	return m.expr(l.value)
}

// Observe conditions on x having been drawn from d. Observations that share a
// name form a vector, in the order of the calls; Density.WithData replaces them
// by name. Inside an If block the observation counts only on its side.
//
// A NaN is a missing observation: log r is that of the program without it, and Density.Replicate draws it given what was observed.
func (m *Model) Observe(name string, d Dist, x float64) {
	if !m.outsidePlates("Observe") || !m.noConditions("Observe", "sample instead, and put what an outcome costs into the objective") {
		return
	}
	o := observation{observed: &observed{name: name, as: d.of, where: m.within, place: m.here()}, value: x}
	m.takeName(anObservation, name)
	what := observationOf(name)
	if !m.checkDist(d.of, what, m.within) {
		return
	}
	if err := d.of.Check(x); err != nil {
		m.fail("observation %q: %v", name, err)
		return
	}
	data := m.expr(m.st.Leaf(ir.Data, len(m.obs)))
	m.obs = append(m.obs, o)
	m.addTerm(what, m.logProb(what, d.of, data), o.place)
}

// Factor adds logp, an expression or a number (see Value), to the log density;
// inside an If block on its side only. There −Inf is Require that the block is not entered.
func (m *Model) Factor(logp any) {
	if m.outsidePlates("Factor") && m.noConditions("Factor", "give the objective to CompileObjective, or to expect.Of") {
		x := m.value("Factor", logp)
		if _, outside := m.within.value.IsConst(); !outside && lang.Of(x) == nil && math.IsInf(lang.Plain(x), -1) {
			m.require(constantGuard(false))
			return
		}
		m.addTerm(factorTerm, x, m.here())
	}
}

// If runs both closures: what then observes or adds counts where g holds, what
// otherwise does, where it does not. A nil closure does nothing.
func (m *Model) If(g Guard, then, otherwise func()) {
	if !m.outsidePlates("If") || !m.owns(g) {
		return
	}
	outside := m.within
	for _, side := range []struct {
		g   Guard
		run func()
	}{{g, then}, {Not(g), otherwise}} {
		if side.run == nil {
			continue
		}
		func() {
			defer func() { m.within = outside }() // also after a panic that the program recovers from
			m.within = both(outside, side.g)
			side.run()
		}()
	}
}

// Plate adds n rows of what body says; see the type. It runs body once.
func (m *Model) Plate(n int, body func(p *Plate)) {
	if !m.outsidePlates("Plate") {
		return
	}
	t := newTape(m)
	rows := t.plate(nil, n, body)
	t.writeOut(rows)
}

// Plate is a plate in each row of p: n rows for each, so that its data are those
// of row 0 of p, then those of row 1, and so on.
func (p *Plate) Plate(n int, body func(q *Plate)) {
	if p.isOpen("Plate") {
		rows := p.t.plate(p, n, body)
		p.t.do(func() { p.t.m.st.Block.Spoil(); rows() })
	}
}

// Data is the number in each row: xs[i] in row i. It must have as many as there are
// rows. Data may be called in the bodies of plates inside p, too.
func (p *Plate) Data(xs []float64) Expr {
	if !p.hasRows("Data", len(xs)) {
		return Expr{}
	}
	return p.t.expr(func() Expr { return lang.InRow(xs[p.at()], p.t.input(p, xs)) })
}

// Index is one of values in each row: values[at[i]] in row i. values are outside the
// plate, as latents and what Collect gives are: the effect of each group, and the
// group of each row. Index may be called in the bodies of plates inside p, too.
func (p *Plate) Index(values []Expr, at []int) Expr {
	if !p.hasRows("Index", len(at)) {
		return Expr{}
	}
	for i, k := range at {
		if k < 0 || k >= len(values) {
			p.t.m.fail("Index: row %d has the index %d into %d values", i, k, len(values))
			return Expr{}
		}
	}
	return p.t.expr(func() Expr {
		p.t.indexes(p, values, at)
		return values[at[p.at()]]
	})
}

// Collect appends the value of x in each row to dst, for use outside the plate and
// by Index in another one. dst is filled when the plate that Model.Plate made is
// complete.
func (p *Plate) Collect(dst *[]Expr, x Expr) {
	if dst == nil {
		p.t.m.fail("Collect: a nil pointer to a slice")
	}
	if p.isOpen("Collect") && dst != nil {
		p.t.do(func() {
			x := p.t.ValueOf(x)
			if b := p.t.m.block; b != nil {
				b.Spoilt = b.Spoilt || lang.Column(x) != nil
				x = lang.WithoutColumn(x) // the block ends before dst is used
				b.collected = append(b.collected, collected{dst, x})
			}
			*dst = append(*dst, x)
		})
	}
}

// Sample is Model.Sample in each row: n latents name[0], name[1], …, or name[0,0],
// name[0,1], … in a plate in a plate.
func (p *Plate) Sample(name string, prior Dist) Expr {
	switch wrong := checkName(aLatent, name); {
	case !p.isOpen("Sample"):
		return Expr{}
	case wrong != "":
		p.t.m.fail("%s", wrong)
		return Expr{}
	}
	return p.t.expr(func() Expr {
		return p.t.m.Sample(p.latentName(name, p.row), Dist{p.t.dist(prior.of)})
	})
}

// Observe is Model.Observe in each row, of xs[i] in row i.
func (p *Plate) Observe(name string, d Dist, xs []float64) {
	if p.isOpen("Observe") && p.hasRows(fmt.Sprintf("observation %q", name), len(xs)) {
		p.t.do(func() {
			if b := p.t.m.block; b != nil {
				b.data = append(b.data, p.t.input(p, xs))
			}
			p.t.m.Observe(name, Dist{p.t.dist(d.of)}, xs[p.at()])
		})
	}
}

// Factor is Model.Factor in each row.
func (p *Plate) Factor(logp any) {
	if p.isOpen("Factor") {
		x := p.t.m.value("Factor", logp)
		p.t.do(func() { p.t.m.Factor(p.t.ValueOf(x)) })
	}
}

// If is Model.If in each row. It runs both closures once; they use p.
func (p *Plate) If(g Guard, then, otherwise func()) {
	if !p.isOpen("If") {
		return
	}
	a, b := p.t.block(then), p.t.block(otherwise)
	p.t.do(func() { p.t.m.If(p.t.guardOf(g), a, b) })
}

// Deterministic is Model.Deterministic in each row.
func (p *Plate) Deterministic(name string, v any) Expr {
	if !p.isOpen("Deterministic") {
		return Expr{}
	}
	x := p.t.m.value("Deterministic", v)
	p.t.do(func() { p.t.m.Deterministic(name, p.t.ValueOf(x)) })
	return x
}

// Name is Model.Name in each row.
func (p *Plate) Name(name string, g Guard) Guard {
	if !p.isOpen("Name") {
		return g
	}
	return p.t.guard(func() Guard { return p.t.m.Name(name, p.t.guardOf(g)) })
}
