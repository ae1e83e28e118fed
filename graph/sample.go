package graph

import (
	"math"
	"math/rand/v2"
	"slices"
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
			dst[i] = l.discrete.Draw(ev.params(l.discrete.Dist), rng)
			continue
		}
		dst[i] = l.prior.Draw(ev.params(l.prior), rng)
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
			dst[i] = dist.FromCoordinate(dist.Draw(ev.params(dist), rng))
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
