package smc

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/vi/scout"
)

// Chains are the states of all particles after moves at β = 1: all of them as sums, and every so
// many as they are.
type chains struct {
	n           int       // moves
	sum, square []float64 // of each latent of each particle
	kept        [][]states
	stride      int
	draws       [][]float64 // of the first of those that are kept
	listed      int         // these
}

// mostNumbers are in the states that are kept, but for leastKept of each particle.
const (
	mostNumbers = 1 << 22
	leastKept   = 32
)

func (c *chains) add(islands []*island) {
	dim := len(islands[0].now.z)
	if c.sum == nil {
		c.sum, c.square, c.stride = make([]float64, dim*len(islands)), make([]float64, dim*len(islands)), 1
	}
	for k, l := range islands {
		sum, square := c.sum[k*dim:][:dim], c.square[k*dim:][:dim]
		for i, x := range l.now.z {
			sum[i] += x
			square[i] += x * x
		}
	}
	if c.n++; c.n%c.stride != 0 {
		return
	}
	if (len(c.kept)+1)*len(islands)*dim > mostNumbers && len(c.kept) >= leastKept {
		for k := 0; k < len(c.kept)/2; k++ {
			c.kept[k] = c.kept[2*k+1]
		}
		c.kept = c.kept[:len(c.kept)/2]
		c.draws, c.listed = nil, 0
		c.stride *= 2
		if c.n%c.stride != 0 {
			return
		}
	}
	var all []states
	for _, l := range islands {
		from := &l.now
		if l.phase != nil {
			from = &l.complete
		}
		s := newStates(dim/len(l.now.logR), len(l.now.logR))
		s.set(from)
		all = append(all, s)
	}
	c.kept = append(c.kept, all)
}

// rows are the states that are kept as draws, and the island of each.
func (c *chains) rows(dim int) (draws [][]float64, island []int) {
	for _, all := range c.kept[c.listed:] {
		for _, s := range all {
			n := len(s.logR)
			numbers := make([]float64, len(s.z))
			for j := range dim {
				for i, x := range s.z[j*n:][:n] {
					numbers[i*dim+j] = x
				}
			}
			for i := range n {
				c.draws = append(c.draws, numbers[i*dim:][:dim:dim])
			}
		}
	}
	c.listed = len(c.kept)
	for _, all := range c.kept {
		for k, s := range all {
			for range s.logR {
				island = append(island, k)
			}
		}
	}
	return c.draws, island
}

// effective is how many draws are effective for the mean of the latent that has the fewest: all
// particles' variance over that of the mean, by the variance of the means of single particles.
func (c *chains) effective(dim, islands, particles int) float64 {
	least, n := math.Inf(1), float64(c.n)
	total := float64(islands * particles)
	for r := range dim {
		mean, square, means := 0.0, 0.0, 0.0
		for k := range islands {
			at := (k*dim + r) * particles
			for i := range particles {
				m := c.sum[at+i] / n
				mean += m
				means += m * m
				square += c.square[at+i] / n
			}
		}
		mean /= total
		between, variance := means/total-mean*mean, square/total-mean*mean
		if variance > 1e-24*mean*mean {
			least = min(least, total*variance/max(between, 1e-300))
		}
	}
	return least
}

// since are the sums of the moves after those of before.
func (c *chains) since(before *chains) *chains {
	d := &chains{n: c.n - before.n, sum: slices.Clone(c.sum), square: slices.Clone(c.square)}
	floats.Sub(d.sum, before.sum)
	floats.Sub(d.square, before.square)
	return d
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
	if more < worthLonger || r.near.q != nil || c.n < 2*r.pace.learned {
		return
	}
	r.pace.learned = c.n
	for _, l := range r.islands {
		l.pool = l.recent
	}
	all := r.even()
	r.learn(all, float64(len(all))/2)
}

// A pace is that of moves since a length of trajectories was chosen.
type pace struct {
	from      chains
	gradients int
	settled   bool
	rate      float64 // effective draws of a gradient with the length before; 0 for the first
	learned   int     // moves of which the covariance of velocities is
}

// lengthen tries longer trajectories, and goes back where they give fewer effective draws of a gradient.
func (r *sampler) lengthen(more float64) {
	c, per := r.last, r.s.Islands*r.s.Particles
	if r.pace.settled || r.near.q != nil || c.n < r.pace.from.n+firstLook {
		return
	}
	of := c
	if r.pace.from.n > 0 {
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
	case more < worthLonger || effective > slowMixing*float64(of.n*per):
		return
	}
	r.long *= 2
	r.pace.from, r.pace.gradients, r.pace.rate = chains{n: c.n, sum: slices.Clone(c.sum), square: slices.Clone(c.square)}, gradients, rate
}

