package lang

import (
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/residuals"
)

// InNumbers is the prior d, whose log density is a node.
func (d Dist) InNumbers(term ir.ID) residuals.Prior {
	f := d.law
	p := residuals.Prior{
		Law: f.name, Normal: f == Normal || f == LogNormal, Start: f.coordinate.start, Starts: f.coordinate.starts, LogProb: f.coordinate.residual, Term: term, Shares: f.coordinate.shares,
		Draw: d.draws, Excludes: make([]func(float64) bool, len(d.params)),
	}
	for j, x := range d.params {
		p.Params = append(p.Params, residuals.Param{IsNumber: x.m == nil, Number: x.v, ID: x.id})
		if r := f.params[j].rule; r != AnyReal {
			p.Excludes[j] = r.excludes
		}
	}
	return p
}
