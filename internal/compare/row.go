package compare

import (
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/regions"
)

// newRecorded is a comparison of the sum of parts and c with 0; nil if it may differ by row in more than numbers.
func (m *Maker) newRecorded(parts []part, c ir.Rounded) *Recorded {
	if m.Row == nil || slices.ContainsFunc(parts, func(p part) bool { return p.at >= AnyDim }) {
		return nil
	}
	from := &Recorded{Constant: ir.NewArgument(c)}
	for _, p := range parts {
		from.Coef, from.Latents = append(from.Coef, ir.NewArgument(p.x)), append(from.Latents, m.st.Leaf(ir.Latent, p.at))
	}
	return from
}

// record adds a comparison to the row that is recorded.
func (m *Maker) record(from *Recorded, x Comparison, newPlane bool) {
	switch {
	case m.Row == nil:
	case from == nil || !newPlane:
		m.st.Rec.Spoil()
	default:
		from.Comparison = x
		m.Row.Guards = append(m.Row.Guards, *from)
	}
}

// recordZero adds what is 0 on a plane.
func (m *Maker) recordZero(plane int, id ir.ID) {
	if m.Row == nil {
		return
	}
	guard := slices.IndexFunc(m.Row.Guards, func(g Recorded) bool { return g.Side.Plane == plane })
	if guard < 0 {
		m.st.Rec.Spoil()
	}
	m.Row.Zeros = append(m.Row.Zeros, Zero{guard, id})
}

// AddPlane adds a comparison that is like a recorded one, with its own plane. It returns false if it has none, or is the other side of it.
func (m *Maker) AddPlane(like *Recorded, h regions.Hyperplane, r regions.Rounding) bool {
	x, planes := like.Comparison, m.Arr.Len()
	side, err := m.Arr.AddRounded(h, r)
	if err != nil || m.Arr.Len() == planes || side.Positive != like.Side.Positive {
		return false
	}
	x.Side, x.greater = side, h
	m.Made = append(m.Made, x)
	return true
}
