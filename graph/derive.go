package graph

import (
	"github.com/facetvi/facet/internal/compare"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
)

// Engine is d as packages vi and boundary see it, which make programs of its terms.
func (d *Density) Engine() derive.Density {
	return derive.Density{Source: d.made().source(), Data: d.data}
}

// newSource is what derived programs are made of.
func (c *compiled) newSource() *derive.Source {
	s := &derive.Source{Terms: derive.Terms{Nodes: &c.nodes, Arr: c.arr, Dim: len(c.names), Params: c.m.params}, Program: c.prog, Planes: c.planes(), Simple: c.copies()}
	prior := c.m.params // parameters have none
	for _, t := range c.m.terms {
		of := -1
		if t.prior {
			of = prior
			prior++
		}
		s.List = append(s.List, derive.LogTerm{ID: t.id, Of: of})
	}
	for _, l := range c.m.latents {
		s.Shares, s.Discrete = append(s.Shares, l.prior.HasShares()), append(s.Discrete, l.discrete != nil)
	}
	for _, x := range c.m.required {
		s.Required = append(s.Required, derive.Required{Holds: lang.ID(x.holds.value), Planes: x.holds.Planes(), Place: x.place.String()})
	}
	return s
}

// planes know what is equal on the planes of d.
func (c *compiled) planes() ir.Algebra {
	return c.m.guards.Algebra(c.arr, len(c.names)-compare.AnyDim)
}

// Grouped is the density that sums of d write, with groups of the intervals of switches; see derive.Sums.
func (d *Density) Grouped(s *derive.Sums, groups ...derive.Groups) (*Density, error) {
	d.made()
	c := newCopier(d)
	s.Write(derive.Target{Store: c.to.st, Copy: c.copy, Guard: c.guard, Add: c.to.add}, groups...)
	return c.to.Compile()
}

// remembered is what make made of the program of d, perhaps several times at once, with the same result.
func remembered[T any](d *Density, make func() (T, error)) (x T, err error) {
	key := (*T)(nil)
	v, ok := d.made().cache.Load(key)
	if !ok {
		if x, err = make(); err != nil {
			return x, err
		}
		v, _ = d.cache.LoadOrStore(key, x)
	}
	return v.(T), nil
}
