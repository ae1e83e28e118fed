package vi

import (
	"context"
	"fmt"
	"math"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/streams"
)

// A Restart is what became of one of the fits that Climb.Restarts asks for.
type Restart struct {
	Start family.Q
	Q     family.Q // the result
	// ELBO is that of Q, by the same ε for all restarts, with rare sides of guards.
	ELBO  Estimate
	Steps int    // steps taken
	Err   string // why it stopped early; empty if it did not
	Kept  bool   // it is the best, and the posterior
}

// restart is the settings of fit r from start. The first has the streams that it
// would have alone.
func (s job) restart(r int, start family.Q) job {
	s.Start = start
	if r > 0 {
		s.Seed = parallel.Mix(s.Seed, uint64(r))
	}
	return s
}

// runAll runs fits side by side and keeps the best.
func runAll(ctx context.Context, d *graph.Density, s job, fits []*fitter, m *monitor) (*Posterior, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if err := m.begin(d, fits, stop); err != nil {
		return nil, fmt.Errorf("vi: %w", err)
	}
	for _, f := range fits {
		f.budget = m.Budget
	}
	errs := make([]error, len(fits))
	err := parallel.Do(parallel.Processors(len(fits)), len(fits), func(_, r int) error {
		errs[r] = fits[r].run(ctx, m)
		return m.ended(fits[r], errs[r])
	})
	if err != nil {
		errs = append(errs, err)
	}
	p, err := assemble(d, s, m.states)
	if err != nil {
		return nil, err
	}
	defer m.report(p)
	for r, err := range errs { // who fails alone does not fail the others
		if err != nil && (r >= len(fits) || !fits[r].failed || p.Restarts[r].Kept) {
			return p, where(r, len(fits), err)
		}
	}
	return p, p.conclude(ctx, m)
}

func where(r, n int, err error) error {
	if n > 1 && r < n {
		return fmt.Errorf("vi: restart %d: %w", r, err)
	}
	return fmt.Errorf("vi: %w", err)
}

// assemble makes the posterior of fits in the given states: the one with the
// best ELBO, of those that have not failed if there are any.
func assemble(d *graph.Density, s job, states []fitState) (*Posterior, error) {
	p := &Posterior{Density: d, Settings: s.settings(), states: states}
	kept := 0
	for r := range states {
		st := &states[r]
		q := st.result()
		elbo, err := compare(d, q, parallel.Mix(s.Seed, streams.Judge))
		if err != nil {
			return nil, fmt.Errorf("vi: %w", err)
		}
		p.Restarts = append(p.Restarts, Restart{Start: st.Start, Q: q, ELBO: elbo, Steps: st.Step, Err: st.Err})
		if better(p.Restarts[r], p.Restarts[kept]) {
			kept = r
		}
	}
	p.Restarts[kept].Kept = true
	for r, st := range states {
		p.warn(r, &st)
	}
	st := states[kept]
	p.Q, p.Steps, p.Optimizer, p.Trace = p.Restarts[kept].Q, st.Step, st.optimizer(), st.Trace
	p.findings = &findings{q: p.Q}
	p.Warnings = append(p.Warnings, p.runaways()...)
	return p, nil
}

// compare is an ELBO to compare q by with others: by the same samples of each, and
// some on the rare sides of guards, which may bring most.
func compare(d *graph.Density, q family.Q, seed uint64) (Estimate, error) {
	return measured(q, func(q family.Q) (Estimate, error) {
		r, err := check.LikeliestRareSides(d, q, compareSamples, summarySides, seed)
		if err != nil { // log r is not finite somewhere
			return check.ELBO(d, q, compareSamples, seed)
		}
		return r.Corrected, nil
	})
}

func better(a, b Restart) bool {
	switch {
	case (a.Err == "") != (b.Err == ""):
		return a.Err == ""
	case math.IsNaN(b.ELBO.Value):
		return !math.IsNaN(a.ELBO.Value)
	}
	return a.ELBO.Value > b.ELBO.Value
}

// warn notes what a user should know of restart r.
func (p *Posterior) warn(r int, st *fitState) {
	s, now := p.job(), p.Restarts[r]
	switch {
	case now.Err != "" && !now.Kept:
		p.Warnings = append(p.Warnings, fmt.Sprintf("restart %d failed: %s", r, now.Err))
	case now.Kept && st.Cut:
		p.Warnings = append(p.Warnings, fmt.Sprintf("Settings.Budget = %v of CPU time was over after step %d of %d: the fit depends on the machine; resume it to go on", s.Budget, st.Step, s.Steps))
	case now.Kept && s.Stop == After && st.Step >= s.Steps && (unfinished(st.Window.Gain) || st.Window.Steep != "" || p.runawayWarning(r, st) != ""):
		p.Warnings = append(p.Warnings, p.unfinishedWarning(r, st))
	case now.Kept && s.Stop == Automatic && !st.Done && st.Step >= s.Steps:
		p.Warnings = append(p.Warnings, fmt.Sprintf(
			"the fit has not settled in %d steps: the ELBO changed by %v over the last window, and the tolerance is %v; resume it with more Steps, or raise Samples%s%s",
			s.Steps, st.Window.Gain, s.Climb.Tolerance, st.Window.steepWarning(), p.runawayWarning(r, st)))
	}
}

// unfinishedWarning says what still changed when the steps of restart r were over.
func (p *Posterior) unfinishedWarning(r int, st *fitState) string {
	return fmt.Sprintf("the fit has not finished in %d steps: the ELBO still rose by %v towards the end; resume it with more Steps%s%s",
		st.Step, st.Window.Gain, st.Window.steepWarning(), p.runawayWarning(r, st))
}

// steepWarning names a parameter that the optimiser has not moved far enough.
func (w window) steepWarning() string {
	if w.Steep == "" {
		return ""
	}
	return fmt.Sprintf(". The ELBO rises steeply with %s: after gradients that were far larger, steps may be too short for it", w.Steep)
}

// runawayWarning names a latent whose scale seems to have no end.
func (p *Posterior) runawayWarning(r int, st *fitState) string {
	if st.Window.Before == nil {
		return ""
	}
	q := p.Restarts[r].Q
	before := q.Clone()
	before.Set(st.Window.Before)
	for i, name := range p.Density.Latents() {
		if was, sd := before.SD(i), q.SD(i); sd > runaway*was {
			return fmt.Sprintf(". The scale of %s grew from %.3g to %.3g: if that has no end, the posterior is not a distribution", name, was, sd)
		}
	}
	return ""
}
