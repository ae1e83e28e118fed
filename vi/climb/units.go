package climb

import (
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
)

// units are those in which a fit steps: the scale of each parameter and, of a mean, at least its reach. A gradient is multiplied by
// them, and so is the step that it gives.
type units struct {
	of    []float64 // the parameters
	reach []reach   // of the means
	plain bool      // all units are 1 everywhere
}

// clip is Adam's where the family has units; the paper's family keeps the paper's
// optimiser.
const clip = 30

// A fit that starts wide may have far to go, also once it has become narrow. So
// steps of a mean are in units of the start's scale at first, which fades as 1/t:
// the scale of the iterate takes over when it is larger. A fit that goes on with an
// earlier one's optimiser has that behind it. Those of a parameter of the program fade
// without end (Robbins and Monro): their sum has no bound, and their noise vanishes.
const reachSteps = 300 // until half of it is left

// A reach is the least unit of a mean.
type reach struct {
	param  int
	start  float64 // where the fit starts
	factor float64 // by which the unit is larger than the family's now
	fades  bool    // to nothing: that of a parameter of the program, which has no scale of its own
}

// unitsAreOne reports whether the units of q's family are 1, at q and elsewhere.
func unitsAreOne(q family.Q) bool {
	q = q.Clone()
	units := make([]float64, len(q.Theta()))
	for range 2 {
		q.Units(units)
		if slices.ContainsFunc(units, func(u float64) bool { return u != 1 }) {
			return false
		}
		q.Move(units)
	}
	return true
}

// newUnits are those of a fit of d from start; afresh says that no earlier fit's optimiser goes on.
func newUnits(d *graph.Density, start family.Q, afresh bool) units {
	u := units{of: make([]float64, len(start.Theta())), plain: unitsAreOne(start)}
	if !afresh || u.plain {
		return u
	}
	start.Units(u.of)
	for k, x := range u.of {
		if p := start.Param(k); p.Is("μ") {
			u.reach = append(u.reach, reach{param: k, start: x, fades: p.Latent < d.Params()})
		}
	}
	return u
}

// at finds the units at q, after t steps.
func (u *units) at(q family.Q, t int) {
	q.Units(u.of)
	fade := 1 / (1 + float64(t)/reachSteps)
	for i := range u.reach {
		r := &u.reach[i]
		own := u.of[r.param]
		u.of[r.param] = max(own, fade*r.start)
		if r.fades {
			u.of[r.param] = fade * own
		}
		r.factor = u.of[r.param] / own
	}
}
