package residuals

import (
	"math"
	"math/rand/v2"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/truncnorm"
)

// A Prior is the law of a latent's unconstrained coordinate, in numbers. Without a Start the latent stays where its one
// parameter is, a number, whatever its residual is.
type Prior struct {
	Law    string // laws of one name are one law
	Params []Param
	// Normal says that residuals are normal, and center and scale the parameters.
	Normal bool
	// Start is a central value and a scale, and Starts is that of rows of parameters, which takes less time; nil for a loop over Start. It
	// uses at, as long as p.
	Start  func(p []float64) (center, scale float64)
	Starts func(center, scale []float64, p [][]float64, at []float64)
	// LogProb is the log density of a residual; nil for a law whose log density is the node Term alone.
	LogProb func(e float64, p []float64) float64
	Term    ir.ID
	// Shares is the distribution of the residual, where it is known.
	Shares *Shares
	// Draw stores draws of the coordinate, number k with the parameters p(k).
	Draw func(dst []float64, p func(k int) []float64, rng *rand.Rand)
	// Excludes reports by parameter whether a finite number has no meaning; nil where all have one.
	Excludes []func(v float64) bool
}

// A Param is a number, or an expression of the latents before.
type Param struct {
	IsNumber bool
	Number   float64
	ID       ir.ID
}

// Shares are the probabilities of intervals under the distribution of a prior's residual.
type Shares struct {
	// LogMass is the log probability of (lo, hi), and Quantile the point below which
	// there is the part u of it.
	LogMass  func(lo, hi float64) float64
	Quantile func(u, lo, hi float64) float64
}

// at are the prior of latent i in column k, with its center and scale there.
func (r *Batch) at(i, k int) (s *step, center, scale float64) {
	s = &r.steps[i]
	if s.shared {
		center, scale = s.Start(r.params(s, k))
		return s, center, scale
	}
	return s, s.center[k], s.scale[k]
}

// LogMass is the log prior probability that latent i, one of a SwitchLatent, is in (lo, hi)
// in column k, given the latents before it there. The probability is good to 1e-12, or to
// what the rounding of its ends leaves of an interval below a hundredth of the scale.
func (r *Batch) LogMass(i, k int, lo, hi float64) float64 {
	s, center, scale := r.at(i, k)
	return s.Shares.LogMass((lo-center)/scale, (hi-center)/scale)
}

// Within is the coordinate in (lo, hi) below which there is the part u of the probability that the prior of latent i has in
// (lo, hi); see LogMass.
func (r *Batch) Within(i, k int, u, lo, hi float64) float64 {
	s, center, scale := r.at(i, k)
	return truncnorm.Inside(center+scale*s.Shares.Quantile(u, (lo-center)/scale, (hi-center)/scale), lo, hi)
}

// LogPriorOf is the log prior density of latent i in column k, given the latents
// before it there. Of a law without shares it is that of the last Follow, Draw, Renew or Invert.
func (r *Batch) LogPriorOf(i, k int) float64 {
	s, center, scale := r.at(i, k)
	if s.logProb != nil {
		return s.logProb[k]
	}
	return s.LogProb((r.Z[i*r.N+k]-center)/scale, r.params(s, k)) - math.Log(scale)
}

// Fixed reports whether the prior of latent i has only numbers as parameters.
func (r *Batch) Fixed(i int) bool { return r.steps[i].numbers != nil }
