package vi

import (
	"cmp"
	"context"
	"fmt"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/climb"
)

// Fit fits a distribution to the posterior of d.
//
// By default it looks for the cells that hold the posterior, gives each a distribution,
// and judges their mixture: see Cells, Posterior.Cells and Posterior.Verdict. If that cannot be trusted, or if there are more
// than 300 latents, it goes on with a Sampler. For a hierarchy, a ranking, or a density that jumps at more than 100 curves, or at guards of more than 50 latents, the Sampler is first,
// and cells only if it fails. With the method Climb
// it maximises the ELBO of one family by stochastic gradient
// ascent: from the best start that it finds (see Climb.Start), by Adam, to the
// average of the last iterates (see Climb.Average). A model with parameters (see graph.Model.Param) is
// fitted by a Climb, of family.FullRank by default: the ELBO is maximised by the parameters together
// with the distribution.
//
// A climb stops early if ctx is done, if OnStep fails, or if a gradient is not
// finite. The error then says why and names the step and the latents, and the
// fit beside it holds the last good state, from which Resume goes on. If ctx stops a sampler, the fit beside the
// error has the draws that there are; their verdict is not to trust them if they had not come to the posterior. If it stops a search for cells, the fit
// is a normal at the prior's centre, with the same verdict. The fit is nil only if settings make no sense or no cell has a
// finite density.
func Fit(ctx context.Context, d *graph.Density, settings Settings) (*Posterior, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	s := newJob(d, settings)
	if err := cmp.Or(s.check(d), s.unused()); err != nil {
		return nil, wrapped(err)
	}
	p, err := s.run(ctx, d, nil)
	return p, wrapped(err)
}

// run makes the fit, which goes on from a climb's if from is not nil.
func (s job) run(ctx context.Context, d *graph.Density, from *Posterior) (*Posterior, error) {
	release, err := s.lockCheckpoint(d)
	if err != nil {
		return nil, err
	}
	defer release()
	m := newMonitor(s)
	defer m.End()
	switch {
	case from != nil || !s.searches && !s.sampled:
		return runClimb(ctx, d, s, m, from)
	case s.sampled || s.tooLarge(d):
		s.searches, s.sampled = false, true
		return runSampler(ctx, d, s, m)
	}
	return runCells(ctx, d, s, m)
}

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

// Resume goes on with a fit that was interrupted, or saved on the way: it ends
// as if nothing had happened, to the last bit of everything but times. Set what
// Save cannot keep in p.Settings first: Progress, Logger, Checkpoint, and Climb.OnStep.
// A higher Climb.Steps makes the fit longer, and a higher Climb.Restarts
// adds restarts from further starts, the same as if they had been asked for at
// once. Settings.Budget counts anew. A fit that is done is returned as it is. A sampler goes on from draws of the last temperature that
// it had come to, so it is another run with the same posterior. A fit of cells that is not done, or that its Budget has cut short, begins again.
func (p *Posterior) Resume(ctx context.Context) (*Posterior, error) {
	if err := p.usable(); err != nil {
		return nil, err
	}
	if ctx == nil {
		return nil, errNoContext
	}
	if p.hasCells() && p.findings.Cut == nil {
		return p, nil
	}
	if len(p.states) == 0 && p.reached == nil {
		return Fit(ctx, p.Density, p.Settings)
	}
	s := p.job()
	if err := s.check(p.Density); err != nil {
		return nil, wrapped(err)
	}
	if s.from = p.reached; s.from != nil {
		q, err := s.run(ctx, p.Density, nil)
		return q, wrapped(err)
	}
	was := p.states[0].Start.Family()
	if s.climb.Family != was {
		return nil, fmt.Errorf("vi: Climb.Family: a fit of %s cannot go on in %s; start another one at Posterior.Q", was.Name(), s.climb.Family.Name())
	}
	if s.climb.Restarts < len(p.states) {
		return nil, fmt.Errorf("vi: Climb.Restarts = %d is fewer than the %d fits to go on with", s.climb.Restarts, len(p.states))
	}
	q, err := s.run(ctx, p.Density, p)
	return q, wrapped(err)
}
