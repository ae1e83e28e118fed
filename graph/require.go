package graph

import (
	"math"
)

// Require conditions on g: where it does not hold the density is 0, and log r −∞. Inside an If block it must hold on
// that side. The posterior is that of Observe("", Bernoulli(If(g, 1, 0)), 1); besides, a density lists what is required, with
// its place: Density.Engine has them.
func (m *Model) Require(g Guard) {
	if m.outsidePlates("Require") && m.owns(g) && m.noConditions("Require", "draw other noise") {
		m.require(g)
	}
}

func (m *Model) require(g Guard) {
	holds := Or(Not(m.within), g)
	if always, known := holds.value.IsConst(); known {
		if always == 0 {
			m.fail("a condition is required that never holds")
		}
		return
	}
	m.required = append(m.required, requirement{holds, m.here()})
	id := m.st.Sel(m.node(holds.value), m.st.Constant(0), m.st.Constant(math.Inf(-1)))
	m.terms = append(m.terms, modelTerm{"requirement", m.here(), id, false})
}
