package graph

import (
	"math"

	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/internal/truncnorm"
)

var softplus = kernel.Softplus.Value

// shares are the probabilities of intervals under the distribution of a prior's residual.
type shares struct {
	// logMass is the log probability of (lo, hi), and quantile the point below which
	// there is the part u of it.
	logMass  func(lo, hi float64) float64
	quantile func(u, lo, hi float64) float64
}

var (
	normalShares   = shares{truncnorm.LogMass, truncnorm.Quantile}
	logisticShares = shares{
		func(lo, hi float64) float64 {
			lo, hi = lo*logisticSD, hi*logisticSD
			return kernel.Log1mExp.Value(lo-hi) - softplus(-hi) - softplus(lo)
		},
		func(u, lo, hi float64) float64 {
			below, above, toBelow, toAbove, _ := logisticTails(math.Exp(-logisticSD*math.Abs(lo)), math.Exp(-logisticSD*math.Abs(hi)), lo > 0, hi > 0)
			return between((math.Log((1-u)*below+u*toBelow)-math.Log((1-u)*above+u*toAbove))/logisticSD, lo, hi)
		},
	}
	halfNormalShares = shares{ // of |x|: its median is halfNormalMedian standard deviations
		func(lo, hi float64) float64 {
			return math.Ln2 + truncnorm.LogMass(halfNormalMedian*math.Exp(lo), halfNormalMedian*math.Exp(hi))
		},
		func(u, lo, hi float64) float64 {
			return between(math.Log(truncnorm.Quantile(u, halfNormalMedian*math.Exp(lo), halfNormalMedian*math.Exp(hi))/halfNormalMedian), lo, hi)
		},
	}
	exponentialShares = shares{
		func(lo, hi float64) float64 { return kernel.Log1mExp.Value(math.Exp(lo)-math.Exp(hi)) - math.Exp(lo) },
		func(u, lo, hi float64) float64 {
			a := math.Exp(lo)
			return between(math.Log(a-math.Log1p(u*math.Expm1(a-math.Exp(hi)))), lo, hi)
		},
	}
)

// between is x, moved into (lo, hi) if rounding has put it outside.
func between(x, lo, hi float64) float64 {
	return min(max(x, math.Nextafter(lo, math.Inf(1))), math.Nextafter(hi, math.Inf(-1)))
}

// at are the prior of latent i in column k, with its center and scale there.
func (r *Residuals) at(i, k int) (s *residualStep, center, scale float64) {
	s = &r.steps[i]
	if s.shared {
		center, scale = s.law.start(r.params(s, k))
		return s, center, scale
	}
	return s, s.center[k], s.scale[k]
}

// LogMass is the log prior probability that latent i, one of a SwitchLatent, is in (lo, hi)
// in column k, given the latents before it there. The probability is good to 1e-12, or to
// what the rounding of its ends leaves of an interval below a hundredth of the scale.
func (r *Residuals) LogMass(i, k int, lo, hi float64) float64 {
	s, center, scale := r.at(i, k)
	return s.law.shares.logMass((lo-center)/scale, (hi-center)/scale)
}

// Within is the coordinate in (lo, hi) below which there is the part u of the probability that the prior of latent i has in
// (lo, hi); see LogMass.
func (r *Residuals) Within(i, k int, u, lo, hi float64) float64 {
	s, center, scale := r.at(i, k)
	return between(center+scale*s.law.shares.quantile(u, (lo-center)/scale, (hi-center)/scale), lo, hi)
}

// LogPriorOf is the log prior density of latent i in column k, given the latents
// before it there. Of a law without shares it is that of the last Follow, Draw, Renew or Invert.
func (r *Residuals) LogPriorOf(i, k int) float64 {
	s, center, scale := r.at(i, k)
	if s.logProb != nil {
		return s.logProb[k]
	}
	return s.law.residual((r.Z[i*r.N+k]-center)/scale, r.params(s, k)) - math.Log(scale)
}

// Fixed reports whether the prior of latent i has only numbers as parameters.
func (r *Residuals) Fixed(i int) bool { return r.steps[i].numbers != nil }
