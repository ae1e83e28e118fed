package graph

import (
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
)

// mostBelow are the nodes that a value of Index is made of.
const mostBelow = 16

// indexes notes what Index gives in the recorded row; r may be nil.
func (r *rowRecording) indexes(m *Model, p *Plate, values []Expr, at []int) {
	if r == nil {
		return
	}
	for _, x := range r.indexings {
		if x.p == p && &x.values[0] == &values[0] && len(x.values) == len(values) && &x.at[0] == &at[0] {
			return
		}
	}
	x := values[at[p.at()]]
	if lang.Of(x) == nil {
		r.Spoilt = true
		return
	}
	nodes := m.below(nil, lang.ID(x))
	r.Spoilt = r.Spoilt || nodes == nil
	for k, id := range nodes {
		r.AddHole(ir.Hole{ID: id, Index: len(r.indexings), Place: k})
	}
	r.indexings = append(r.indexings, indexing{p, values, at, nodes, make([][]ir.ID, len(values))})
}

// below appends to list the nodes that id is made of, itself first, and again where they
// come again. It is nil if they are many, or such as may not be in a hole.
func (m *Model) below(list []ir.ID, id ir.ID) []ir.ID {
	n := m.st.Like(id)
	if m.guards.IsDiscrete(id) || len(list) == mostBelow || n.Kind != ir.Const && n.Kind != ir.Latent && (n.Kind < ir.Sum || n.Kind > ir.Ternary) {
		return nil
	}
	list = append(list, id)
	m.st.Operands(id, func(o ir.ID) {
		if list != nil {
			list = m.below(list, o)
		}
	})
	return list
}

// alike reports whether all that is asked of node a has the same answer for b, except for
// their operands, and which latents they are.
func (m *Model) alike(a, b ir.ID) bool {
	x, y := m.st.At(a), m.st.At(b)
	if x.Kind != y.Kind || x.Fn != y.Fn || x.Affine != y.Affine || !ir.SameBits(x.V, y.V) || len(x.Terms) != len(y.Terms) {
		return false
	}
	for i := range x.Terms {
		if !ir.SameBits(x.Terms[i].Coef, y.Terms[i].Coef) {
			return false
		}
	}
	if x.Kind == ir.Latent && !m.latents[x.A].prior.Alike(m.latents[y.A].prior) {
		return false
	}
	p, q := m.st.BoundsOf(a), m.st.BoundsOf(b)
	return ir.SameBits(p.V, q.V) && slices.Equal(p.Coef, q.Coef)
}
