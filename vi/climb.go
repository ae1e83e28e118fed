package vi

import (
	"context"
	"fmt"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/climb"
)

// newClimb is the fit by a climb, which goes on from a posterior with states if it is not nil.
func newClimb(ctx context.Context, d *graph.Density, s job, m monitor, from *Posterior) (*Posterior, error) {
	c := s.toClimb(d)
	c.Watch = m.Watch
	fits, err := climb.New(d, c)
	if err == nil && from != nil {
		err = fits.Restore(from.states)
	}
	if err != nil {
		return nil, fmt.Errorf("vi: %w", err)
	}
	switch err := fits.Begin(ctx); {
	case err != nil && ctx.Err() == nil:
		return nil, fmt.Errorf("vi: %w", err)
	case err != nil && from == nil:
		return &Posterior{Density: d, Q: PriorStart(d), Settings: s.settings()}, fmt.Errorf("vi: %w", err)
	case err != nil:
		return from, fmt.Errorf("vi: %w", err)
	}
	r, err := fits.Run(ctx)
	if r.Q == nil {
		return nil, fmt.Errorf("vi: %w", err)
	}
	p := ofClimb(d, s, r)
	defer m.report(p)
	if err != nil {
		return p, fmt.Errorf("vi: %w", err)
	}
	return p, p.conclude(ctx, m)
}

// toClimb is the climb that the settings ask for, of d.
func (s job) toClimb(d *graph.Density) climb.Job {
	c := climb.Job{Settings: s.climb, Seed: s.Seed, Budget: s.Budget}
	if s.Checkpoint != "" {
		c.Save = func(r climb.Result) error { return ofClimb(d, s, r).checkpoint() }
	}
	return c
}

// ofClimb is the posterior of d that a climb has found.
func ofClimb(d *graph.Density, s job, r climb.Result) *Posterior {
	return &Posterior{
		Density: d, Q: r.Q, Steps: r.Steps, Optimizer: r.Optimizer, Trace: r.Trace, Restarts: r.Restarts, Warnings: r.Warnings,
		Settings: s.settings(), states: r.States, findings: &findings{q: r.Q},
	}
}
