package vi

import (
	"context"
	"fmt"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/climb"
)

// newClimb is the fit by a climb, which goes on from a posterior with states if it is not nil.
func newClimb(ctx context.Context, d *graph.Density, s job, m monitor, from *Posterior) (*Posterior, error) {
	c := s.toClimb()
	if c.Watch = m.Watch; s.Checkpoint != "" {
		c.Save = func(r climb.Result) error { return ofClimb(d, s, r).checkpoint() }
	}
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
