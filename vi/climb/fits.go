package climb

import (
	"context"
	"fmt"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/muchdata"
	"github.com/facetvi/facet/vi/internal/streams"
	"github.com/facetvi/facet/vi/internal/watch"
)

// Fits are the fits of a climb, side by side: as many as Settings.Restarts says.
type Fits struct {
	job       Job
	d         *graph.Density
	subsample *gradient.Subsample // of the data, for Settings.Subsample; nil without
	fits      []*fitter           // that have a start
}

// New divides the data, if Settings.Subsample says so. The fits have no starts yet: see Restore and Begin.
func New(d *graph.Density, s Job) (a *Fits, err error) {
	a = &Fits{job: s, d: d}
	if s.Subsample > 1 {
		if a.subsample, err = gradient.NewSubsample(d, s.Estimator, s.Subsample, parallel.Mix(s.Seed, streams.Parts)); err != nil {
			return nil, fmt.Errorf("Climb.Subsample: %w", err)
		}
	}
	return a, nil
}

// Restore puts the first fits in the given states, to go on from there.
func (a *Fits) Restore(states []State) error {
	for r, st := range states {
		f, err := a.fitter(r, st.Start)
		if err == nil {
			err = f.restore(st)
		}
		if err != nil {
			return err
		}
		a.fits = append(a.fits, f)
	}
	return nil
}

// Begin looks for starts, if there are fits that have none.
func (a *Fits) Begin(ctx context.Context) error {
	first := len(a.fits)
	if first >= a.job.Restarts {
		return nil
	}
	starts, err := a.starts(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return stopped(ctx)
	case err != nil:
		return err
	}
	for r, start := range starts[first:] {
		f, err := a.fitter(first+r, start)
		if err != nil {
			return err
		}
		if a.job.Start != nil {
			f.Held = HeldBy(a.job.Start)
		}
		a.fits = append(a.fits, f)
	}
	return nil
}

// Run makes the fits and keeps the best: the result has a Q unless there is none to speak of. Beside an error it is what there
// was until then.
func (a *Fits) Run(ctx context.Context) (Result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	m := &monitor{Job: a.job, d: a.d, stop: stop}
	if err := m.begin(a.fits); err != nil {
		return Result{}, err
	}
	n := len(a.fits)
	errs := make([]error, n)
	err := parallel.Do(parallel.Processors(n), n, func(_, r int) error {
		errs[r] = a.fits[r].run(ctx, m)
		return m.ended(a.fits[r], errs[r])
	})
	if err != nil {
		errs = append(errs, err)
	}
	result, err := Assemble(a.d, a.job, m.states)
	if err != nil {
		return Result{}, err
	}
	for r, err := range errs { // who fails alone does not fail the others
		switch {
		case err == nil || r < n && a.fits[r].failed && !result.Restarts[r].Kept:
		case n > 1 && r < n:
			return result, fmt.Errorf("restart %d: %w", r, err)
		default:
			return result, err
		}
	}
	return result, nil
}

// fitter is fit r from start. The first has the streams that it would have alone.
func (a *Fits) fitter(r int, start family.Q) (*fitter, error) {
	s, e := a.job, a.job.Estimator
	s.Start = start
	if r > 0 {
		s.Seed = parallel.Mix(s.Seed, uint64(r))
	}
	if a.subsample != nil {
		e = a.subsample
	}
	g, err := gradient.NewRunner(a.d, start, e, s.Samples, s.Seed)
	if err != nil {
		return nil, err
	}
	return fitterWith(g, a.d, s, start), nil
}

// starts compiles what the fits need, and finds their starts.
func (a *Fits) starts(ctx context.Context) ([]family.Q, error) {
	s := a.job
	if a.subsample != nil && s.Start == nil {
		return a.startsOfPart(ctx)
	}
	if e, ok := s.Estimator.(gradient.Preparer); ok && a.subsample == nil {
		if n := a.d.Arrangement().Len(); n > slowCompilation {
			s.Watch.Now("compiling the jumps at %d guards", n)
		}
		q, err := s.Family.New(a.d)
		if err == nil {
			err = e.Prepare(ctx, a.d, q)
		}
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, stopped(ctx)
		}
	}
	if s.Start == nil && a.subsample == nil {
		if starts, err := startsNearModes(ctx, a.d, s); err != nil || starts != nil {
			return starts, err
		}
	}
	return findStarts(ctx, a.d, s)
}

// slowCompilation is the number of guards whose jumps take a second to compile, if
// states depend on all of them.
const slowCompilation = 300

// startsOfPart are starts that are looked for by a part of the data.
func (a *Fits) startsOfPart(ctx context.Context) ([]family.Q, error) {
	of := a.job
	of.Family = family.MeanField{}
	starts, err := findStarts(ctx, a.subsample.Part(0), of)
	for k := range starts {
		if err == nil {
			starts[k], err = family.Of(a.job.Family, a.d, starts[k])
		}
	}
	return starts, err
}

// startsNearModes are starts for a climb with much data: where fits by the sums near each mode end, the
// best first. There are none if there are no such modes.
func startsNearModes(ctx context.Context, d *graph.Density, s Job) (starts []family.Q, err error) {
	modes, err := muchdata.Search{Seed: s.Seed, Over: s.Watch.Half.Over}.Modes(ctx, d)
	if err != nil || len(modes) == 0 {
		return nil, err
	}
	var list []candidate
	for k, mode := range modes {
		p, err := near(ctx, mode.Density, s)
		if ctx.Err() != nil {
			return nil, stopped(ctx)
		}
		if err != nil {
			continue // it does not end there
		}
		q, err := family.Of(s.Family, d, p.Q)
		if err != nil {
			return nil, err
		}
		list = append(list, candidate{q: q, region: fmt.Sprint(k), score: p.Restarts[0].ELBO.Value})
	}
	if len(list) == 0 {
		return nil, nil
	}
	rank(list)
	for r := range s.Restarts {
		starts = append(starts, list[r%len(list)].q)
	}
	return starts, nil
}

// near is a climb of d, the sums near a mode, by the settings and a quarter of the budget.
func near(ctx context.Context, d *graph.Density, s Job) (Result, error) {
	s.Optimizer, s.OnStep, s.Save = nil, nil, nil
	s.Budget /= 4
	s.Watch = watch.New(nil, nil, s.Budget)
	a, err := New(d, s)
	if err == nil {
		err = a.Begin(ctx)
	}
	if err != nil {
		return Result{}, err
	}
	return a.Run(ctx)
}
