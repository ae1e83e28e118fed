package compare

import (
	"slices"

	"github.com/facetvi/facet/internal/ir"
)

// A comparison does not hold where what it compares has no value: log(x) > y is
// x > 0 and log(x) − y > 0, for log(x) − y has no zero at x = 0 by which it would be
// known that the guard changes there. Beyond the edge the functions in a guard keep the
// value that they have on it, so that rounding decides nothing. On the edge itself Φ need have
// none, as b·log b − a for b = 0: there its sign is that of its limit (see regions.Edge).

// edges say where id has a value, as far as that is not everywhere and no part of its guard says so.
func (m *Maker) edges(id ir.ID) (edges []ir.Edge) {
	edges = m.st.Domain(id)
	if len(edges) == 0 {
		return nil
	}
	implied := m.st.Implied(id)
	return slices.DeleteFunc(edges, func(e ir.Edge) bool {
		return e.Of == implied && !e.Below || m.ofParameters(e.Positive) // which have values where the program begins, and a fit that leaves them is told
	})
}

// ofParameters reports whether a number depends on parameters and on no latent.
func (m *Maker) ofParameters(id ir.ID) bool {
	of := m.LatentsOf(id)
	return len(of) > 0 && slices.Max(of) < m.program.Params()
}

// mostZeros are known on one plane.
const mostZeros = 16

// hasNoEdge reports whether the guard id > 0 changes at zeros of id alone.
func (m *Maker) hasNoEdge(id ir.ID) bool {
	if m.st.Like(id).Affine {
		return true
	}
	if _, infinite := m.st.Pole(id); infinite || m.st.InfiniteInside(id) {
		return false
	}
	edges := m.st.Domain(id)
	return len(edges) == 0 || !slices.ContainsFunc(edges, func(e ir.Edge) bool { return e.Of != m.st.Implied(id) })
}

// knowZero notes that id is 0 on the planes of g, the guard id > 0, if it changes at
// zeros of id alone: so that x² is 1 on x = 1.
func (m *Maker) knowZero(g Guard, id ir.ID) {
	s := m.st
	if m.failed() {
		return
	}
	planes, few := s.PlanesOf(g.Formula)
	if !few || !m.hasNoEdge(id) {
		return
	}
	for _, l := range planes {
		known := s.Zeros.On(l)
		if m.Arr.Curve(l) != nil || len(known) >= mostZeros || slices.Contains(known, id) {
			continue
		}
		s.Own()
		s.Zeros.Add(l, id)
		m.addZero(l, id)
	}
}
