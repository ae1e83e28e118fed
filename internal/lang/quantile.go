package lang

import (
	"github.com/facetvi/facet/internal/kernel"
)

// StandardNormal is the prior of the coordinate of noise.
var StandardNormal = Dist{law: Normal, params: []Expr{{}, {v: 1}}}

// CutsOf are the coordinates up to which noise has the values up to each of values but the last.
func (d Dist) CutsOf(values []float64) (cuts []Expr) {
	for j, x := range values[:len(values)-1] {
		if d.law.tails.weighted {
			cuts = append(cuts, NormalQuantile(Div(Sum(d.params[:j+1]...), Sum(d.params...))))
			continue
		}
		logCDF := d.logTail(Expr{v: x}, false)
		cuts = append(cuts, apply1(kernel.LogNormalQuantile, logCDF))
	}
	return cuts
}

// located is location + scale·x for the quantile x of a standard law.
func located(f kernel.Function) func(u Expr, p []Expr) Expr {
	return func(u Expr, p []Expr) Expr { return Add(p[0], Mul(p[1], apply1(f, u))) }
}

// scaled is scale·x for the quantile x of a standard law.
func scaled(f kernel.Function) func(u Expr, p []Expr) Expr {
	return func(u Expr, p []Expr) Expr { return Mul(p[0], apply1(f, u)) }
}

// logExponential is the logarithm of a draw of the exponential distribution with rate 1.
func logExponential(u Expr) Expr { return Log(apply1(kernel.ExponentialOfNormal, u)) }

// standardGamma is a draw of the gamma distribution with shape a and rate 1.
func standardGamma(u, a Expr) Expr { return Exp(applyPair(kernel.LogGammaOfNormal, u, a)) }
