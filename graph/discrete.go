package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/facetvi/facet/internal/compare"
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/truncnorm"
)

// A discrete latent is a switch: its coordinate is standard normal a priori, and the interval
// between two of its cuts that it is in is the latent's value,
//
//	k = values_j  where  cuts_j−1 < u ≤ cuts_j.
//
// So all that knows guards knows discrete latents: their values are branches, and what
// log r is at one value less what it is at the value before is the jump at a cut. Cuts are
// such that the values have their prior probabilities, where these are numbers. If
// they depend on latents all intervals have the same probability, and log r has a term that
// makes up for it.
type discrete struct {
	dist Dist // the prior, with its own parameters
	compare.Steps
}

const (
	lostTail   = 1e-12 // the prior probability of counts that are left out
	mostValues = 1 << 12
	mostLooked = 1 << 13 // the first of which may have no probability that is a number
)

// newDiscrete returns the values and cuts of a latent with prior d.
func (m *Model) newDiscrete(d Dist) (*discrete, error) {
	s, fixed := d.support(), onlyNumbers(d.params)
	k := &discrete{dist: d}
	if math.IsInf(s.hi, 1) && !fixed {
		if s.hi = m.lastOf(d); s.hi-s.lo >= mostValues {
			return nil, fmt.Errorf("%s: with these latents as parameters 1e-12 of the prior may lie beyond any of the first %d values, "+
				"and a discrete latent needs a last one: write Truncated(%s(…), %v, n) with the largest n that matters, or parameters "+
				"whose own priors have numbers as parameters and lighter tails", d.law.name, mostValues, d.law.name, s.lo)
		}
	}
	var below []float64 // the prior probability of all values below, and
	var above []float64 // of that value and all above
	total := 0.0
	for x := s.lo; x <= s.hi; x++ {
		if len(k.Values) == mostValues || x-s.lo > mostLooked {
			return nil, fmt.Errorf("%s has values that matter beyond the first %d, too many to sum over: count in other units, or take a real latent", d.law.name, mostValues)
		}
		p := math.NaN()
		if fixed {
			p = math.Exp(d.logProb(Expr{v: x}).constValue())
			if p == 0 {
				continue
			}
		}
		k.Values, below, above = append(k.Values, x), append(below, total), append(above, p)
		total += p
		if math.IsInf(s.hi, 1) && 1-total < lostTail {
			break
		}
	}
	n := len(k.Values)
	if !fixed {
		for j := range n {
			below[j], above[j] = float64(j)/float64(n), float64(n-j)/float64(n)
		}
	} else {
		for j := n - 2; j >= 0; j-- {
			above[j] += above[j+1]
		}
	}
	for j := 1; j < n; j++ {
		// the smaller of both probabilities is the one that is exact
		cut := truncnorm.Quantile(below[j]/(below[j]+above[j]), math.Inf(-1), math.Inf(1))
		if above[j] < below[j] {
			cut = -truncnorm.Quantile(above[j]/(below[j]+above[j]), math.Inf(-1), math.Inf(1))
		}
		k.Cuts = append(k.Cuts, cut)
	}
	return k, nil
}

// prior is the distribution of the coordinate.
func (k *discrete) prior() Dist {
	f := *normal
	f.name = k.dist.law.name
	f.support = reals
	f.support.value = func(_ support, u float64) float64 { return k.Values[k.At(u)] }
	f.support.inverse = func(_ support, x float64) float64 {
		j, found := slices.BinarySearch(k.Values, x)
		if !found {
			return math.NaN()
		}
		return k.Within(j, 0.5)
	}
	return Dist{law: &f, params: []Expr{{}, {v: 1}}}
}

// draw is a coordinate, given the prior's parameters.
func (k *discrete) draw(p []float64, rng *rand.Rand) float64 {
	x := k.dist.draw(p, rng)
	if math.IsNaN(x) {
		return x
	}
	j, _ := slices.BinarySearch(k.Values, x)
	return k.Within(min(j, len(k.Values)-1), unitRand(rng))
}

