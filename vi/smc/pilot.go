package smc

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Of many latents the draws of a scout are not where the posterior is, and a path from there is long. A pilot moves them at β = 1 until log r
// neither rises nor falls, and q0 is of its last states. Which mode has how much weight it does not know, as draws need not.
const (
	manyLatents = 100 // have a pilot if they are more
	pilotRounds = 16  // at most, of as many moves as there are at a temperature
	pilotChange = 0.2 // of log r that is one, in standard deviations of that of a normal
	pilotCalm   = 2   // rounds without it end the pilot
)

// pilot finds q0, and leaves the rest as if nothing had been.
func (r *sampler) pilot() error {
	if r.d.Dim() <= manyLatents || r.required != nil {
		return nil
	}
	if r.elimination = newElimination(r.d); r.elimination == nil {
		return nil
	}
	progress := r.s.Progress
	r.beta, r.s.Progress = 1, nil
	n, change := r.s.Islands*r.s.Particles, pilotChange*math.Sqrt(float64(r.d.Dim())/2)
	err := r.round(func(m *mover, l *island, _ *rand.Rand) error { return m.from(l, r.s.Draws, n) })
	before, calm := math.Inf(-1), 0
	for k := 0; err == nil && k < pilotRounds && calm < pilotCalm && !r.over(); k++ {
		r.learn(r.even(), float64(n))
		r.path.pool = r.pools()
		err = r.temper()
		if progress != nil {
			progress(Progress{})
		}
		now := r.middle()
		if calm++; !(math.Abs(now-before) < change) {
			calm = 0
		}
		before = now
	}
	points := r.points(r.islands)
	q := newNormal(points, nil, float64(2*n), 1, r.elimination)
	q.scales = newScales(q.conditionals, q.mean, points)
	r.begin(q)
	r.beta, r.accepted, r.s.Progress = 0, acceptance{}, progress
	return err
}

// from makes the states of l some of draws, of which all islands have n.
func (m *mover) from(l *island, draws [][]float64, n int) error {
	for i := range m.n {
		for j, x := range draws[(l.number*m.n+i)*len(draws)/n] {
			l.now.z[j*m.n+i] = x
		}
	}
	err := m.evaluate(&l.now)
	for k := range l.pool {
		l.pool[k].set(&l.now)
	}
	return err
}

// middle is the median of log r of all pools.
func (r *sampler) middle() float64 {
	var all []float64
	for _, s := range r.pools() {
		all = append(all, s.logR...)
	}
	slices.Sort(all)
	return all[len(all)/2]
}
