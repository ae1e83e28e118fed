package compare

import (
	"slices"

	"github.com/facetvi/facet/internal/ir"
)

// addToRow adds a comparison to the first row of a block, if there is one; from is nil if it may differ by row in more than numbers.
func (m *Maker) addToRow(from *RowGuard, x Comparison, newPlane bool) {
	switch {
	case m.Row == nil:
	case from == nil || !newPlane || slices.ContainsFunc(from.parts, func(p part) bool { return p.at >= AnyDim }):
		m.st.Block.Spoil()
	default:
		from.Comparison = x
		m.Row.Guards = append(m.Row.Guards, *from)
	}
}

// addZero adds what is 0 on a plane to the first row of a block, if there is one.
func (m *Maker) addZero(plane int, id ir.ID) {
	if m.Row == nil {
		return
	}
	guard := slices.IndexFunc(m.Row.Guards, func(g RowGuard) bool { return g.Side.Plane == plane })
	if guard < 0 {
		m.st.Block.Spoil()
	}
	m.Row.Zeros = append(m.Row.Zeros, Zero{guard, id})
}

// AddInRow adds the comparison that takes the place of one of the first row in row r of its block, with its own plane and the given latents
// in the place of others. It returns false if it has none, or is the other side of it.
func (m *Maker) AddInRow(like *RowGuard, r int, latent func(i int) int) bool {
	var room [4]part
	parts := append(room[:0], like.parts...)
	for k, p := range parts {
		parts[k] = part{latent(p.at), p.x.In(r)}
	}
	x, planes := like.Comparison, m.Arr.Len()
	h, rounding := formOf(parts, like.c.In(r), x.greater.Index)
	side, err := m.Arr.AddRounded(h, rounding)
	if err != nil || m.Arr.Len() == planes || side.Positive != like.Side.Positive {
		return false
	}
	x.Side, x.greater = side, h
	m.Made = append(m.Made, x)
	return true
}
