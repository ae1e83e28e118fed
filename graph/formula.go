package graph

import (
	"errors"
	"slices"

	"github.com/facetvi/facet/internal/compare"
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
	"github.com/facetvi/facet/regions"
)

// Not holds where g does not.
func Not(g Guard) Guard {
	if lang.Of(g.value) == nil {
		return Guard{value: lang.Number(1 - lang.Plain(g.value))}
	}
	m := modelOf(g.value)
	if t := m.traces(); t != nil {
		return t.condition(func() Guard { return Not(t.guardOf(g)) }, g.value)
	}
	return m.guard(m.guards.Not(m.comparison(g)))
}

// And holds where all of gs do; without any it is true.
func And(gs ...Guard) Guard {
	all := constantGuard(true)
	for _, g := range gs {
		all = both(all, g)
	}
	return all
}

// Or holds where at least one of gs does; without any it is false.
func Or(gs ...Guard) Guard {
	none := constantGuard(true)
	for _, g := range gs {
		none = both(none, Not(g))
	}
	return Not(none)
}

// both holds where g and h do.
func both(g, h Guard) Guard {
	m := owner(g.value, h.value)
	t := m.traces()
	switch {
	case m == nil:
		return Guard{value: lang.Number(lang.Plain(g.value) * lang.Plain(h.value))}
	case t != nil:
		return t.condition(func() Guard { return both(t.guardOf(g), t.guardOf(h)) }, g.value, h.value)
	case !m.owns(g) || !m.owns(h):
		return Guard{value: m.expr(m.st.Constant(0))} // false, and of this model
	}
	return m.guard(m.guards.Both(m.comparison(g), m.comparison(h)))
}

// If is then where g holds, and otherwise where it does not. The side that is
// not taken reaches neither the value nor the gradient, not even as NaN.
func If[A, B Value](g Guard, then A, otherwise B) Expr {
	a, b := lift(then), lift(otherwise)
	m := owner(g.value, a, b)
	t := m.traces()
	switch {
	case m == nil && g.isNaN():
		return g.value // an error where it is used
	case m == nil && lang.Plain(g.value) != 0:
		return a
	case m == nil:
		return b
	case t != nil:
		return t.Function(func() Expr { return If(t.guardOf(g), t.ValueOf(a), t.ValueOf(b)) }, g.value, a, b)
	case !m.owns(g):
		return b
	}
	return m.expr(m.st.Sel(m.node(g.value), m.node(a), m.node(b)))
}

// owns reports whether g may be used in m, and fails if not.
func (m *Model) owns(g Guard) bool {
	switch {
	case modelOf(g.value) == m:
		return true
	case lang.Traced(g.value):
		m.fail("a guard of a plate is used outside its body; give it a name there, and ask Density.Named for its rows")
		return false
	case lang.Of(g.value) != nil:
		m.fail("a guard of another model is used here")
		return false
	case g.isNaN():
		m.fail("%v", errNaN)
		return false
	}
	return true
}

var errMissing = errors.New("a guard compares what is missing, so that latents do not say whether it holds: record If(guard, 1, 0) by Deterministic, and ask Predict")

// Of reports whether the guard belongs to the model of d. Guards that are
// simply true or false belong to every model.
func (g Guard) Of(d *Density) bool {
	return lang.Of(g.value) == nil || modelOf(g.value) == d.made().from
}

// Holds evaluates the guard in region s of the density of its model. It panics
// if s has no sign for one of the guard's hyperplanes: see ArrangementWith for
// guards that were made after the model was compiled.
func (g Guard) Holds(s regions.Signs) bool {
	var holds [1]bool
	return Holding(holds[:], []Guard{g}, s)[0]
}

// Holding says of each guard whether it holds in region s, as Holds does. Guards
// that share parts, as the states of a chain do, are evaluated together, in time
// that is linear in the number of parts. Holding allocates if dst is nil, and
// otherwise panics unless len(dst) is len(guards).
func Holding(dst []bool, guards []Guard, s regions.Signs) []bool {
	dst = sized(dst, len(guards), "guards")
	var e *ir.Evaluator
	for i, g := range guards {
		g.checkRow()
		if m := modelOf(g.value); m != nil && (e == nil || e.St != m.st) {
			if e != nil {
				e.Release()
			}
			e = m.st.Evaluator(&m.st.Nodes)
			e.Region = s
		}
		if dst[i] = lang.Plain(g.value) > 0; lang.Of(g.value) != nil {
			dst[i] = e.Value(lang.ID(g.value)) != 0
		}
	}
	if e != nil {
		e.Release()
	}
	return dst
}

// checkRow panics for the guard of a plate, which is another in each row.
func (g Guard) checkRow() {
	if lang.Traced(g.value) {
		panic("graph: a guard of a plate is another one in each row: give it a name, and ask Density.Named")
	}
}

// Side returns the guard as a side of one hyperplane, if it is one comparison
// or the negation of one.
func (g Guard) Side() (side regions.Side, ok bool) {
	if lang.Of(g.value) == nil {
		return side, false
	}
	return compare.Side(&modelOf(g.value).st.Nodes, lang.ID(g.value))
}

// Planes are the numbers of the hyperplanes whose signs say whether the guard
// holds, ascending: one for a comparison, several for And and Or, none for a
// guard that is simply true or false.
func (g Guard) Planes() (planes []int) {
	g.checkRow()
	if lang.Of(g.value) != nil {
		planes = modelOf(g.value).st.PlanesIn(lang.ID(g.value))
	}
	slices.Sort(planes)
	return planes
}
