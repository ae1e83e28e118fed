package vi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/mc"
)

// Fit fits a distribution to the posterior of d.
//
// By default it looks for the cells that hold the posterior, gives each a distribution,
// and judges their mixture: see Cells, Posterior.Cells and Posterior.Verdict. If that cannot be trusted, or if there are more
// than 300 latents, it goes on with a Sampler. With the method Climb
// it maximises the ELBO of one family by stochastic gradient
// ascent: from the best start that it finds (see Climb.Start), by Adam, to the
// average of the last iterates (see Climb.Average). A model with parameters (see graph.Model.Param) is
// fitted by a Climb, of family.FullRank by default: the ELBO is maximised by the parameters together
// with the distribution.
//
// A climb stops early if ctx is done, if OnStep fails, or if a gradient is not
// finite. The error then says why and names the step and the latents, and the
// fit beside it holds the last good state, from which Resume goes on. If ctx stops a search for cells, the fit beside the
// error is a normal at the prior's centre. The fit is nil only if settings make no sense or no cell has a
// finite density.
func Fit(ctx context.Context, d *graph.Density, settings Settings) (*Posterior, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	s := newJob(d, settings)
	if err := cmp.Or(s.check(d), s.unused()); err != nil {
		return nil, fmt.Errorf("vi: %w", err)
	}
	release, err := s.lockCheckpoint(d)
	if err != nil {
		return nil, fmt.Errorf("vi: %w", err)
	}
	defer release()
	m := newMonitor(s)
	defer m.End()
	if s.tooLarge(d) {
		s.searches, s.sampled = false, true
	}
	switch {
	case s.searches:
		return runCells(ctx, d, s, m)
	case s.sampled:
		return runSampler(ctx, d, s, m)
	}
	if err := s.divide(d); err != nil {
		return nil, fmt.Errorf("vi: Climb.Subsample: %w", err)
	}
	starts, err := prepare(ctx, d, s, m)
	switch {
	case ctx.Err() != nil && err != nil:
		return &Posterior{Density: d, Q: PriorStart(d), Settings: s.settings()}, stopped(ctx)
	case err != nil:
		return nil, err
	}
	fits, err := newFitters(d, s, starts, 0)
	if err != nil {
		return nil, fmt.Errorf("vi: %w", err)
	}
	return runAll(ctx, d, s, fits, m)
}

// prepare compiles what the fits need, and finds their starts.
func prepare(ctx context.Context, d *graph.Density, s job, m *monitor) ([]family.Q, error) {
	if s.subsample != nil && s.Start == nil {
		return startsOfPart(ctx, d, s, m)
	}
	if e, ok := s.Estimator.(gradient.Preparer); ok && s.subsample == nil {
		m.compiling(d)
		q, err := s.Family.New(d)
		if err == nil {
			err = e.Prepare(ctx, d, q)
		}
		switch {
		case ctx.Err() != nil:
			return nil, stopped(ctx)
		case err != nil:
			return nil, fmt.Errorf("vi: %w", err)
		}
	}
	if s.Start == nil && s.subsample == nil {
		if starts, err := startsNearModes(ctx, d, s, m); err != nil || starts != nil {
			return starts, err
		}
	}
	return findStarts(ctx, d, s, m)
}

// startsOfPart are starts that are looked for by a part of the data.
func startsOfPart(ctx context.Context, d *graph.Density, s job, m *monitor) ([]family.Q, error) {
	of := s
	of.Family = family.MeanField{}
	starts, err := findStarts(ctx, s.subsample.Part(0), of, m)
	for k := range starts {
		if err == nil {
			starts[k], err = family.Of(s.Family, d, starts[k])
		}
	}
	return starts, err
}

var errNoContext = errors.New("vi: a nil context")

// newFitters are the restarts from number first on.
func newFitters(d *graph.Density, s job, starts []family.Q, first int) (fits []*fitter, err error) {
	for r, start := range starts[first:] {
		f, err := newFitter(d, s.restart(first+r, start))
		if err != nil {
			return nil, err
		}
		if s.Start != nil {
			f.Held = heldBy(s.Start)
		}
		fits = append(fits, f)
	}
	return fits, nil
}

// fitter is a fit under way.
type fitter struct {
	fitState
	d        *graph.Density
	s        job // of this restart, which has a Start and a Seed of its own
	number   int // of the restart
	g        *gradient.Runner
	meter    *check.Meter // of the trace; nil until it is needed
	q        family.Q     // the iterate
	gradient []float64    // the last, a view
	units    []float64    // of its parameters, and of the means at least their reach
	reach    []reach      // of the means
	plain    bool         // all units are 1 everywhere
	scaled   []float64    // the gradient in these units,
	move     []float64    // and Adam's step
	mean     []float64    // scratch: an average,
	meanQ    family.Q     // and the member there
	least    []float64    // of the gradients of the last gain, by parameter,
	most     []float64    // and the largest
	failed   bool         // a gradient was not finite
	began    time.Time
	budget   cputime.Limit
}

