package smc

import "math/rand/v2"

// Points that are proposed from a distribution near the posterior do not depend on the last one, and cost log r at one point. Where the posterior
// is near a mixture of normals, as that of few latents often is, they go from mode to mode.
//
//	z' ~ q,    accepted with probability min(1, r(z')·q(z) / (r(z)·q(z')))
//
// Draws of lower temperatures are among those that q is near, too: places that have little of the posterior have more there.
const (
	worthNear   = 5    // by how many times there have to be more draws for that,
	fewNear     = 0.15 // and of how few effective draws of a particle's move: where modes are no hindrance there are more
	jumpsToMove = 8    // of them after each other move
	jumpCost    = 0.1  // of one of these, about
	leastNear   = 0.03 // mean acceptance; below it q is given up,
	moreNear    = 0.85 // and below this looked for again when there are
	againNear   = 2    // times as many draws, or the square of that after it was given up
	nearDraws   = 8192
	leastWide   = 0.25 // β of states that are wider than the posterior,
	wideDraws   = 1024 // and how many of them there are of each temperature
	forget      = 4    // moves that are accepted
)

// findNear looks for q among the draws, if none is good enough. With the first one draws begin anew, after as many moves as forget in which
// modes the particles came: tempering does not know their weights well.
func (r *sampler) findNear() (err error) {
	again := againNear
	if r.near.q == nil {
		again *= againNear
	}
	if r.s.Near == nil || r.near.from > 0 && (r.near.accepted > moreNear || r.last.n < again*r.near.from) {
		return nil
	}
	all := r.found().Z
	draws := make([][]float64, min(nearDraws, len(all)))
	for k := range draws {
		draws[k] = all[(2*k+1)*len(all)/(2*len(draws))]
	}
	draws = append(draws, r.near.wide...)
	first := r.near.q == nil
	r.near.from = r.last.n
	if r.near.q, err = r.s.Near(draws); err != nil || r.near.q == nil || !first {
		return err
	}
	for k := 0; r.near.q != nil && k <= int(forget/max(r.near.accepted, leastNear)); k++ {
		if err := r.jump(); err != nil {
			return err
		}
	}
	if r.near.q != nil {
		*r.last = chains{}
	}
	return nil
}

// jump proposes a point of q for each particle.
func (r *sampler) jump() error {
	accepted := make([]float64, len(r.islands))
	err := r.round(func(m *mover, l *island, rng *rand.Rand) (err error) {
		accepted[l.number], err = m.jump(&l.now, r.near.q, rng)
		return err
	})
	r.near.accepted = 0
	for _, a := range accepted {
		r.near.accepted += a / float64(len(accepted))
	}
	if r.near.accepted < leastNear {
		r.near.q = nil
	}
	return err
}

// widen keeps some states of a temperature below 1, which are in more places.
func (r *sampler) widen() {
	if r.s.Near == nil || r.beta < leastWide || r.beta == 1 {
		return
	}
	for k := range wideDraws {
		l := r.islands[k%len(r.islands)]
		z := make([]float64, r.d.Dim())
		s, i := &l.pool[k%len(l.pool)], k/len(r.islands)%r.s.Particles
		for j := range z {
			z[j] = s.z[j*r.s.Particles+i]
		}
		r.near.wide = append(r.near.wide, z)
	}
}
