package smc

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/facetvi/facet/vi/scout"
)

// Chains are the states of all particles after moves at β = 1: all of them as sums, and every so
// many as they are.
type chains struct {
	n           int       // moves
	sum, square []float64 // of each latent of each particle
	kept        [][]states
	stride      int
}

// mostNumbers are in the states that are kept, but for leastKept of each particle.
const (
	mostNumbers = 1 << 21
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

// effective is how many draws are effective for the mean of the latent that has the fewest: all
// particles' variance over that of the mean, by the variance of the means of single particles.
func (c *chains) effective(dim, islands, particles int) float64 {
	least := math.Inf(1)
	total := float64(islands * particles)
	for r := range dim {
		mean, square, means := 0.0, 0.0, 0.0
		for k := range islands {
			at := (k*dim + r) * particles
			for i := range particles {
				m := c.sum[at+i] / float64(c.n)
				mean += m
				means += m * m
				square += c.square[at+i] / float64(c.n)
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

// finish moves the particles at β = 1 until enough draws are effective.
func (r *sampler) finish() error {
	r.pool = r.pool[:0]
	for _, l := range r.islands {
		r.pool = append(r.pool, l.pool...)
	}
	r.learn(slices.Repeat([]float64{1}, r.s.Islands*r.s.Particles*r.s.Moves)) // of the posterior itself
	for range r.s.Moves {
		if err := r.move(); err != nil {
			return err
		}
	}
	c, goal, next := &chains{}, float64(r.s.Effective), firstLook
	r.last = c
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
			if more > worthNear {
				if err := r.findNear(); err != nil {
					return err
				}
			}
			next = max(firstLook, 1+int(float64(c.n)*min(spare*more, mostFurther)))
		}
		if most := float64(r.s.MostMoves); c.n >= r.s.MostMoves/5 && goal/effective*float64(c.n) > most {
			return nil
		}
	}
	return nil
}

// keep adds the states of all particles to the chains.
func (r *sampler) keep() error {
	if r.s.Complete != nil && (r.last.n+1)%max(1, r.last.stride) == 0 {
		err := r.round(func(m *mover, l *island, rng *rand.Rand) error { m.completed(l, r.last.n, rng); return nil })
		if err != nil {
			return err
		}
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

// found is the result without diagnostics of the draws.
func (r *sampler) found() Result {
	out := Result{Beta: r.beta}
	for _, all := range r.last.kept {
		for k, s := range all {
			n := len(s.logR)
			for i := range n {
				z := make([]float64, r.d.Dim())
				for j := range z {
					z[j] = s.z[j*n+i]
				}
				out.Z, out.Island = append(out.Z, z), append(out.Island, k)
			}
		}
	}
	for _, l := range r.islands {
		out.Islands = append(out.Islands, l.evidence)
	}
	out.LogEvidence = scout.Combine(out.Islands)
	out.Chains, out.Temperatures = r.s.Islands*r.s.Particles, r.temperatures
	out.Effective = r.last.effective(r.d.Dim(), r.s.Islands, r.s.Particles)
	out.Acceptance, out.Step = r.acceptance.Mean, r.step
	for _, m := range r.movers {
		out.Gradients += m.gradients
		out.Crossings += m.walls.crossings
	}
	return out
}
