package smc

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// Points that are proposed from a distribution near the posterior do not depend on the last one, and cost log r at one point. Where the posterior
// is near a mixture of normals, as that of few latents often is, they go from mode to mode.
//
//	z' ~ q,    accepted with probability min(1, r(z')·q(z) / (r(z)·q(z')))
//
// Draws of lower temperatures are among those that q is near, too: places that have little of the posterior have more there.
const (
	worthNear         = 5    // by how many times there have to be more draws for that,
	fewNear           = 0.15 // and of how few effective draws of a particle's move: where modes are no hindrance there are more
	jumpsToMove       = 8    // of them after each other move,
	relocationsToMove = 24   // and of relocations, with jumps if there is a q
	jumpCost          = 0.1  // of one of either, about
	leastNear         = 0.03 // mean acceptance; below it q is given up,
	moreNear          = 0.85 // and below this looked for again when there are
	againNear         = 2    // times as many draws, or the square of that after it was given up
	nearDraws         = 8192
	leastWide         = 0.25  // β of states that are wider than the posterior,
	wideDraws         = 1024  // and how many of them there are of each temperature
	mostMissed        = 256   // draws that the mixture has missed, of
	mostLooked        = 16384 // so many,
	missedShare       = 0.15  // and the part of points that are proposed near those
	seenDraws         = 2048  // of those of which q0 is
	forget            = 4     // moves that are accepted
)

// findNear looks for q among the draws, if none is good enough, or if fewer draws are effective than before: a particle has been for long where a good q is
// not. With the first one draws begin anew, after as many moves as forget in which
// modes the particles came: tempering does not know their weights well.
func (r *sampler) findNear(fell bool) (err error) {
	again := againNear
	if r.near.q == nil {
		again *= againNear
	}
	if r.s.Near == nil || !fell && r.near.from > 0 && (r.near.accepted > moreNear || r.last.moves < again*r.near.from) {
		return nil
	}
	all := r.found().Z
	draws := make([][]float64, min(nearDraws, len(all)))
	for k := range draws {
		draws[k] = all[(2*k+1)*len(all)/(2*len(draws))]
	}
	first := r.near.q == nil
	r.near.from = r.last.moves
	r.near.q, err = r.s.Near(append(draws, r.near.wide...))
	if q := r.near.q; err == nil && q != nil && r.relocates() { // modes of little weight are in as many places as there are orders
		var rest Proposal
		if rest, err = r.nearMissed(r.missed(q)); rest != nil {
			r.near.q = &partly{q, rest}
		}
	}
	if err != nil || r.near.q == nil || !first {
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

// gradientFree makes moves without gradients: jumps, if there is a q, and relocations.
func (r *sampler) gradientFree() error {
	if r.near.q != nil {
		if err := r.jump(); err != nil {
			return err
		}
	}
	if !r.relocates() {
		return nil
	}
	return r.round(func(m *mover, l *island, rng *rand.Rand) error {
		_, err := m.relocate(&l.now, alone, rng)
		return err
	})
}

// relocates reports whether relocations at β = 1 have been accepted often enough.
func (r *sampler) relocates() bool { return r.accepted.relocations.Mean >= leastRelocated }

// freeMoves is how many of these there are after each move along trajectories.
func (r *sampler) freeMoves() int {
	switch {
	case r.relocates():
		return relocationsToMove
	case r.near.q != nil:
		return jumpsToMove
	}
	return 0
}

// missed are the draws to which q gives the least of what the posterior does: from there particles would hardly ever come back.
func (r *sampler) missed(q Proposal) (list [][]float64) {
	var which []int
	draws, logR := r.last.draws, r.last.logR
	seen := map[float64]bool{} // log r, of which a particle that has not moved has the same
	for k := 0; k < len(draws); k += max(1, len(draws)/mostLooked) {
		if !seen[logR[k]] {
			seen[logR[k]] = true
			which = append(which, k)
		}
	}
	looked := make([][]float64, len(which))
	for c, k := range which {
		looked[c] = draws[k]
	}
	less := make([]float64, len(which))
	q.LogProbs(less, columns(looked))
	for c, k := range which {
		less[c] -= logR[k]
	}
	order := make([]int, len(less))
	floats.Argsort(less, order)
	for _, i := range order[:min(mostMissed, len(order))] {
		list = append(list, looked[i])
	}
	return list
}

// columns are points as a matrix, latents × points.
func columns(points [][]float64) (z []float64) {
	for i := range points[0] {
		for _, x := range points {
			z = append(z, x[i])
		}
	}
	return z
}

// nearMissed is a distribution near draws that q has missed, in the coordinates of a relabelled one if there are such.
func (r *sampler) nearMissed(draws [][]float64) (Proposal, error) {
	g := r.relabels()
	if g == nil {
		return r.s.Near(draws)
	}
	n := len(draws)
	z, labelled := columns(draws), make([][]float64, n)
	g.relabel(z, make([]float64, n))
	for c := range labelled {
		for i := c; i < len(z); i += n {
			labelled[c] = append(labelled[c], z[i])
		}
	}
	q, err := r.s.Near(labelled)
	if q == nil {
		return nil, err
	}
	return &relabelled{q, g}, nil
}

// relabels is a relocation of values by which they can be labelled, or nil.
func (r *sampler) relabels() *relocation {
	for _, g := range r.relocations {
		if g.labels() != nil {
			return g
		}
	}
	return nil
}

// partly is q, but for a part that is near what q has missed.
type partly struct{ q, rest Proposal }

func (p *partly) LogProbs(dst, z []float64) {
	rest := make([]float64, len(dst))
	p.q.LogProbs(dst, z)
	p.rest.LogProbs(rest, z)
	for k, b := range rest {
		a := math.Log(1-missedShare) + dst[k]
		b += math.Log(missedShare)
		dst[k] = max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b)))
	}
}

func (p *partly) Rand(z []float64, rng *rand.Rand) {
	if rng.Float64() < missedShare {
		p.rest.Rand(z, rng)
	} else {
		p.q.Rand(z, rng)
	}
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
