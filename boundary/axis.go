package boundary

import (
	"math"

	"github.com/facetvi/facet/regions"
)

// An axisPlane is a hyperplane with one coordinate, which is z_latent = at: all
// of its points have one ε there.
type axisPlane struct {
	plane  int
	latent int
	at     float64
	t      float64 // ε on the plane
	w      float64 // weight: φ(t) over the slope s; 0 where q has no mass
}

// newAxisPlane takes plane l in canonical form: its coefficient is 1.
func newAxisPlane(l int, h regions.Hyperplane) axisPlane {
	return axisPlane{plane: l, latent: h.Index[0], at: -h.Const}
}

// locateAxes moves the planes to the coordinates of ε.
func locateAxes(planes []axisPlane, mu, s []float64) {
	latent, inv := -1, 0.0
	for l := range planes {
		p := &planes[l]
		if p.latent != latent { // neighbours often share it
			latent, inv = p.latent, 1/s[p.latent]
		}
		p.t = (p.at - mu[latent]) * inv
		p.w = normalDensity(p.t) * inv
	}
}

// add adds the gradient, given the sum of the jumps over the samples.
func (p *axisPlane) add(jumps float64, gMu, gScale []float64) {
	g := p.w * jumps
	gMu[p.latent] += g
	gScale[p.latent] += g * p.t
}

// addAxes adds the gradients of all planes; jumps are their sums by plane.
func addAxes(planes []axisPlane, jumps, gMu, gScale []float64) {
	for l := range planes {
		if p := &planes[l]; p.w > 0 { // else the jump, which may be infinite, does not count
			p.add(jumps[p.plane], gMu, gScale)
		}
	}
}

const invSqrt2Pi = 0.398942280401432677939946059934

// normalDensity is φ(x), 0 where that underflows.
func normalDensity(x float64) float64 {
	if x*x > 1491 {
		return 0
	}
	return invSqrt2Pi * math.Exp(-0.5*x*x)
}
