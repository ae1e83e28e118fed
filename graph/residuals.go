package graph

import (
	"github.com/facetvi/facet/internal/residuals"
)

// Residuals returns a batch of n points in two coordinates: the unconstrained latents, and what the priors, with the center and
// scale of PriorStart, leave of them. Where only location and scale of a prior depend on others, as those of Normal, LogNormal,
// Laplace and Exponential can, its residual is independent of them a priori.
func (d *Density) Residuals(n int) (*residuals.Batch, error) {
	of := residuals.Program{Nodes: &d.made().nodes, Arr: d.arr, Data: d.data}
	for i := range d.m.params {
		prior := residuals.Prior{Params: []residuals.Param{{IsNumber: true, Number: d.param(i)}}}
		if d.loose {
			prior = Normal(d.param(i), d.m.latents[i].prior.Params()[1]).of.InNumbers(0)
		}
		of.Priors = append(of.Priors, prior)
	}
	for _, t := range d.m.terms {
		if t.prior { // in the order of the latents
			of.Priors = append(of.Priors, d.m.latents[len(of.Priors)].prior.InNumbers(t.id))
		}
	}
	return residuals.New(of, n)
}
