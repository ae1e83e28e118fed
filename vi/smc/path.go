package smc

import "github.com/facetvi/facet/internal/derive"

// A path is what all workers share: the distribution π ∝ q0^(1−β)·r^β, and how to move in it. Where the program has
// requirements there is a path before, β = 0 and π ∝ q0·exp(−price·Σ (1 + distance) of those that do not hold), until all hold.
type path struct {
	start    *normal // q0
	beta     float64
	required *derive.Requirements // nil without any
	price    float64
	guide    *guide // while not all hold

	metrics      []*metric // one, or those of islands by turns
	step         float64
	long         float64  // by how many times trajectories are longer
	pool         []states // of an earlier temperature, for differences
	hubs         []int    // a latent for each prior of another and each guard that depends on it
	relocations  []*relocation
	rescaling    *derive.Scales  // what moves with a scale
	rescales     int             // moves of scales beside a trajectory
	done         <-chan struct{} // of the context
	*elimination                 // of many latents, or nil
}

// A metric is what trajectories are made with.
type metric struct {
	covariance, root *linear // of velocities: C·p, and momenta from standard normals
	mass             *mass
	noncentring      *noncentring // nil where there is none, or walls in the way
	coordinates      *noncentring // the same, or nil for the program's coordinates
}

// stopped reports whether the context has ended: trajectories end then, and move nothing.
func (p *path) stopped() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// logPath is log π.
func (p *path) logPath(logR, logQ, broken float64) float64 {
	switch {
	case p.beta == 1:
		return logR
	case p.beta == 0 && broken > 0:
		return logQ - p.price*broken
	case p.beta == 0:
		return logQ
	}
	return p.beta*logR + (1-p.beta)*logQ
}
