package vi

import (
	"cmp"
	"context"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/climb"
)

// runClimb is the fit by a climb, which goes on from a posterior with states if it is not nil.
func runClimb(ctx context.Context, d *graph.Density, s job, m monitor, from *Posterior) (*Posterior, error) {
	c := s.toClimb()
	if c.Watch = m.Watch; s.Checkpoint != "" {
		c.Save = func(r climb.Result) error { return ofClimb(d, s, r).checkpoint() }
	}
	fits, err := climb.New(d, c)
	if err == nil && from != nil {
		err = fits.Restore(from.states)
	}
	if err != nil {
		return nil, err
	}
	switch err := fits.Begin(ctx); {
	case err != nil && ctx.Err() == nil:
		return nil, err
	case err != nil:
		return cmp.Or(from, s.begun(d)), err
	}
	r, err := fits.Run(ctx)
	if r.Q == nil {
		return nil, err
	}
	p := ofClimb(d, s, r)
	defer m.report(p)
	if err == nil {
		err = p.conclude(ctx, m)
	}
	return p, err
}