// fitState is what a fit's future depends on, besides its settings.
type fitState struct {
	Start   family.Q   `json:"-"`
	Step    int        // steps taken
	Theta   mc.Numbers // the iterate
	Adam    Adam
	Base    float64  // the step size that the schedule scales
	Halved  int      `json:",omitempty"` // how often it was halved
	Streams [][]byte // the blocks' random streams; in a snapshot only
	Tail    mean     // of the last iterates: the result
	Recent  mean     // of the iterates since the last point of the trace
	Window  window
	Held    []int `json:",omitempty"` // latents that wait for the others
	Done    bool  // automatically
	Cut     bool  `json:",omitempty"` // the budget was over before the steps were
	Trace   []TracePoint
	Elapsed time.Duration
	Err     string // why it stopped early
}

func newFitter(d *graph.Density, s job) (*fitter, error) {
	e := s.Estimator
	if s.subsample != nil {
		e = s.subsample
	}
	g, err := gradient.NewRunner(d, s.Start, e, s.Samples, s.Seed)
	if err != nil {
		return nil, err
	}
	return fitterWith(g, d, s, s.Start), nil
}

func fitterWith(g *gradient.Runner, d *graph.Density, s job, start family.Q) *fitter {
	n := len(start.Theta())
	f := &fitter{
		d: d, s: s, g: g, q: start.Clone(), units: make([]float64, n), scaled: make([]float64, n), move: make([]float64, n),
		mean: make([]float64, n), meanQ: start.Clone(),
	}
	f.plain = unitsAreOne(start)
	if s.Optimizer == nil && !f.plain {
		f.findReach(start)
	}
	f.setUnits(0)
	f.Start, f.Theta, f.Adam = start, f.q.Theta(), Adam{StepSize: s.StepSize}
	if !f.plain {
		f.Adam.Clip = clip
	}
	if s.Optimizer != nil {
		f.Adam = *s.Optimizer.Clone()
	}
	f.Base = f.Adam.StepSize
	return f
}

// run takes the steps that are left.
func (f *fitter) run(ctx context.Context, m *monitor) error {
	f.began, f.Cut = time.Now().Add(-f.Elapsed), false
	for f.Step < f.s.Steps && !f.Done {
		if f.Cut = f.budget.Over(); f.Cut {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("stopped after step %d: %w", f.Step, cause(ctx))
		}
		if err := f.step(); err != nil {
			f.failed = true
			return fmt.Errorf("step %d: %w", f.Step+1, err)
		}
		f.Step++
		err := f.average()
		if err == nil && m != nil && f.Step == f.s.Steps {
			err = f.conclude()
		}
		if err != nil {
			return fmt.Errorf("step %d: %w", f.Step, err)
		}
		if m == nil {
			continue
		}
		if err := m.after(f); err != nil {
			return fmt.Errorf("step %d: %w", f.Step, err)
		}
	}
	return nil
}

// step moves the iterate; if the gradient is not finite it changes nothing.
func (f *fitter) step() error {
	f.g.From(f.Step)
	g, err := f.g.Estimate(f.q)
	if err != nil {
		return err
	}
	f.gradient = g
	if err := f.checkGradient(g); err != nil {
		return err
	}
	if f.s.Schedule.Shape != Constant {
		f.Adam.StepSize = orDefault(f.Base, 0.001) * f.s.Schedule.At(f.Step+1, f.s.Steps)
	}
	if !f.plain {
		floats.MulTo(f.scaled, g, f.units)
		g = f.scaled
		if q, ok := f.q.(family.Natural); ok {
			q.Natural(g)
		}
	}
	f.Adam.Direction(f.move, g)
	for _, r := range f.reach {
		f.move[r.param] *= r.factor
	}
	f.hold()
	f.q.Move(f.move)
	if !f.plain {
		f.setUnits(f.Step + 1)
	}
	return nil
}

// clip is Adam's where the family has units; the paper's family keeps the paper's
// optimiser.
const clip = 30

// A fit that starts wide may have far to go, also once it has become narrow. So
// steps of a mean are in units of the start's scale at first, which fades as 1/t:
// the scale of the iterate takes over when it is larger. A fit that goes on with an
// earlier one's optimiser has that behind it. Those of a parameter of the program fade
// without end (Robbins and Monro): their sum has no bound, and their noise vanishes.
const reachSteps = 300 // until half of it is left

// A reach is the least unit of a mean.
type reach struct {
	param  int
	start  float64 // where the fit starts
	factor float64 // by which the unit is larger than the family's now
	fades  bool    // to nothing: that of a parameter of the program, which has no scale of its own
}