// sampleDiscrete makes l, whose coordinate is latent number i, discrete, and returns its value.
func (m *Model) sampleDiscrete(l *latent, prior Dist, i int) (x Expr) {
	k, err := m.newDiscrete(prior)
	if err != nil {
		m.fail("latent %s: %v", l.name, err)
		return Expr{}
	}
	l.prior, l.discrete = k.prior(), k
	m.latents = append(m.latents, *l) // for guards, which have its name
	defer func() { m.latents = m.latents[:i] }()
	guards := make([]Guard, len(k.Cuts))
	var moving []Expr // in place of the cuts
	if m.simulation && !onlyNumbers(prior.params) {
		moving = prior.cutsOf(k.Values)
	}
	for j := range guards {
		if moving != nil {
			k.Moving = append(k.Moving, Sub(Expr{m: m, id: m.st.Leaf(ir.Latent, i)}, moving[j]).in(m))
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
	x = chain(func(j int) Expr { return Expr{m: m, id: m.st.Constant(k.Values[j])} })
	m.guards.AddDiscrete(x.id, i)
	if !m.simulation && !onlyNumbers(prior.params) {
		mass := chain(func(j int) Expr { return m.logProb("latent "+l.name, prior, Expr{v: k.Values[j]}) })
		m.terms = append(m.terms, modelTerm{"prior of " + l.name, l.place, Add(mass, math.Log(float64(len(k.Values)))).in(m), false})
	}
	return x
}

// onlyNumbers reports whether no parameter depends on latents.
func onlyNumbers(params []Expr) bool {
	return !slices.ContainsFunc(params, func(p Expr) bool { _, ok := p.IsConst(); return !ok })
}

// Equal is the guard a = b, for discrete latents and other values that change by branches
// alone, in some branches at least: Clip(x, 0, 1) and 0. What varies continuously is equal to another value with
// probability 0; where that is so in all branches it is refused.
func Equal[A, B Value](a A, b B) Guard { return equal(lift(a), lift(b)) }

func equal(a, b Expr) Guard {
	m := owner(a, b)
	if t := m.traces(); t != nil {
		return t.guard(func() Guard { t.m.st.Rec.Spoil(); return equal(t.valueOf(a), t.valueOf(b)) })
	}
	if m != nil {
		switch id := Sub(a, b).in(m); {
		case !m.guards.Stepped(id):
			return m.isZero(id, a, b)
		case m.st.IsInfinite(id):
			return m.guard(m.guards.EqualNumbers(a.in(m), b.in(m)))
		}
	}
	return Not(Or(greater(a, b), greater(b, a)))
}

// isZero is the guard that id = a − b, which varies continuously in some branches, is 0: in others.
func (m *Model) isZero(id ir.ID, a, b Expr) Guard {
	m.st.Rec.Spoil()
	where := m.guards.Where(id, 0)
	if v, ok := m.st.IsConst(where); ok && v == 0 {
		m.fail("Equal: %v = %v holds with probability 0, for one of them varies continuously; compare discrete latents, or use Greater and Less", a, b)
	}
	return Guard{value: Expr{m: m, id: where}}
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
		return t.expr(func() Expr { t.m.st.Rec.Spoil(); return choose(t.valueOf(k), t.valuesOf(values)) }) // in each row, as its guards are
	}
	if v, ok := k.IsConst(); ok {
		if j := int(v); float64(j) == v && j >= 0 && j < len(values) {
			return values[j]
		}
		if m == nil {
			return Expr{v: math.NaN()} // an error where it is used
		}
		m.fail("Switch: %v of %d values", v, len(values))
		return Expr{}
	}
	id := k.in(k.m)
	if _, i, ok := k.m.guards.OfDiscrete(id); ok && k.m.latents[i].value == id {
		all := k.m.latents[i].discrete.Values
		if last := all[len(all)-1]; all[0] < 0 || last >= float64(len(values)) {
			k.m.fail("Switch: %s is from %v to %v, and there are %d values, for 0 to %d", k.m.latents[i].name, all[0], last, len(values), len(values)-1)
			return Expr{}
		}
	} else if !k.m.guards.Stepped(id) {
		k.m.fail("Switch: %v varies continuously, and chooses no value; use If", k)
		return Expr{}
	} else if v, found := k.m.guards.Outside(id, len(values), k.m.within.value.in(k.m)); found {
		k.m.fail("Switch: %v can be %v, and there are %d values, for 0 to %d", k, v, len(values), len(values)-1)
		return Expr{}
	}
	if len(values) == 0 {
		k.m.fail("Switch without values")
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
