package graph

import (
	"cmp"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
)

// mostBelow are the nodes that a value of Index is made of.
const mostBelow = 16

// indexes notes what Index of plate p gives in the rows of the block that is being made, if there is one.
func (t *tape) indexes(p *Plate, values []Expr, at []int) {
	m, b := t.m, t.m.block
	if b == nil || b.Spoilt {
		return
	}
	first := m.below(nil, values[at[p.at()]])
	if first == nil {
		b.Spoil()
		return
	}
	in := make([][]ir.ID, len(first))
	for i := range in {
		in[i] = b.Room.IDs.Column(len(b.Alike))
	}
	alike := make([][]ir.ID, len(values)) // to the first one; nil where that is not known, empty where it is not
	b.Keep(func(r int) bool {
		k := at[p.atRow(t.inner, b.lo+r)]
		if alike[k] == nil {
			alike[k] = m.alikeBelow(first, values[k])
		}
		for i, id := range alike[k] {
			in[i][r] = id
		}
		return len(alike[k]) > 0
	})
	for i, id := range first {
		b.AddHole(ir.Hole{ID: id, In: in[i], Index: b.indexed})
	}
	b.indexed++
}

// alikeBelow are the nodes that x is made of, if they are like the given ones; empty if not.
func (m *Model) alikeBelow(first []ir.ID, x Expr) []ir.ID {
	nodes := m.below(nil, x)
	if len(nodes) != len(first) {
		return []ir.ID{}
	}
	for i, id := range nodes {
		if !m.alike(first[i], id) {
			return []ir.ID{}
		}
		for j := range i {
			if cmp.Compare(first[i], first[j]) != cmp.Compare(id, nodes[j]) {
				return []ir.ID{}
			}
		}
	}
	return nodes
}

// below appends to list the nodes that x is made of, itself first, and again where they
// come again. It is nil for a number, and if they are many, or such as may not be in a hole.
func (m *Model) below(list []ir.ID, x Expr) []ir.ID {
	if lang.Of(x) == nil {
		return nil
	}
	id := lang.ID(x)
	n := m.st.Like(id)
	if m.guards.IsDiscrete(id) || len(list) == mostBelow || n.Kind != ir.Const && n.Kind != ir.Latent && (n.Kind < ir.Sum || n.Kind > ir.Ternary) {
		return nil
	}
	list = append(list, id)
	m.st.Operands(id, func(o ir.ID) {
		if list != nil {
			list = m.below(list, m.expr(o))
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
