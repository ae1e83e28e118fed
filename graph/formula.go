package graph

import (
	"errors"
	"math"
	"slices"

	"github.com/facetvi/facet/internal/compare"
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/regions"
)

// Not holds where g does not.
func Not(g Guard) Guard {
	if g.value.m == nil {
		return Guard{value: Expr{v: 1 - g.value.v}}
	}
	if t := g.value.m.traces(); t != nil {
		return t.condition(func() Guard { return Not(t.guardOf(g)) }, g.value)
	}
	return Guard{Expr{m: g.value.m, id: g.value.m.st.Not(g.value.id)}, -g.made}
}

// And holds where all of gs do; without any it is true.
func And(gs ...Guard) Guard {
	all := constantGuard(nil, true)
	for _, g := range gs {
		all = both(all, g)
	}
	return all
}

// Or holds where at least one of gs does; without any it is false.
func Or(gs ...Guard) Guard {
	none := constantGuard(nil, true)
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
		return Guard{value: Expr{v: g.value.v * h.value.v}}
	case t != nil:
		return t.condition(func() Guard { return both(t.guardOf(g), t.guardOf(h)) }, g.value, h.value)
	case !m.owns(g) || !m.owns(h):
		return constantGuard(m, false)
	}
	id := m.st.And(g.value.in(m), h.value.in(m))
	for _, x := range []Guard{g, h} {
		if x.value.m == m && x.value.id == id {
			return x
		}
	}
	return Guard{value: Expr{m: m, id: id}}
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
	case m == nil && g.value.v != 0:
		return a
	case m == nil:
		return b
	case t != nil:
		return t.function(func() Expr { return If(t.guardOf(g), t.valueOf(a), t.valueOf(b)) }, g.value, a, b)
	case !m.owns(g):
		return b
	}
	return Expr{m: m, id: m.st.Sel(g.value.in(m), a.in(m), b.in(m))}
}

// owns reports whether g may be used in m, and fails if not.
func (m *Model) owns(g Guard) bool {
	switch {
	case g.value.m == m:
		return true
	case g.value.traced():
		m.fail("a guard of a plate is used outside its body; give it a name there, and ask Density.Named for its rows")
		return false
	case g.value.m != nil:
		m.fail("a guard of another model is used here")
		return false
	case g.isNaN():
		m.fail("%v", errNaN)
		return false
	}
	return true
}

// isNaN reports whether g depends on a comparison of NaN with a number, without
// a latent.
func (g Guard) isNaN() bool { return g.value.m == nil && math.IsNaN(g.value.v) }

var errNaN = errors.New("a guard compares NaN with a number" + onlyObserved(math.NaN()))

// comparesMissing reports whether g compares an observation that is missing: no latent says whether it holds.
func (g Guard) comparesMissing() bool {
	m := g.value.m
	return m != nil && m.dependent && m.st.DependsOnData(g.value.id)
}

var errMissing = errors.New("a guard compares what is missing, so that latents do not say whether it holds: record If(guard, 1, 0) by Deterministic, and ask Predict")

// Of reports whether the guard belongs to the model of d. Guards that are
// simply true or false belong to every model.
func (g Guard) Of(d *Density) bool { return g.value.m == nil || g.value.m == d.made().from }

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
		if m := g.value.m; m != nil && (e == nil || e.St != m.st) {
			if e != nil {
				e.Release()
			}
			e = m.st.Evaluator(&m.st.Nodes)
			e.Region = s
		}
		if dst[i] = g.value.v > 0; g.value.m != nil {
			dst[i] = e.Value(g.value.id) != 0
		}
	}
	if e != nil {
		e.Release()
	}
	return dst
}

// checkRow panics for the guard of a plate, which is another in each row.
func (g Guard) checkRow() {
	if g.value.traced() {
		panic("graph: a guard of a plate is another one in each row: give it a name, and ask Density.Named")
	}
}

// Side returns the guard as a side of one hyperplane, if it is one comparison
// or the negation of one.
func (g Guard) Side() (side regions.Side, ok bool) {
	if g.value.m == nil {
		return side, false
	}
	return compare.Side(&g.value.m.st.Nodes, g.value.id)
}

// Planes are the numbers of the hyperplanes whose signs say whether the guard
// holds, ascending: one for a comparison, several for And and Or, none for a
// guard that is simply true or false.
func (g Guard) Planes() (planes []int) {
	g.checkRow()
	if g.value.m != nil {
		planes = g.value.m.st.PlanesIn(g.value.id)
	}
	slices.Sort(planes)
	return planes
}
