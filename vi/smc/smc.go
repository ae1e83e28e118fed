package smc

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/memory"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/scout"
)

// Run samples the posterior of d. If ctx ends it, it returns what is there, with an error.
func Run(ctx context.Context, d *graph.Density, s Settings) (Result, error) {
	r, err := run(ctx, d, s)
	if err != nil {
		err = fmt.Errorf("smc: %w", err)
	}
	return r, err
}

func run(ctx context.Context, d *graph.Density, s Settings) (Result, error) {
	if ctx == nil || d == nil {
		return Result{}, errors.New("a nil context or density")
	}
	if d.Params() > 0 {
		return Result{}, fmt.Errorf("%d parameters without a prior", d.Params())
	}
	s, err := s.checked(d.Dim())
	if err != nil {
		return Result{}, err
	}
	required, err := d.Engine().Requirements()
	if err != nil {
		return Result{}, err
	}
	states := float64(s.Islands) * float64(s.Particles) * float64(2*s.Moves+1)
	if err := memory.Check("the particles", 8*float64(d.Dim())*states); err != nil {
		return Result{}, err
	}
	if len(s.Draws) == 0 {
		found, err := scout.Run(ctx, d, scout.Settings{Islands: 4, Particles: 128, Seed: parallel.Mix(s.Seed, 1), Over: s.Over})
		if errors.Is(err, scout.ErrNowhere) && required != nil { // which the prior hardly ever meets
			err, found.Z = nil, priorDraws(d, s.Seed)
		}
		if err != nil {
			return Result{}, err
		}
		s.Draws = found.Z
	}
	r, err := newSampler(ctx, d, s)
	if err != nil {
		return Result{}, err
	}
	if r.required = required; required != nil {
		r.guide = newGuide(d.Arrangement(), required, s.Draws)
	}
	return r.run()
}

func (r *sampler) run() (Result, error) {
	if err := r.pilot(); err != nil {
		return Result{}, err
	}
	root := r.start.power(0.5, same, one)
	for k := range r.s.Moves {
		err := r.round(func(m *mover, l *island, rng *rand.Rand) error { return m.draw(&l.pool[k], root, rng) })
		if err != nil {
			return Result{}, err
		}
	}
	if r.required != nil {
		if err := r.satisfy(); err != nil {
			return Result{}, err
		}
	}
	for r.beta < 1 && !r.over() {
		beta, err := r.nextBeta()
		if err != nil {
			return Result{}, err
		}
		if err := r.raise(beta); err != nil {
			return Result{}, err
		}
		if err := r.temper(); err != nil {
			return Result{}, err
		}
	}
	if r.beta == 1 && !r.over() {
		if err := r.finish(); err != nil {
			return Result{}, err
		}
	}
	return r.result()
}
