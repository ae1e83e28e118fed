package graph

import (
	"math"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
)

// sampleDiscrete makes l, whose coordinate is latent number i, discrete, and returns its value.
func (m *Model) sampleDiscrete(l *latent, prior lang.Dist, i int) (x Expr) {
	k, err := lang.NewDiscrete((*view)(m), prior)
	if err != nil {
		m.fail("latent %s: %v", l.name, err)
		return Expr{}
	}
	l.prior, l.discrete = k.Prior(), k
	m.latents = append(m.latents, *l) // for guards, which have its name
	defer func() { m.latents = m.latents[:i] }()
	guards := make([]Guard, len(k.Cuts))
	var moving []Expr // in place of the cuts
	if m.simulation && !prior.Fixed() {
		moving = prior.CutsOf(k.Values)
	}
	for j := range guards {
		if moving != nil {
			k.Moving = append(k.Moving, m.node(Sub(m.expr(m.st.Leaf(ir.Latent, i)), moving[j])))
		}
		guards[j] = m.guard(m.guards.Beyond(i, j))
	}
	chain := func(value func(j int) Expr) Expr {
		x := value(len(guards))
		for j := len(guards) - 1; j >= 0; j-- {
			x = If(guards[j], x, value(j))
		}
		return x
	}
	x = chain(func(j int) Expr { return m.expr(m.st.Constant(k.Values[j])) })
	m.guards.AddDiscrete(lang.ID(x), i)
	if !m.simulation && !prior.Fixed() {
		mass := chain(func(j int) Expr { return m.logProb("latent "+l.name, prior, lang.Number(k.Values[j])) })
		m.terms = append(m.terms, modelTerm{"prior of " + l.name, l.place, m.node(Add(mass, math.Log(float64(len(k.Values))))), false})
	}
	return x
}

// Equal is the guard a = b, for discrete latents and other values that change by branches
// alone, in some branches at least: Clip(x, 0, 1) and 0. What varies continuously is equal to another value with
// probability 0; where that is so in all branches it is refused.
func Equal[A, B Value](a A, b B) Guard { return equal(lift(a), lift(b)) }

func equal(a, b Expr) Guard {
	m := owner(a, b)
	if t := m.traces(); t != nil {
		return t.guard(func() Guard { t.m.st.Block.Spoil(); return equal(t.ValueOf(a), t.ValueOf(b)) })
	}
	if m != nil {
		switch id := m.node(Sub(a, b)); {
		case !m.guards.Stepped(id):
			return m.isZero(id, a, b)
		case m.st.IsInfinite(id):
			return m.guard(m.guards.EqualNumbers(m.node(a), m.node(b)))
		}
	}
	return Not(Or(greater(a, b), greater(b, a)))
}

// isZero is the guard that id = a − b, which varies continuously in some branches, is 0: in others.
func (m *Model) isZero(id ir.ID, a, b Expr) Guard {
	m.st.Block.Spoil()
	where := m.guards.Where(id, 0)
	if v, ok := m.st.IsConst(where); ok && v == 0 {
		m.fail("Equal: %v = %v holds with probability 0, for one of them varies continuously; compare discrete latents, or use Greater and Less", a, b)
	}
	return Guard{value: m.expr(where)}
}

// Switch is values[k]: the one that a discrete latent chooses, or any other value that changes
// by branches alone and is 0, 1, 2, …. A value that k may have and that has no place in values is
// an error; with If, Min or Max around k, or in an If block that rules it out, there is none.
func Switch[V Value](k Expr, values ...V) Expr {
	return choose(k, Numbers(values...))
}

func choose(k Expr, values []Expr) Expr {
	m := owner(append(values, k)...)
	if t := m.traces(); t != nil {
		return t.expr(func() Expr { t.m.st.Block.Spoil(); return choose(t.ValueOf(k), t.valuesOf(values)) }) // in each row, as its guards are
	}
	if v, ok := k.IsConst(); ok {
		if j := int(v); float64(j) == v && j >= 0 && j < len(values) {
			return values[j]
		}
		if m == nil {
			return lang.Number(math.NaN()) // an error where it is used
		}
		m.fail("Switch: %v of %d values", v, len(values))
		return Expr{}
	}
	m = modelOf(k)
	id := m.node(k)
	if _, i, ok := m.guards.OfDiscrete(id); ok && m.latents[i].value == id {
		all := m.latents[i].discrete.Values
		if last := all[len(all)-1]; all[0] < 0 || last >= float64(len(values)) {
			m.fail("Switch: %s is from %v to %v, and there are %d values, for 0 to %d", m.latents[i].name, all[0], last, len(values), len(values)-1)
			return Expr{}
		}
	} else if !m.guards.Stepped(id) {
		m.fail("Switch: %v varies continuously, and chooses no value; use If", k)
		return Expr{}
	} else if v, found := m.guards.Outside(id, len(values), m.node(m.within.value)); found {
		m.fail("Switch: %v can be %v, and there are %d values, for 0 to %d", k, v, len(values), len(values)-1)
		return Expr{}
	}
	if len(values) == 0 {
		m.fail("Switch without values")
		return Expr{}
	}
	x := values[len(values)-1]
	for j := len(values) - 2; j >= 0; j-- {
		x = If(Greater(k, float64(j)+0.5), x, values[j])
	}
	return x
}

// Values are those of latent i, ascending, if it is discrete, with the cuts of its coordinate
// between them: values[j] is from cuts[j−1], or −∞, up to and with cuts[j], or ∞. For
// continuous latents both are nil.
func (d *Density) Values(i int) (values, cuts []float64) {
	if k := d.made().m.latents[i].discrete; k != nil {
		return slices.Clone(k.Values), slices.Clone(k.Cuts)
	}
	return nil, nil
}
