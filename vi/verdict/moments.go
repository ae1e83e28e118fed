package verdict

import (
	"math"

	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/weighted"
)

// Moments are the posterior mean and standard deviation of a latent, on the program's own scale.
type Moments struct{ Mean, SD mc.Estimate }

// precision has three standard errors: of a mean and of a standard deviation, in standard deviations, and of a probability.
type precision struct{ mean, sd, prob float64 }

// The standard errors that can be accepted, of a mean and of a standard deviation, in standard deviations: a quarter of what
// TrustFit promises.
const (
	AcceptedMean = 0.0125
	AcceptedSD   = 0.0125
)

var (
	wanted   = precision{0.0025, 0.003, 0.001} // as many draws as this takes, but no more than is cheap
	accepted = precision{AcceptedMean, AcceptedSD, 0.0025}
	seen     = precision{mean: 0.02, sd: 0.03} // of what the scout sees and the draws do not
)

// ofChains is how many times the standard errors of a sampler's draws may be what is accepted of others: a third of what TrustFit
// promises. The standard deviation of its latents with two values is not looked at, only their probability.
const ofChains = 4. / 3

// What tails are too heavy, by the k-hat of deviations for a mean, and of squared ones for a standard deviation.
const (
	heavyTails = 0.7   // more draws do not help beyond it, nor where sums over a sampler's chains have it: these are few
	noLimit    = 0.5   // there is no central limit theorem from it on: no standard error, and more of a sampler's draws do not help
	largePart  = 0.003 // of a variance that one draw has: else there is one
)

// heavyTailed reports whether the standard deviation of a number with the values x at the draws is not known well enough, with tails so heavy that
// more draws would not help, or may be infinite. Its standard error becomes infinite, and so does that of a mean that is not known either. There are the
// quantiles of the middle, too, if it asked for them.
func heavyTailed(s *weighted.Sample, x []float64, m *Moments, quantiles func(probs ...float64) []mc.Estimate) (heavy bool, q []mc.Estimate) {
	most, times, chains := heavyTails, 1.0, s.Chains() > 0
	if chains {
		most, times = noLimit, ofChains
	}
	known := m.Mean.SE <= times*accepted.mean*m.SD.Value && m.SD.SE <= times*accepted.sd*m.SD.Value
	top := 0.0
	for k, v := range x {
		if d := v - m.Mean.Value; !math.IsNaN(v) { // a number that is not there at this draw
			top = max(top, s.Weights[k]*d*d)
		}
	}
	if known && !(top > largePart*m.SD.Value*m.SD.Value) {
		return false, nil
	}
	off, square := make([]float64, s.Len()), make([]float64, s.Len())
	for k, v := range x {
		if !math.IsNaN(v) {
			off[k] = math.Abs(v - m.Mean.Value)
			square[k] = off[k] * off[k]
		}
	}
	if tail := s.TailK(square); known && tail < noLimit || !known && tail < most && !(chains && s.ChainK(square) > heavyTails) {
		return false, nil
	}
	m.SD.SE = math.Inf(1)
	if !(s.TailK(off) < most) {
		m.Mean.SE = math.Inf(1)
	} else if q = quantiles(middle...); !(m.Mean.SE <= times*accepted.mean*(q[2].Value-q[0].Value)/2) {
		m.Mean.SE = math.Inf(1)
	}
	return true, q
}

// middle are the probabilities of the median, and of what is a standard deviation off it in a normal.
var middle = []float64{0.16, 0.5, 0.84}

// MomentsOf are those of a number with the values x at the draws.
func MomentsOf(s *weighted.Sample, x []float64) (m Moments) {
	m.Mean, m.SD = s.MomentsOf(x)
	heavyTailed(s, x, &m, func(p ...float64) []mc.Estimate { return s.QuantilesOf(x, p...) })
	return m
}
