package family

// An axisPlane is z_latent = at: all of its points have one ε there.
type axisPlane struct {
	latent int
	at     float64
	t      float64 // ε on the plane
	w      float64 // weight: φ(t) over the slope s; 0 where q has no mass
}

// locate follows the mean of the latent, and 1 over its scale.
func (p *axisPlane) locate(mu, inv float64) {
	p.t = (p.at - mu) * inv
	p.w = normalDensity(p.t) * inv
}

// addAxes adds the terms of axes, given for each the sum of the samples' jumps.
func (s *normalSampler) addAxes(sums []float64, axes []axisPlane, jumps []float64) {
	mean, scale, _ := s.parts(sums)
	for l := range axes {
		if p := &axes[l]; p.w > 0 { // else the jump, which may be infinite, does not count
			g := p.w * jumps[l]
			mean[p.latent] += g
			scale[p.latent] += g * p.t
		}
	}
}
