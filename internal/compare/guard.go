package compare

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/regions"
)

// Greater is the guard x > y for the expressions x and y, whose difference is id. Where id does not show it, the guard says that x and y have values.
func (m *Maker) Greater(x, y, id ir.ID) Guard {
	if values := m.valuesOf(x, y, id); values != nil {
		return m.And(append(values, m.Positive(id))...)
	}
	return m.Positive(id)
}

// Positive is the guard id > 0.
func (m *Maker) Positive(id ir.ID) Guard {
	if v, ok := m.st.IsConst(id); ok {
		return m.constant(v > 0)
	}
	if id = m.Comparable(id); m.program.Depends() && m.st.DependsOnData(id) {
		return m.positiveMissing(id)
	}
	if c, i, ok := m.OfDiscrete(id); ok {
		return m.positiveDiscrete(c, i)
	}
	if _, ok := m.firstBranch(id); ok {
		return m.lifted(id)
	}
	if m.st.Like(id).Affine {
		return m.positiveThere(id)
	}
	g := m.positiveThere(id)
	m.knowZero(g, id)
	return m.And(append(m.domain(id), g)...)
}

// positiveThere is the guard id > 0 where id, which has no branches, has a value.
func (m *Maker) positiveThere(id ir.ID) Guard {
	if v, ok := m.st.IsConst(id); ok {
		return m.constant(v > 0)
	}
	if !m.st.Like(id).Affine {
		return m.positiveCurved(id)
	}
	c := m.st.ExpandColumns(id)
	if len(c.Terms) == 0 || !c.V.Is(ir.IsFinite) {
		return m.constant(c.V.Raw() > 0)
	}
	var parts []part
	for i, t := range c.Terms {
		parts = append(parts, part{int(m.st.At(t.Atom).A), c.Coef(i)})
	}
	return m.halfSpaceOf(parts, c.V)
}

// forms say how a comparison that is not affine is made simpler; the first one that can counts. Where none can it is a curve.
var forms = [...]func(m *Maker, id ir.ID) (claim, bool){
	(*Maker).atom,       // c·f(x) + v: the function's inverse, the signs of factors, or logarithms
	(*Maker).difference, // c·f(x) − d·f(y): x and y, or logarithms
	(*Maker).quotients,  // c + a/b: b and b·Σ
	(*Maker).factors,    // a polynomial of degree two that is a product: its factors
	(*Maker).onLine,     // a function of one latent: its roots
}

// positiveCurved is the guard id > 0 where id is not affine, and has no branches.
func (m *Maker) positiveCurved(id ir.ID) Guard {
	c := m.st.CombinationIn(id, make([]ir.Term, 1))
	if len(c.Terms) == 1 && m.isTransform(c.Terms[0].Atom) {
		return m.positiveTransformed(c)
	}
	m.st.IgnoresColumns(c)
	if to := m.finite(id); to != id {
		return m.Positive(to)
	}
	if to := m.st.SplitLogs(id); to != id {
		return m.positiveThere(to)
	}
	for _, form := range forms {
		if x, ok := form(m, id); ok {
			return m.guard(x)
		}
	}
	return m.ofFeatures(id)
}

// guard is the guard that a claim holds.
func (m *Maker) guard(x claim) Guard {
	switch {
	case x.known != nil:
		return *x.known
	case x.parts == nil:
		return m.positiveThere(m.st.Scale(x.by, x.positive))
	}
	gs := make([]Guard, len(x.parts))
	for k, part := range x.parts {
		gs[k] = m.guard(part)
	}
	if x.any {
		return m.Or(gs...)
	}
	return m.And(gs...)
}

// domain are the guards that hold where id has a value, as far as that is not everywhere.
func (m *Maker) domain(id ir.ID) (gs []Guard) {
	for _, e := range m.edges(id) {
		if m.failed() {
			return nil
		}
		gs = append(gs, m.positiveThere(e.Positive))
		if m.failed() {
			m.program.Explain(fmt.Sprintf("; it is where %s begins to have a value", m.Format(e.Of, 4)))
		}
	}
	return gs
}

