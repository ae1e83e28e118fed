package plan

import "github.com/facetvi/facet/internal/kernel"

// accumulate makes a sum or a scattering of gradients one operation.
func (p *planner) accumulate(n *node) {
	switch n.k.(type) {
	case kernel.Plus, kernel.Scatter:
	default:
		return
	}
	if n.uses == 0 { // it is part of another one
		return
	}
	base, list := p.openGates(n.summands(), n.rows)
	n.in = nil
	k := accumulate{base: base}
	for _, s := range list {
		k.parts = append(k.parts, s.part)
		if s.gate != nil {
			n.in = append(n.in, s.sign)
		}
		n.in = append(n.in, s.x)
	}
	n.k = k
	if from, ok := k.parts[0].picked(n.rows); ok && len(k.parts) == 1 && base == nil {
		n.k = kernel.Gather{Idx: from}
	}
}

// summands lists what n is the sum of, through the sums that lead to n alone.
func (n *node) summands() []summand {
	switch k := n.k.(type) {
	case kernel.Plus:
		var list []summand
		for _, x := range n.in {
			if x.inner() {
				list = append(list, x.summands()...)
				x.uses = 0
			} else {
				list = append(list, newSummand(nil, x))
			}
		}
		return list
	case kernel.Scatter:
		return []summand{newSummand(k.Idx, n.in[0])}
	}
	return []summand{newSummand(nil, n)}
}

// newSummand is x scattered, with the scalings and the gate that lead to it. A
// scaling that others use too is done again, as it costs nothing here.
func newSummand(to kernel.RowList, x *node) summand {
	s := summand{part: part{to: to}, x: x}
	if first, run := to.Run(); run {
		s.first, s.to = first, nil
	}
	for {
		k, ok := s.x.k.(kernel.Scale)
		if !ok {
			break
		}
		s.coef, s.x = k.Coef.Times(s.coef), s.x.in[0]
	}
	if k, ok := s.x.k.(kernel.Gate); ok && s.x.inner() && s.coef == nil {
		s.gate, s.sign, s.x = &k, s.x.in[0], s.x.in[1]
	}
	return s
}