// unitsAreOne reports whether the units of q's family are 1, at q and elsewhere.
func unitsAreOne(q family.Q) bool {
	q = q.Clone()
	units := make([]float64, len(q.Theta()))
	for range 2 {
		q.Units(units)
		if slices.ContainsFunc(units, func(u float64) bool { return u != 1 }) {
			return false
		}
		q.Move(units)
	}
	return true
}

func (f *fitter) findReach(start family.Q) {
	start.Units(f.units)
	for k, u := range f.units {
		if p := start.Param(k); p.Is("μ") {
			f.reach = append(f.reach, reach{param: k, start: u, fades: p.Latent < f.d.Params()})
		}
	}
}

// setUnits finds the units after t steps.
func (f *fitter) setUnits(t int) {
	f.q.Units(f.units)
	fade := 1 / (1 + float64(t)/reachSteps)
	for i := range f.reach {
		r := &f.reach[i]
		own := f.units[r.param]
		f.units[r.param] = max(own, fade*r.start)
		if r.fades {
			f.units[r.param] = fade * own
		}
		r.factor = f.units[r.param] / own
	}
}

// average counts the iterate in, and asks at the end of a window whether the fit
// is done.
func (f *fitter) average() error {
	if f.Step >= f.s.averagesFrom() {
		f.Tail.add(f.Theta)
	}
	if f.Step >= f.s.Steps/mostHeld {
		f.release()
	}
	if !f.Window.add(f.Step, f.Theta) {
		return nil
	}
	f.Window.Mean.write(f.mean)
	shortest, err := f.judge()
	if err != nil {
		return err
	}
	f.Window.next(f.Step, f.mean, shortest)
	return nil
}

// judge asks at the end of a window, whose average is f.mean, whether latents are
// still to be held, and whether the fit is done; and says how long the next window is
// at least.
func (f *fitter) judge() (shortest int, err error) {
	last := f.Window.Last
	if last == nil || f.s.Stop != Automatic && f.Held == nil && !f.isFrozen() {
		return shortestWindow, nil
	}
	if f.Window.Gain, err = f.gain(last, f.mean, f.Step); err != nil {
		return 0, err
	}
	f.Window.Steep = f.steep()
	travels := f.Window.Steep != "" || f.travels(last, f.mean, f.Window.Mean.N)
	switch {
	case f.s.Stop == Automatic && f.Held == nil && !travels:
		enough := (lastSamples + f.s.Samples - 1) / f.s.Samples
		ends := settled(f.Window.Gain, f.s.Tolerance)
		f.Done = ends && f.Halved > 0 && f.Window.Mean.N >= enough
		if !f.Done && (ends || f.Window.Gain.Value < 2*f.Window.Gain.SE) {
			f.Halved++
			f.Base /= 2
			f.Adam.StepSize = f.Base
		}
		if ends {
			return enough, nil
		}
	case f.Held != nil && !unfinished(f.Window.Gain) && !travels:
		f.release()
	}
	return shortestWindow, nil
}

// conclude finds at the end of the steps what the last of them have gained.
func (f *fitter) conclude() (err error) {
	if f.s.Stop != Automatic && f.Window.Before != nil {
		if f.Window.Gain, err = f.gain(f.Window.Before, f.result().Theta(), f.Step); err == nil {
			f.Window.Steep = f.steep()
		}
	}
	return err
}

// result is the fit's distribution: the average of the last window if it has stopped
// by itself, of the last iterates if it has come to those, of the last window if its
// budget was over before, or else the iterate.
func (s *fitState) result() family.Q {
	theta := slices.Clone(s.Theta)
	switch {
	case s.Tail.N > 0 && !s.Done:
		s.Tail.write(theta)
	case s.Done || s.Cut && s.Window.Last != nil:
		copy(theta, s.Window.Last)
	}
	q := s.Start.Clone()
	q.Set(theta)
	return q
}

// checkGradient names the latents whose gradient is not finite, and a term of
// the model that is to blame.
func (f *fitter) checkGradient(g []float64) error {
	sum := 0.0
	for _, x := range g {
		sum += x * 0 // NaN if x is not finite
	}
	if sum == 0 {
		return nil
	}
	var bad []string
	names := f.d.Latents()
	for k, x := range g {
		if name := names[f.q.Param(k).Latent]; !finite(x) && !slices.Contains(bad, name) {
			bad = append(bad, name)
		}
	}
	if len(bad) > 5 {
		bad = append(bad[:5], "…")
	}
	err := fmt.Errorf("%w for %s", ErrNotFinite, strings.Join(bad, ", "))
	if why := gradient.Blame(f.d, f.q); why != "" {
		err = fmt.Errorf("%w: %s", err, why)
	}
	return err
}

// cause says why ctx, which is done, is. A context of another package may have an
// error without a cause.
func cause(ctx context.Context) error { return cmp.Or(context.Cause(ctx), ctx.Err()) }

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
