package graph

import (
	"math"

	"github.com/facetvi/facet/regions"
)

// Holds evaluates the guard in region s of the density of its model.
func (g Guard) Holds(s regions.Signs) bool {
	if g.cond == nil {
		return false
	}
	return g.cond.holds(s)
}

func (c *cond) holds(s regions.Signs) bool {
	switch c.op {
	case condSign:
		return s.Positive(c.plane)
	case condNot:
		return !c.kids[0].holds(s)
	case condAnd:
		for _, k := range c.kids {
			if !k.holds(s) {
				return false
			}
		}
	case condOr:
		for _, k := range c.kids {
			if k.holds(s) {
				return true
			}
		}
		return false
	}
	return true
}

// Side returns the guard as a side of one hyperplane, if it is one comparison
// or the negation of one.
func (g Guard) Side() (regions.Side, bool) {
	switch {
	case g.cond == nil:
	case g.cond.op == condSign:
		return regions.Side{Plane: g.cond.plane, Positive: true}, true
	case g.cond.op == condNot && g.cond.kids[0].op == condSign:
		return regions.Side{Plane: g.cond.kids[0].plane}, true
	}
	return regions.Side{}, false
}

// Of reports whether the guard belongs to the model of d. Guards that are
// simply true or false belong to every model.
func (g Guard) Of(d *Density) bool { return g.m == nil || g.m == d.m }

// PriorStart follows the program once, giving each latent the centre of its
// prior there, and returns these centres and the priors' scales (about one
// standard deviation) in unconstrained coordinates: a start for a fit.
func (d *Density) PriorStart() (center, scale []float64) { return d.PriorStartAt(nil) }

// PriorStartAt is PriorStart with the coordinates in given kept where they are,
// so that latents sampled after them are at the centre of their prior there.
func (d *Density) PriorStartAt(given map[int]float64) (center, scale []float64) {
	center, scale = make([]float64, d.Dim()), make([]float64, d.Dim())
	ev := d.evaluate(center)
	defer ev.release()
	for i, l := range d.m.latents {
		center[i], scale[i] = l.prior.law.start(ev.params(&l.prior))
		if math.IsNaN(center[i]) || math.IsInf(center[i], 0) {
			center[i] = 0
		}
		if u, ok := given[i]; ok {
			center[i] = u
		}
		if !(scale[i] > 0) || math.IsInf(scale[i], 0) {
			scale[i] = 1
		}
	}
	return center, scale
}
