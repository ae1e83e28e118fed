package lang

import (
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// Log densities of large counts and shapes k. Straight from the book they are
// sums of terms as large as k·log k, whose rounding is all that is left. In
// saddle-point form, after Catherine Loader, no term is much larger than the
// result. It costs a logarithm for each observation, so where counts and shapes
// are small the sums stay.

// Counts and shapes up to these are small: rounding changes a log probability by
// less than a relative 1e-12. The log density of a shape α may be near 0; it is
// rounded by about 1e-16·α·|log β| for a rate β.
const (
	maxSmallCount = 256
	maxSmallShape = 16
)

// small reports whether x is a number, or was observed, and is at most limit, or missing. Data
// that later take the place of observed ones keep the form that is chosen here.
func small(x Expr, limit float64) bool {
	v, known := x.IsConst()
	if !known {
		n := x.m.Store().Head(x.id)
		if n.Kind != ir.Data {
			return false
		}
		return x.m.Observed(int(n.A)).Is(func(v float64) bool { return !(v > limit) })
	}
	return !(v > limit)
}

// poissonLogProb is log(meanᵏ·e^−mean/Γ(k+1)).
func poissonLogProb(k, mean, logMean Expr) Expr {
	return Add(Apply(kernel.Stirling, k), deviance(k, Sub(mean, k), Sub(logMean, Log(k))))
}

// trialsLogProb is log(Γ(a+b+1)/(Γ(a+1)·Γ(b+1))·pᵃ(1−p)ᵇ).
func trialsLogProb(a, b, p Expr) Expr {
	s, f := probabilities(p)
	norm := Sub(Add(Apply(kernel.Stirling, a), Apply(kernel.Stirling, b)), Apply(kernel.Stirling, Add(a, b)))
	d := Sub(Mul(b, s), Mul(a, f)) // (a+b)p − a
	successes := deviance(a, d, Sub(Log(p), applyPair(kernel.LogShare, a, b)))
	failures := deviance(b, Neg(d), Sub(Log1p(Neg(p)), applyPair(kernel.LogShare, b, a)))
	return Add(norm, Add(successes, failures))
}

// deviance is k·log(m/k) − d for a mean m = k + d, given also log(m/k).
func deviance(k, d, logRatio Expr) Expr {
	return Add(applyPair(kernel.Deviance, k, d), times(k, Apply(kernel.LogTail, logRatio)))
}

// logRatio is log(a/b) of data, also where they are near one another or far apart.
func logRatio(a, b Expr) Expr {
	d := Sub(a, b)
	size := abs(d)
	return Sub(applyPair(kernel.LogShare, a, Mul(0.5, Sub(size, d))), applyPair(kernel.LogShare, b, Mul(0.5, Add(size, d))))
}

// probabilities are p and 1 − p.
func probabilities(p Expr) (success, failure Expr) {
	if p.m != nil {
		if s, f, ok := p.m.Store().Sigmoids(p.id); ok {
			return Expr{m: p.m, id: s}, Expr{m: p.m, id: f}
		}
	}
	return p, Sub(1, p)
}
