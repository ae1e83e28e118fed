package graph

import (
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
)

// add adds a term that is a node already.
func (m *Model) add(id ir.ID) {
	m.terms = append(m.terms, modelTerm{factorTerm, m.here(), id, false})
}

// A copier copies expressions to another model, with data as numbers.
type copier struct {
	d    *Density
	to   *Model
	done map[ir.ID]ir.ID
	sign map[int]ir.ID
}

// newCopier copies the latents of d to a new model.
func newCopier(d *Density) copier {
	c := copier{d: d, to: NewModel(), done: map[ir.ID]ir.ID{}, sign: map[int]ir.ID{}}
	for _, l := range d.m.latents {
		prior := l.prior
		if l.discrete != nil {
			prior = l.discrete.Dist
		}
		params := slices.Clone(prior.Params())
		for i, x := range params {
			if lang.Of(x) != nil {
				params[i] = c.to.expr(c.copy(lang.ID(x)))
			}
		}
		c.to.Sample(l.name, Dist{prior.With(params)})
	}
	return c
}

// copies reports whether a copier can copy the density: it has no parameters, no guards that are not affine, and no
// discrete latents whose priors depend on others.
func (c *compiled) copies() bool {
	for l := range c.arr.Len() {
		if c.arr.Curve(l) != nil {
			return false
		}
	}
	for _, l := range c.m.latents {
		if l.discrete != nil && len(l.discrete.Dist.Nodes()) > 0 {
			return false
		}
	}
	return c.m.params == 0
}

func (c *copier) copy(id ir.ID) ir.ID {
	return ir.Remembered(c.done, id, func() ir.ID { return c.make(id) })
}

func (c *copier) make(id ir.ID) ir.ID {
	n, st := c.d.st.At(id), c.to.st
	switch n.Kind {
	case ir.Latent:
		return st.Leaf(ir.Latent, int(n.A))
	case ir.Data:
		return st.Constant(c.d.data[n.A])
	case ir.Sign:
		return c.guard(int(n.A))
	}
	return st.Operation(n, c.copy)
}

// guard is the sign of plane l of the density.
func (c *copier) guard(l int) ir.ID {
	return ir.Remembered(c.sign, l, func() ir.ID {
		return c.to.guards.HalfSpace(c.d.arr.Plane(l)).Formula
	})
}