// valuesOf are the guards that a and b have values, if a − b, which is id, does not show all that their values depend on:
// √y + 1 > √y is 1 > 0, where √y has a value.
func (m *Maker) valuesOf(a, b, id ir.ID) (gs []Guard) {
	if m.st.Like(a).Affine || m.st.Like(b).Affine {
		return nil
	}
	of := m.st.Limited(b)
	both := slices.DeleteFunc(m.st.Limited(a), func(id ir.ID) bool { return !slices.Contains(of, id) })
	if len(both) == 0 {
		return nil
	}
	for _, w := range m.ways(id) {
		in := m.st.Limited(w.value)
		if slices.ContainsFunc(both, func(id ir.ID) bool { return !slices.Contains(in, id) }) {
			return []Guard{m.hasValue(a), m.hasValue(b)}
		}
	}
	return nil
}

// hasValue is the guard that id has a value.
func (m *Maker) hasValue(id ir.ID) Guard {
	g := m.constant(false)
	for _, w := range m.ways(id) {
		g = m.Or(g, m.And(append(m.domain(w.value), Guard{Formula: w.where})...))
	}
	return g
}

// Beyond is the guard that latent i, which is discrete, is beyond its cut j.
func (m *Maker) Beyond(i, j int) Guard {
	k := m.program.Latent(i).Steps()
	if k.Moving != nil {
		return m.Positive(k.Moving[j])
	}
	cut := k.Cuts[j]
	return m.halfSpace(regions.Hyperplane{Index: []int{i}, Coef: []float64{1}, Const: -cut}, regions.Rounding{}, nil)
}

// positiveDiscrete is the guard coef·k + v > 0 for discrete latent i: k is on one side of a cut.
// Equal, up to rounding, is not positive.
func (m *Maker) positiveDiscrete(c ir.Combination, i int) Guard {
	k, coef := m.program.Latent(i).Steps(), c.Coef(0)
	holds := func(x float64) bool {
		y := coef.V*x + c.V.V
		return y > coef.Err*math.Abs(x)+c.V.Err+0x1p-51*(math.Abs(coef.V*x)+math.Abs(c.V.V))
	}
	rises := coef.V > 0
	j := sort.Search(len(k.Values), func(j int) bool { return holds(k.Values[j]) == rises })
	switch {
	case j == 0 || j == len(k.Values):
		return m.constant((j == 0) == rises)
	case rises:
		return m.Beyond(i, j-1)
	}
	return m.Not(m.Beyond(i, j-1))
}

// lifted is the guard id > 0 where id depends on branches.
func (m *Maker) lifted(id ir.ID) Guard {
	m.st.Block.Spoil()
	if known, ok := m.known.lifts[id]; ok {
		return Guard{Formula: known}
	}
	var guards []Guard
	var where []ir.ID // by guard
	curves := 0
	for _, w := range m.ways(id) {
		g := m.Positive(w.value)
		if m.failed() {
			break
		}
		value := g.Formula
		at := slices.IndexFunc(guards, func(o Guard) bool { return o.Formula == value })
		if at >= 0 {
			where[at] = m.st.Or(where[at], w.where)
			continue
		}
		guards, where = append(guards, g), append(where, w.where)
		if side, ok := Side(&m.st.Nodes, g.Formula); ok && m.Arr.Curve(side.Plane) != nil {
			curves++
		}
		if curves > mostCurves {
			m.tooManyWays(id, fmt.Sprintf("%d curves", mostCurves))
			break
		}
	}
	switch {
	case m.failed():
		return m.constant(false)
	case len(guards) == 1:
		m.known.lifts[id] = guards[0].Formula
		return guards[0]
	}
	for k, at := range where {
		guards[k] = m.Both(Guard{Formula: at}, guards[k])
	}
	either := m.Or(guards...)
	m.known.lifts[id] = either.Formula
	return either
}
