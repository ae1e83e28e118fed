package smc

import (
	"context"
	"testing"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
)

// Free are settings with walls at which nothing is paid: what is left of them is that signs are a state.
func (s Settings) Free() Settings {
	s.wrong = func(w *walls) { w.jumps = free{} }
	return s
}

type free struct{}

func (free) At(int, graph.Point) float64 { return 0 }

// OneWay are settings with walls at which what goes up to the + side pays, and what comes back is not paid. Paths do not reverse.
func (s Settings) OneWay() Settings {
	s.wrong = func(w *walls) { w.jumps = oneWay{w.jumps, w} }
	return s
}

type oneWay struct {
	jumper
	w *walls
}

func (o oneWay) At(l int, at graph.Point) float64 {
	if o.w.side[o.w.wall[l]] > 0 {
		return 0
	}
	return o.jumper.At(l, at)
}

// Allocations are those in a move of a block of 64 points.
func Allocations(d *graph.Density, draws [][]float64) (float64, error) {
	r, err := newSampler(context.Background(), d, Settings{Islands: 2, Particles: 64, Moves: 2, Draws: draws})
	if err != nil {
		return 0, err
	}
	root, rng := r.start.power(0.5, same, one), parallel.NewRand(1)
	m := r.movers[0]
	for _, l := range r.islands {
		for k := range l.pool {
			if err := m.draw(&l.pool[k], root, rng); err != nil {
				return 0, err
			}
		}
	}
	if err := r.raise(0.5); err != nil {
		return 0, err
	}
	now := &r.islands[0].now
	return testing.AllocsPerRun(20, func() {
		for _, kind := range []int{anew, few, across} {
			if _, err = m.hamiltonian(now, rng); err == nil {
				err = m.residual(now, kind, rng)
			}
		}
	}), err
}
