package lang

import (
	"math"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/internal/residuals"
	"github.com/facetvi/facet/internal/truncnorm"
)

var softplus = kernel.Softplus.Value

// Distributions of priors' residuals.
var (
	normalShares   = residuals.Shares{LogMass: truncnorm.LogMass, Quantile: truncnorm.Quantile}
	logisticShares = residuals.Shares{
		LogMass: func(lo, hi float64) float64 {
			lo, hi = lo*logisticSD, hi*logisticSD
			return kernel.Log1mExp.Value(lo-hi) - softplus(-hi) - softplus(lo)
		},
		Quantile: func(u, lo, hi float64) float64 {
			below, above, toBelow, toAbove, _ := logisticTails(math.Exp(-logisticSD*math.Abs(lo)), math.Exp(-logisticSD*math.Abs(hi)), lo > 0, hi > 0)
			return truncnorm.Inside((math.Log((1-u)*below+u*toBelow)-math.Log((1-u)*above+u*toAbove))/logisticSD, lo, hi)
		},
	}
	halfNormalShares = residuals.Shares{ // of |x|: its median is halfNormalMedian standard deviations
		LogMass: func(lo, hi float64) float64 {
			return math.Ln2 + truncnorm.LogMass(halfNormalMedian*math.Exp(lo), halfNormalMedian*math.Exp(hi))
		},
		Quantile: func(u, lo, hi float64) float64 {
			return truncnorm.Inside(math.Log(truncnorm.Quantile(u, halfNormalMedian*math.Exp(lo), halfNormalMedian*math.Exp(hi))/halfNormalMedian), lo, hi)
		},
	}
	exponentialShares = residuals.Shares{
		LogMass: func(lo, hi float64) float64 { return kernel.Log1mExp.Value(math.Exp(lo)-math.Exp(hi)) - math.Exp(lo) },
		Quantile: func(u, lo, hi float64) float64 {
			a := math.Exp(lo)
			return truncnorm.Inside(math.Log(a-math.Log1p(u*math.Expm1(a-math.Exp(hi)))), lo, hi)
		},
	}
)

// InNumbers is the prior d, whose log density is a node.
func (d Dist) InNumbers(term ir.ID) residuals.Prior {
	f := d.law
	p := residuals.Prior{
		Law: f.name, Normal: f == Normal || f == LogNormal, Start: f.coordinate.start, LogProb: f.coordinate.residual, Term: term, Shares: f.coordinate.shares,
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
