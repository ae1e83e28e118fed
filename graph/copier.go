package graph

import "slices"

// add adds a term that is a node already.
func (m *Model) add(id nodeID) {
	m.terms = append(m.terms, modelTerm{factorTerm, m.here(), id, false})
}

// A copier copies expressions to another model, with data as numbers.
type copier struct {
	d    *Density
	to   *Model
	done map[nodeID]nodeID
	sign map[int]nodeID
}

// newCopier copies the latents of d to a new model.
func newCopier(d *Density) copier {
	c := copier{d: d, to: NewModel(), done: map[nodeID]nodeID{}, sign: map[int]nodeID{}}
	for _, l := range d.m.latents {
		prior := l.prior
		if l.discrete != nil {
			prior = l.discrete.dist
		}
		prior.params = slices.Clone(prior.params)
		for i, x := range prior.params {
			if x.m != nil {
				prior.params[i] = Expr{m: c.to, id: c.copy(x.id)}
			}
		}
		c.to.Sample(l.name, prior)
	}
	return c
}

// copies reports whether a copier can copy the density: it has no parameters, no guards that are not affine, and no
// discrete latents whose priors depend on others.
func (d *Density) copies() bool {
	for l := range d.arr.Len() {
		if d.arr.Curve(l) != nil {
			return false
		}
	}
	for _, l := range d.m.latents {
		if l.discrete != nil && len(l.discrete.dist.nodes()) > 0 {
			return false
		}
	}
	return d.m.params == 0
}

func (c *copier) copy(id nodeID) nodeID {
	return remembered(c.done, id, func() nodeID { return c.make(id) })
}

func (c *copier) make(id nodeID) nodeID {
	n, st := c.d.st.at(id), c.to.st
	switch n.kind {
	case kConst:
		return st.constant(n.v)
	case kLatent:
		return st.leaf(kLatent, int(n.a))
	case kData:
		return st.constant(c.d.data[n.a])
	case kSign:
		return c.guard(int(n.a))
	case kSum:
		out := st.constant(n.v)
		for _, t := range n.terms {
			out = st.sum(1, out, t.coef, c.copy(t.atom))
		}
		return out
	}
	return st.operation(n, c.copy)
}

// guard is the sign of plane l of the density.
func (c *copier) guard(l int) nodeID {
	return remembered(c.sign, l, func() nodeID {
		h := c.d.arr.Plane(l)
		var parts []part
		for k, i := range h.Index {
			parts = append(parts, part{i, rounded{v: h.Coef[k]}})
		}
		return c.to.halfSpaceOf(parts, rounded{v: h.Const}).value.id
	})
}
