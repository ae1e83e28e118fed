package compare

import (
	"math"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// Comparable is id with numbers in place of what was observed, which so gets into guards. What is missing stays.
func (m *Maker) Comparable(id ir.ID) ir.ID {
	if !m.program.Depends() || !m.st.DependsOnData(id) {
		return id
	}
	return ir.NewRewriter(m.st, ir.Substitution{Data: func(i int) (x ir.ID, known bool) {
		m.program.Compares(i)
		value := m.program.Observed(i).V
		if math.IsNaN(value) {
			return x, false
		}
		return m.st.Constant(value), true
	}}).Rewrite(id)
}

// positiveMissing is the guard id > 0 where id depends on what is missing. It is no plane: no term of log r depends on it.
func (m *Maker) positiveMissing(id ir.ID) Guard {
	size := m.st.Unary(kernel.Abs, id)
	none := m.st.Unary(kernel.Is0, m.st.Sum(1, size, 1, id)) // |x| + x is 0 where x ≤ 0
	return Guard{Formula: m.st.Not(none)}
}
