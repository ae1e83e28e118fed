package compare

import (
	"fmt"
	"slices"

	"github.com/facetvi/facet/internal/ir"
)

// A comparison does not hold where what it compares has no value: log(x) > y is
// x > 0 and log(x) − y > 0, for log(x) − y has no zero at x = 0 by which it would be
// known that the guard changes there. Beyond the edge the functions in a guard keep the
// value that they have on it, so that rounding decides nothing. On the edge itself Φ need have
// none, as b·log b − a for b = 0: there its sign is that of its limit (see regions.Edge).

// domain are the guards that hold where id has a value, as far as that is not everywhere.
func (m *Maker) domain(id ir.ID) (gs []Guard) {
	edges := m.st.Domain(id)
	if len(edges) == 0 {
		return nil
	}
	implied := m.st.Implied(id)
	for _, d := range edges {
		switch {
		case m.failed():
			return nil
		case d.Of == implied && !d.Below:
			continue
		case m.ofParameters(d.Positive): // which have values where the program begins, and a fit that leaves them is told
			continue
		}
		gs = append(gs, m.positiveThere(d.Positive))
		if m.failed() {
			m.program.Explain(fmt.Sprintf("; it is where %s begins to have a value", m.Format(d.Of, 4)))
		}
	}
	return gs
}

// ofParameters reports whether a number depends on parameters and on no latent.
func (m *Maker) ofParameters(id ir.ID) bool {
	of := m.LatentsOf(id)
	return len(of) > 0 && slices.Max(of) < m.program.Params()
}
