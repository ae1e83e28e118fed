package graph

import (
	"fmt"
	"iter"
	"math"

	"github.com/facetvi/facet/internal/compare"
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// A Guard is the condition of an If: a comparison between expressions of the
// latents, or And, Or, Not of guards. Make one with Greater or Less. The zero Guard
// is false.
type Guard struct {
	value Expr // a formula: 1 where the guard holds, else 0
	made  int  // 1 + the number of the comparison that it is, negative for its negation; 0 for none
}

func constantGuard(m *Model, holds bool) Guard {
	v := 0.0
	if holds {
		v = 1
	}
	if m == nil {
		return Guard{value: Expr{v: v}}
	}
	return Guard{value: Expr{m: m, id: m.st.Constant(v)}}
}

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
		x, y := a.rounded().Raw(), b.rounded().Raw()
		if math.IsNaN(x) || math.IsNaN(y) {
			return Guard{value: Expr{v: math.NaN()}} // an error where it is used
		}
		return constantGuard(nil, x > y)
	case t != nil:
		return t.guard(func() Guard { return greater(t.valueOf(a), t.valueOf(b)) }) // in each row, even one that is the same in all, as a loop does
	}
	x, y := a, b
	if m.dependent {
		x, y = Expr{m: m, id: m.guards.Comparable(a.in(m))}, Expr{m: m, id: m.guards.Comparable(b.in(m))}
	}
	id := Sub(x, y).in(m)
	if v, ok := m.st.IsConst(id); ok && math.IsNaN(v) {
		m.fail("%v", errNaN)
	}
	if x.m != nil && y.m != nil {
		return m.guard(m.guards.Greater(x.id, y.id, id))
	}
	return m.guard(m.guards.Positive(id))
}

// guard is g in the language.
func (m *Model) guard(g compare.Guard) Guard { return Guard{Expr{m: m, id: g.Formula}, g.Made} }

// where is the formula of g, −1 where it is simply true.
func (g Guard) where() ir.ID {
	if g.value.m == nil {
		return -1
	}
	return g.value.id
}

// A comparing is a model as package compare sees it.
type comparing Model

func (m *comparing) Dim() int                     { return len(m.latents) }
func (m *comparing) Params() int                  { return m.params }
func (m *comparing) Latent(i int) compare.Latent  { return &m.latents[i] }
func (m *comparing) Compares(i int)               { m.obs[i].compared = true }
func (m *comparing) Depends() bool                { return m.dependent }
func (m *comparing) Place() fmt.Stringer          { return (*Model)(m).here() }
func (m *comparing) Fail(format string, a ...any) { (*Model)(m).fail(format, a...) }
func (m *comparing) Err() error                   { return m.err }
func (m *comparing) Explain(why string)           { m.err = fmt.Errorf("%w%s", m.err, why) }

func (m *comparing) Observed(i int) (name string, value float64) {
	return m.obs[i].name, m.obs[i].value
}

func (m *comparing) Components() iter.Seq[compare.Component] {
	return func(yield func(compare.Component) bool) {
		for name, x := range (*Model)(m).components() {
			c := compare.Component{Name: name, U: -1, Value: func(u float64) float64 { return x.support.value(x.support, u) }}
			if x.u.m != nil { // it is not, if it was recorded after an error
				c.U = x.u.id
			}
			if !yield(c) {
				return
			}
		}
	}
}

func (l *latent) Name() string                { return l.name }
func (l *latent) Value() ir.ID                { return l.value }
func (l *latent) Transform() kernel.Function  { return l.support.fn }
func (l *latent) Constrain(u float64) float64 { return l.support.value(l.support, u) }

func (l *latent) Steps() *compare.Steps {
	if l.discrete == nil {
		return nil
	}
	return &l.discrete.Steps
}
