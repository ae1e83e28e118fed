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
	done := map[ir.ID]ir.ID{}
	var of func(id ir.ID) ir.ID
	of = func(id ir.ID) ir.ID {
		return ir.Remembered(done, id, func() ir.ID {
			switch n := m.st.At(id); n.Kind {
			case ir.Const, ir.Latent, ir.Sign:
				return id
			case ir.Data:
				m.program.Compares(int(n.A))
				value := m.program.Observed(int(n.A)).V
				if math.IsNaN(value) {
					return id
				}
				return m.st.Constant(value)
			case ir.Sum:
				sum := m.st.Constant(n.V)
				for _, t := range n.Terms {
					sum = m.st.Sum(1, sum, t.Coef, of(t.Atom))
				}
				return sum
			default:
				return m.st.Operation(n, of)
			}
		})
	}
	return of(id)
}

// positiveMissing is the guard id > 0 where id depends on what is missing. It is no plane: no term of log r depends on it.
func (m *Maker) positiveMissing(id ir.ID) Guard {
	size := m.st.Unary(kernel.Abs, id)
	none := m.st.Unary(kernel.Is0, m.st.Sum(1, size, 1, id)) // |x| + x is 0 where x ≤ 0
	return Guard{Formula: m.st.Not(none)}
}