// finish moves the particles at β = 1 until enough draws are effective.
func (r *sampler) finish() error {
	r.pool = r.pool[:0]
	for _, l := range r.islands {
		r.pool = append(r.pool, l.pool...)
	}
	r.learn(r.even(), float64(2*r.s.Particles*r.s.Islands)) // of the posterior itself
	for range r.s.Moves {
		if err := r.move(); err != nil {
			return err
		}
	}
	c, goal, next := &chains{}, float64(r.s.Effective), firstLook
	r.last, r.pace.gradients, r.pace.learned = c, r.gradients(), r.s.Moves/2
	for c.n < r.s.MostMoves && !r.over() {
		move := r.move
		if r.near.q != nil && c.n%(1+jumpsToMove) != 0 {
			move = r.jump
		}
		if err := move(); err != nil {
			return err
		}
		if err := r.keep(); err != nil {
			return err
		}
		effective := c.effective(r.d.Dim(), r.s.Islands, r.s.Particles)
		r.report(c.n, effective, goal)
		if r.s.Enough == nil && c.n >= fewestMoves && effective >= goal {
			return nil
		}
		if c.n >= next {
			more := goal / effective
			if r.s.Enough != nil {
				more = r.s.Enough(r.found())
				goal = spare * more * effective
			}
			if more <= 1 {
				return nil
			}
			if more > worthNear && effective < fewNear*float64(c.n*r.s.Islands*r.s.Particles) {
				if err := r.findNear(); err != nil {
					return err
				}
			}
			r.relearn(more)
			r.lengthen(more)
			next = max(firstLook, 1+int(float64(c.n)*min(spare*more, mostFurther)))
		}
		if most := float64(r.s.MostMoves); c.n >= r.s.MostMoves/5 && goal/effective*float64(c.n) > most {
			return nil
		}
	}
	return nil
}

// even are equal weights of the states of all pools.
func (r *sampler) even() []float64 {
	return slices.Repeat([]float64{1}, r.s.Islands*r.s.Particles*len(r.islands[0].pool))
}

// keep adds the states of all particles to the chains.
func (r *sampler) keep() error {
	if r.s.Complete != nil && (r.last.n+1)%max(1, r.last.stride) == 0 {
		err := r.round(func(m *mover, l *island, rng *rand.Rand) error { m.completed(l, r.last.n, rng); return nil })
		if err != nil {
			return err
		}
	}
	for _, l := range r.islands {
		if len(l.recent) < mostLearned {
			l.recent = append(l.recent, newStates(r.d.Dim(), r.s.Particles))
		}
		l.recent[r.last.n%len(l.recent)].set(&l.now)
	}
	r.last.add(r.islands)
	return nil
}

// After how many moves it is seen whether there are enough draws: of the mean that is known the least, and of what is asked for.
const (
	fewestMoves = 4
	firstLook   = 8
)

// spare is how many times as many draws as seem to be needed are made, but mostFurther at most before that is looked at again: few draws
// do not know it well.
const (
	spare       = 1.05
	mostFurther = 1.5
)

// result is what has been found; if the run was ended early, by weights from where it is.
func (r *sampler) result() (Result, error) {
	var err error
	beta := r.beta
	if e := r.ctx.Err(); e != nil {
		err = fmt.Errorf("stopped at β = %.3g: %w", r.beta, context.Cause(r.ctx))
	}
	if r.last == nil || len(r.last.kept) == 0 {
		if failed := r.raise(1); failed != nil {
			return Result{}, failed
		}
		r.last = &chains{}
		if failed := r.keep(); failed != nil {
			return Result{}, failed
		}
	}
	out := r.found()
	out.Beta = beta
	out.Diagnose(r.d.Arrangement())
	return out, err
}

// gradients are those of all movers.
func (r *sampler) gradients() (n int) {
	for _, m := range r.movers {
		n += m.gradients
	}
	return n
}

// found is the result without diagnostics of the draws.
func (r *sampler) found() Result {
	out := Result{Beta: r.beta}
	out.Z, out.Island = r.last.rows(r.d.Dim())
	for _, l := range r.islands {
		out.Islands = append(out.Islands, l.evidence)
	}
	out.LogEvidence = scout.Combine(out.Islands)
	out.Chains, out.Temperatures = r.s.Islands*r.s.Particles, r.temperatures
	out.Effective = r.last.effective(r.d.Dim(), r.s.Islands, r.s.Particles)
	out.Acceptance, out.Step = r.accepted.end.Mean, r.step
	out.Gradients = r.gradients()
	for _, m := range r.movers {
		out.Crossings += m.walls.crossings
	}
	return out
}
