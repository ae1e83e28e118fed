package compare

import (
	"github.com/facetvi/facet/internal/ir"
)

// Kinked is the larger of x and y, or the least. Of branches it is the branches'.
func (m *Maker) Kinked(x, y ir.ID, least bool) ir.ID {
	m.st.Block.Spoil()
	key := kinkedPair{x, y, least}
	if id, known := m.known.kinks[key]; known {
		return id
	}
	if len(m.known.kinks) == mostWays {
		m.program.Fail("%s and %s depend on so many branches that the larger one becomes more than %d", m.Format(x, 4), m.Format(y, 4), mostWays)
		return x
	}
	m.known.kinks[key] = x // counted
	m.known.kinks[key] = m.newKinked(x, y, least)
	return m.known.kinks[key]
}

func (m *Maker) newKinked(x, y ir.ID, least bool) ir.ID {
	s := m.st
	diff := s.Sum(1, x, -1, y)
	cond, branches := m.firstBranch(diff)
	if !branches {
		g := m.Positive(diff)
		larger, smaller := x, y
		if least {
			larger, smaller = y, x
		}
		if side, ok := Side(&s.Nodes, g.Formula); ok && m.hasNoEdge(diff) {
			s.KnowEqual(side.Plane, x, y)
		}
		return s.Sel(g.Formula, larger, smaller)
	}
	on, off := ir.NewForcer(s, cond, true), ir.NewForcer(s, cond, false)
	x1, x0, y1, y0 := on.Rewrite(x), off.Rewrite(x), on.Rewrite(y), off.Rewrite(y)
	then, otherwise := m.Kinked(x1, y1, least), m.Kinked(x0, y0, least)
	if n := s.At(cond); n.Kind == ir.Sign {
		at := m.Algebra(m.Arr, 0)
		if l := int(n.A); at.Agree(l, x1, x0) && at.Agree(l, y1, y0) {
			s.KnowEqual(l, then, otherwise)
		}
	}
	return s.Sel(cond, then, otherwise)
}
