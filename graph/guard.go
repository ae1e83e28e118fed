package graph

import (
	"errors"
	"math"

	"github.com/facetvi/facet/internal/compare"
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
)

// A Guard is the condition of an If: a comparison between expressions of the
// latents, or And, Or, Not of guards. Make one with Greater or Less. The zero Guard
// is false.
type Guard struct {
	value Expr // a formula: 1 where the guard holds, else 0
	made  int  // 1 + the number of the comparison that it is, negative for its negation; 0 for none
}

// constantGuard is simply true or false.
func constantGuard(holds bool) Guard { return Guard{value: lang.Number(ir.Indicator(holds))} }

// Greater is the guard a > b, as Go compares float64s: false where the two are equal, and where one of them has no
// value, as log(x) for x < 0, so that Not of it holds there. Infinite values, as 1/k for a discrete latent k = 0, are compared
// as such.
//
// Each side may be any expression of the latents, with branches too. Comparisons of one latent with a
// number, of products of positive latents and the like become affine ones on the
// unconstrained coordinates. Where a − b stays curved, there must be a latent for which a − b = 0 can be solved, given
// all others (see regions.Curve); otherwise it is an error. A
// comparison that does not depend on a latent is simply true or false.
func Greater[A, B Value](a A, b B) Guard { return greater(lift(a), lift(b)) }

// Less is the guard a < b, false where they are equal; see Greater.
func Less[A, B Value](a A, b B) Guard { return greater(lift(b), lift(a)) }

func greater(a, b Expr) Guard {
	m := owner(a, b)
	t := m.traces()
	switch {
	case m == nil:
		x, _ := a.IsConst()
		y, _ := b.IsConst()
		if math.IsNaN(x) || math.IsNaN(y) {
			return Guard{value: lang.Number(math.NaN())} // an error where it is used
		}
		return constantGuard(x > y)
	case t != nil:
		return t.guard(func() Guard { return greater(t.ValueOf(a), t.ValueOf(b)) }) // in each row, even one that is the same in all, as a loop does
	}
	x, y := a, b
	if m.dependent {
		x, y = m.expr(m.guards.Comparable(m.node(a))), m.expr(m.guards.Comparable(m.node(b)))
	}
	id := m.node(Sub(x, y))
	if v, ok := m.st.IsConst(id); ok && math.IsNaN(v) {
		m.fail("%v", errNaN)
	}
	if lang.Of(x) != nil && lang.Of(y) != nil {
		return m.guard(m.guards.Greater(lang.ID(x), lang.ID(y), id))
	}
	return m.guard(m.guards.Positive(id))
}

// guard is g in the language, and comparison the other way round.
func (m *Model) guard(g compare.Guard) Guard { return Guard{m.expr(g.Formula), g.Made} }
func (m *Model) comparison(g Guard) compare.Guard {
	return compare.Guard{Formula: m.node(g.value), Made: g.made}
}

// where is the formula of g, −1 where it is simply true.
func (g Guard) where() ir.ID {
	if lang.Of(g.value) == nil {
		return -1
	}
	return lang.ID(g.value)
}

var errNaN = errors.New("a guard compares NaN with a number" + lang.OnlyObserved(math.NaN()))

// isNaN reports whether g depends on a comparison of NaN with a number, without
// a latent.
func (g Guard) isNaN() bool { return lang.Of(g.value) == nil && math.IsNaN(lang.Plain(g.value)) }

// comparesMissing reports whether g compares an observation that is missing: no latent says whether it holds.
func (g Guard) comparesMissing() bool {
	m := modelOf(g.value)
	return m != nil && m.dependent && m.st.DependsOnData(lang.ID(g.value))
}
