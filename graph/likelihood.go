package graph

import (
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lower"
)

// Likelihood is the program of log r less the log densities of the latents'
// priors: what observations and factors add to them. Its one output is in the
// order of an Executor's Out; it has no gradient.
func (d *Density) Likelihood() (*Program, error) {
	d.made()
	type likelihood struct{}
	p, err := d.Cached(likelihood{}, func() (any, error) {
		var terms []ir.Term
		for _, t := range d.m.terms {
			if !t.prior {
				terms = append(terms, ir.Term{Atom: t.id, Coef: 1})
			}
		}
		return lower.NewProgram(d.st, []ir.Output{d.st.Total(0, terms)}, &ir.Output{}, d.sizes())
	})
	if err != nil {
		return nil, err
	}
	return p.(*Program), nil
}
