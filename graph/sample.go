package graph

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/internal/ir"
)

// PriorDraw follows the program once and draws each latent from its prior, with
// parameters and branches as the latents drawn before make them: an ancestral
// draw. Parameters stay where they start. It stores the latents in unconstrained coordinates, like those of
// LogProb, in dst, and returns it; Constrain gives the values. Observations and
// factors play no part.
//
// Draws are made in unconstrained coordinates, so that a value too small for a
// float64, such as that of a gamma of shape 0.001, still has its coordinate.
// A latent is NaN where its prior has no meaning: with a parameter there that
// is not finite or breaks its rule, such as a negative scale.
//
// It allocates if dst is nil, and otherwise panics unless len(dst) is Dim(). It
// panics if rng is nil.
// The draw depends on the state of rng alone. Concurrent use needs an rng each.
func (d *Density) PriorDraw(dst []float64, rng *rand.Rand) []float64 {
	checkSource(rng)
	dst = sized(dst, d.Dim(), "latents")
	ev := d.evaluate(dst)
	defer ev.Release()
	for i := range d.m.params {
		dst[i] = d.param(i)
	}
	for i := d.m.params; i < len(dst); i++ {
		l := &d.m.latents[i]
		if l.discrete != nil {
			dst[i] = l.discrete.draw(ev.params(l.discrete.dist), rng)
			continue
		}
		dst[i] = l.prior.draw(ev.params(l.prior), rng)
	}
	return dst
}

// Replicate draws new data given z: a value for each element of Data, in that
// order, from the distribution that it was observed under, with the parameters
// and branches of z's own region. An observation in an If block that z does not
// enter is NaN, and so is one whose parameters have no meaning at z (see
// PriorDraw). All others are in the support, moved there by one rounding if
// need be, so that WithData takes them.
//
// A missing observation is drawn given those that were observed: a hidden state from its law given all data of the chain, and
// what depends on earlier observations (see Model.Observed) from these, or from what was drawn in their place. So draws of the
// last observations, all missing, are forecasts. One that was observed is replicated from its distribution, whose parameters may
// depend on observations before it; the states of its chain are new ones.
//
// Posterior draws of z make them posterior predictive draws. z has Dim()
// unconstrained coordinates. Replicate allocates if dst is nil, and otherwise
// panics unless len(dst) is the number of observations. It panics if rng is nil.
func (d *Density) Replicate(dst, z []float64, rng *rand.Rand) []float64 {
	checkSource(rng)
	dst = sized(dst, len(d.made().m.obs), "observations")
	ev := d.evaluate(z)
	defer ev.Release()
	if d.m.dependent {
		ev.Data = slices.Clone(d.data)
	}
	tuple := 0 // of a chain's states
	for i := range d.m.obs {
		o := &d.m.obs[i]
		if dst[i] = math.NaN(); ev.holds(o.where) {
			dist := o.dist()
			if o.hidden != nil {
				tuple = o.hidden.next(ev, o.step, tuple, rng)
				dist = o.hidden.emission[o.step][tuple]
			}
			dst[i] = dist.fromCoordinate(dist.draw(ev.params(dist), rng))
			if o.part {
				ev.Data[i] = dst[i] // the other parts of the vector depend on it
			}
		}
	}
	if d.missing != nil {
		d.drawMissing(dst, z, rng)
	}
	return dst
}

// checkSource panics if there is none.
func checkSource(rng *rand.Rand) {
	if rng == nil {
		panic("graph: a nil source of random numbers")
	}
}

// Observations is the name of each element of Data, in that order: a name that
// was observed several times is there as often.
func (d *Density) Observations() []string {
	names := make([]string, len(d.made().m.obs))
	for i, o := range d.m.obs {
		names[i] = o.name
	}
	return names
}

// draw is a draw from d with the given parameters: in the unconstrained
// coordinate if d has a transform. It is finite, or NaN if the parameters have
// no meaning.
func (d Dist) draw(p []float64, rng *rand.Rand) float64 {
	if d.excludes(p) {
		return math.NaN()
	}
	x := d.law.rand(p, rng)
	if !math.IsInf(x, 0) {
		return x
	}
	switch s := d.support(); { // a parameter was rounded to the edge of its range, or is far out
	case s.whole:
		return math.NaN()
	case x > 0:
		return s.greatest
	default:
		return s.least
	}
}

// excludes reports whether parameters have no meaning.
func (d Dist) excludes(p []float64) bool {
	for i, v := range p {
		if d.law.params[i].rule.excludes(v) {
			return true
		}
	}
	return false
}

// draws is draw for each number of dst, with the parameters p.
func (d Dist) draws(dst []float64, p func(k int) []float64, rng *rand.Rand) {
	if d.law.values != nil {
		d.law.values(dst, p, rng)
		d.support().unmap(dst)
	}
	for k := range dst {
		if d.law.values == nil || !ir.IsFinite(dst[k]) || d.excludes(p(k)) {
			dst[k] = d.draw(p(k), rng)
		}
	}
}

// fromCoordinate maps a draw to the support. Where the transform rounds to an edge that
// is not in the support, it returns the nearest number that is.
func (d Dist) fromCoordinate(u float64) float64 {
	if !d.transformed() || math.IsNaN(u) {
		return u
	}
	s := d.support()
	return s.nearest(s.value(s, u))
}

// unitRand is uniform on (0, 1), never 0 or 1.
func unitRand(rng *rand.Rand) float64 { return (float64(rng.Uint64()>>12) + 0.5) * 0x1p-52 }

// logitRand is a draw of the standard logistic distribution.
func logitRand(rng *rand.Rand) float64 {
	u := unitRand(rng)
	return math.Log(u) - math.Log1p(-u)
}

// expRand is a draw of the exponential distribution with rate 1, never 0.
func expRand(rng *rand.Rand) float64 { return -math.Log(unitRand(rng)) }

// logHalfNormalRand is log |x| for a standard normal x.
func logHalfNormalRand(rng *rand.Rand) float64 {
	for {
		if x := rng.NormFloat64(); x != 0 { // the ziggurat can give 0
			return math.Log(math.Abs(x))
		}
	}
}

// logGammaRand is the logarithm of a draw of the gamma distribution with shape
// alpha and rate 1. For a shape below 1 it raises a draw of shape alpha + 1 to
// the power that takes it down (Marsaglia and Tsang 2000, section 6), in
// logarithms, where it cannot underflow.
func logGammaRand(alpha float64, rng *rand.Rand) float64 {
	if alpha < 1 {
		return logGammaRand(alpha+1, rng) - expRand(rng)/alpha
	}
	for {
		if g := (distuv.Gamma{Alpha: alpha, Beta: 1, Src: rng}).Rand(); g > 0 {
			return math.Log(g)
		}
	}
}
