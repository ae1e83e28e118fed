package graph

import (
	"fmt"
	"math"
)

// UnconstrainOne is the inverse of ConstrainOne: the unconstrained coordinate at
// which latent i has the value x. A value outside the open support of the
// latent's prior is an error that names the latent and where it was sampled.
func (d *Density) UnconstrainOne(i int, x float64) (float64, error) {
	l := d.m.latents[i]
	u := x
	switch l.prior.law.support {
	case onPositive:
		u = math.Log(x)
	case onUnit:
		u = math.Log(x) - math.Log1p(-x)
	case onInterval:
		lo, hi := l.prior.params[0].constValue(), l.prior.params[1].constValue()
		u = math.Log(x-lo) - math.Log(hi-x)
	}
	if math.IsNaN(u) || math.IsInf(u, 0) {
		return math.NaN(), fmt.Errorf("graph: %v: latent %s cannot be %v: its prior is %s", l.place, l.name, x, l.prior.law.name)
	}
	return u, nil
}
