package smc

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
)

// finish moves the particles at β = 1 until enough draws are effective.
func (r *sampler) finish() error {
	r.pool = r.pools()
	r.learn(r.even(), float64(2*r.s.Particles*r.s.Islands)) // of the posterior itself
	for _, g := range r.relocations {
		g.learn(r.pool)
	}
	for range r.s.Moves {
		if err := r.move(); err != nil {
			return err
		}
	}
	c, goal, next, spent := &chains{}, float64(r.s.Effective), firstLook, 0.0
	r.last, r.pace.gradients, r.pace.learned = c, r.gradients(), r.s.Moves/2
	for most := float64(r.s.MostMoves); spent < most && !r.over(); {
		move, cost, trajectories := r.move, 1.0, c.moves%(1+r.freeMoves()) == 0
		if !trajectories {
			move, cost = r.gradientFree, jumpCost
		}
		spent += cost
		if err := move(); err != nil {
			return err
		}
		if err := r.keep(trajectories); err != nil {
			return err
		}
		effective := c.effective(r.d.Dim(), r.s.Islands, r.s.Particles)
		r.report(c.moves, effective, goal)
		if r.s.Enough == nil && c.moves >= fewestMoves && effective >= goal {
			return nil
		}
		if c.moves >= next {
			more, by := goal/effective, spare
			if r.s.Enough != nil {
				if more = r.leastStates() / float64(c.n); more <= 1 || r.s.Complete == nil {
					more = max(r.s.Enough(r.found()), more)
				} else { // no answer would end the run, which goes on to the least number of states
					by = 1
				}
				goal = by * more * effective
			}
			if more <= 1 {
				return nil
			}
			fell := r.near.accepted > fewNear && r.relocates() && effective < r.near.effective
			if r.near.effective = effective; fell || more > worthNear && effective < fewNear*float64(c.moves*r.s.Islands*r.s.Particles) {
				if err := r.findNear(fell); err != nil {
					return err
				}
			}
			r.relearn(more)
			r.lengthen(more)
			next = max(firstLook, 1+int(float64(c.moves)*min(by*more, mostFurther)))
		}
		if spent >= most/5 && goal/effective*spent > most {
			return nil
		}
	}
	return nil
}

// After how many moves it is seen whether there are enough draws: of the mean that is known the least, and of what is asked for.
const (
	fewestMoves = 4
	firstLook   = 8
)

// How many states are kept of each particle at least, if there is space for them. Of fewer, chains that a neck keeps away from a part of the posterior do
// not differ enough for standard errors to show it. Where latents are summed out a value of probability .006 has 600 draws of 512 particles.
const (
	fewestStates = 64
	rareStates   = 192
)

// leastStates is how many states of each particle there are at least, where Enough is asked.
func (r *sampler) leastStates() float64 {
	least := float64(fewestStates)
	if r.s.Complete != nil {
		least = rareStates
	}
	return min(least, mostNumbers/float64(r.d.Dim()*r.s.Islands*r.s.Particles))
}

// spare is how many times as many draws as seem to be needed are made, but mostFurther at most before that is looked at again: few draws
// do not know it well.
const (
	spare       = 1.05
	mostFurther = 1.5
)

// keep adds the states of all particles to the chains after a move, and those half-way if it was along trajectories and latents are summed out: some of
// their values are rare, and where these are drawn changes faster than what the moves are slow for.
func (r *sampler) keep(trajectories bool) error {
	if trajectories && r.halfway() {
		if err := r.add(func(l *island) *states { return &l.half }); err != nil {
			return err
		}
	}
	for _, l := range r.islands {
		if len(l.recent) < mostLearned {
			l.recent = append(l.recent, newStates(r.d.Dim(), r.s.Particles))
		}
		l.recent[r.last.moves%len(l.recent)].set(&l.now)
	}
	r.last.moves++
	return r.add(func(l *island) *states { return &l.now })
}

// halfway reports whether states half-way of trajectories are kept.
func (r *sampler) halfway() bool { return r.last != nil && r.s.Complete != nil }

// add adds states of all particles to the chains.
func (r *sampler) add(of func(l *island) *states) error {
	if r.s.Complete != nil && (r.last.n+1)%max(1, r.last.stride) == 0 {
		err := r.round(func(m *mover, l *island, rng *rand.Rand) error { m.completed(l, of(l), r.last.n, rng); return nil })
		if err != nil {
			return err
		}
	}
	r.last.add(r.islands, of)
	return nil
}

// Where many more moves are needed, and the latent that is known the least has few effective draws of each, trajectories that are twice as
// long are tried.
const (
	worthLonger = 2   // by how many times there have to be more draws
	slowMixing  = 0.3 // effective draws of a particle's move
	mostLearned = 16  // moves of which the covariance is, the last ones
)

// relearn makes the covariance of velocities that of the draws, where that is worth while: those that it is of so far were few.
func (r *sampler) relearn(more float64) {
	c := r.last
	if more < worthLonger || r.near.q != nil || c.moves < 2*r.pace.learned {
		return
	}
	r.pace.learned = c.moves
	for _, l := range r.islands {
		l.pool = l.recent
	}
	all := r.even()
	r.learn(all, float64(len(all))/2)
}

// lengthen tries longer trajectories, and goes back where they give fewer effective draws of a gradient.
func (r *sampler) lengthen(more float64) {
	c, per := r.last, r.s.Islands*r.s.Particles
	if r.pace.settled || r.freeMoves() > 0 || c.moves < r.pace.from.moves+firstLook {
		return
	}
	of := c
	if r.pace.from.moves > 0 {
		of = c.since(&r.pace.from)
	}
	gradients := r.gradients()
	effective := of.effective(r.d.Dim(), r.s.Islands, r.s.Particles)
	rate := effective / float64(gradients-r.pace.gradients)
	switch {
	case rate < r.pace.rate:
		r.long /= 2
		r.pace.settled = true
		return
	case more < worthLonger || effective > slowMixing*float64(of.moves*per):
		return
	}
	r.long *= 2
	r.pace.from, r.pace.gradients, r.pace.rate = chains{moves: c.moves, n: c.n, sum: slices.Clone(c.sum), square: slices.Clone(c.square)}, gradients, rate
}

// result is what has been found; if the run was ended early, by weights from where it is.
func (r *sampler) result() (Result, error) {
	var err error
	beta := r.beta
	if e := r.ctx.Err(); e != nil {
		err = fmt.Errorf("stopped at β = %.3g: %w", r.beta, context.Cause(r.ctx))
	}
	if r.last == nil || len(r.last.draws) == 0 {
		if failed := r.raise(1); failed != nil {
			return Result{}, failed
		}
		r.last = &chains{}
		if failed := r.keep(false); failed != nil {
			return Result{}, failed
		}
	}
	out := r.found()
	out.Beta = beta
	if !r.s.Undiagnosed {
		out.Diagnose(r.d.Arrangement())
	}
	return out, err
}
