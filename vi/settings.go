package vi

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"time"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/memory"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/mc"
)

// Settings are the settings of Fit. The zero value works: it is a fit of cells.
//
// A fit of cells goes by Seed, Budget, Tolerance, Cells, Progress, Logger and Checkpoint. All
// other fields but Family are of a fit of one family, a climb.
type Settings struct {
	Estimator Estimator `json:"-"` // Boundary{} if nil
	Samples   int       // samples in a gradient; 16 if 0
	Steps     int       // steps, or the most of them if Stop is Automatic; 10000 if 0
	StepSize  float64   // Adam's step size in the family's units; if 0 the family's own, 0.03 for most
	Schedule  Schedule  // how the step size falls; constant if zero
	Seed      uint64    // fixes the whole fit, if Budget does not cut it short

	// Budget is the CPU time that Fit may take, of all processors together and with whatever else
	// the process does meanwhile; 0 for as much as it takes. When it is over the
	// search for cells, the climbs and the draws that judge them end, and the fit is what has
	// been found by then, at least one cell or a start; Posterior.Warnings says what was cut. A
	// fit that was cut short depends on the machine, and not on Seed alone. The step under
	// way is ended, and a verdict is found all the same: for large models these take more than
	// a short Budget. The scout of a fit of cells, or the search for a start, has half of it.
	Budget time.Duration
	// Tolerance is what a fit may leave undone, in nats. Of a fit of cells: by how
	// much the log evidence of the cells that are kept may be below that of all that
	// were found, 0.001 if 0; the search ends when it adds no more than a hundredth
	// of that. Of one family with Stop Automatic: the change of the ELBO from
	// one window to the next that counts as none, 0.02 if 0.
	Tolerance float64

	// Family is what the posterior is looked for in: family.Cells; or one of
	// family.MeanField, Structured, FullRank, LowRank, and Softplus, the paper's own. In
	// all but the last discrete latents have masses, independent of all others.
	// If nil it is the family of Start; or MeanField if one of Estimator, Optimizer,
	// Restarts, StartDraws, Subsample and OnStep is given; or else Cells, whatever Samples, Steps,
	// StepSize, Schedule, Average, Stop, Budget and Tolerance are.
	Family family.Family `json:"-"`
	// Cells is how many cells are kept at most. If 0 all are that matter: those left out
	// cost no more than Tolerance, 0.001 of the mass of the cells that were found if that
	// is 0, and have at most 20 times that part of the variance of any latent.
	Cells int
	// Quick lets a fit of cells go without a scout where all comparisons of the program are of
	// one continuous latent with numbers, as of the time of a change, and there are at most 12 other latents.
	// The cells are all intervals between these numbers, and a normal in each is that of its mode and
	// curvature there: a fit takes about a millisecond. Each interval's climb to its mode begins
	// elsewhere. Where climbs end on different modes, or the weights of draws are not even, the fit is
	// the one without Quick.
	Quick bool `json:",omitempty"`
	// AsDone lets FitAll yield fits as they are done, and not in the order of their data sets.
	AsDone bool `json:"-"`
	// Start is where the fit starts: one of StartAt or PriorStart, or the Q of
	// an earlier fit, of any family. If nil, Fit looks for a start itself, among
	// mean-field normals: see StartDraws.
	Start family.Q `json:"-"`
	// StartDraws is how many ancestral draws from the program's prior are tried as
	// starts beside the centre of the prior; 1000 if 0. Each climbs a little with
	// its gradient, and is judged by the ELBO of a narrow normal around it; the
	// ten best, of as many regions as there are, get a short fit each, and the
	// best of these is the start. Of 2000 terms of log r or more, where these have sums near a
	// point (see graph.Density.SumsNear), the start is instead where a fit by these sums ends, near the
	// modes that climbs from the posterior by some of the observations lead to.
	StartDraws int
	// Subsample divides the observations and factors at random into so many parts, and a gradient is of
	// one of them, of each in turn and in another order each time: without bias, and at the cost
	// of a part, guards included. 0 or 1 is all of the data at once. A start is looked for by the first
	// part alone, and the fit is not judged at its end, which would cost more than what was saved:
	// ask for Posterior.Verdict. See graph.Density.Parts for the programs that cannot be divided.
	Subsample int `json:",omitempty"`
	// Restarts is the number of fits, from the best starts that were found (from
	// Start, if it is given) with a random stream each, side by side. The one
	// with the best ELBO is kept; Posterior.Restarts tells of all. 1 if 0.
	Restarts int

	// Average is the fraction of the steps whose iterates are averaged to give
	// the result: 0.1 if 0, the last iterate alone if it is below 1/Steps. The
	// average is without the optimiser's jitter, which near narrow valleys costs
	// several nats; it lags only where the fit is still far from its end.
	Average float64
	// Stop is when the fit is done: after Steps, or by itself. If empty it is After where Steps,
	// StepSize, Schedule or Average is given and where the model has parameters, and else
	// Automatic.
	Stop Stop

	// Optimizer continues an earlier fit's Adam; nil starts afresh. Its
	// StepSize is kept, and Settings.StepSize ignored.
	Optimizer *Adam `json:",omitempty"`

	// OnStep, if not nil, is called after every step; an error stops the fit
	// and is returned with the fit so far. Calls never overlap. Like Start and
	// Optimizer, it is of a fit of one family: with Cells it is an error.
	OnStep func(Step) error `json:"-"`
	// TraceEvery is the number of steps between points of Posterior.Trace, which
	// has one at the end too. If 0 it is Steps/100, or 320/Samples if that is more:
	// so that the trace costs a few percent.
	TraceEvery int
	// Progress, if not nil, is told how the search for a start and the fit get on: by
	// a line that is written anew in its place if it is a terminal, else by a line
	// every second.
	Progress io.Writer `json:"-"`
	// Logger, if not nil, hears of starts, restarts, cells, warnings and the end at
	// level Info or Warn, and of every point of the trace at level Debug.
	Logger *slog.Logger `json:"-"`
	// Checkpoint, if not empty, is a file to save the fit in while it runs: every
	// CheckpointEvery steps (1000 if 0), and when it ends for whatever reason. Of a fit
	// of cells it says before the end only that the fit has begun.
	// It is written beside the file and moved over it, so that there is a whole one at
	// all times; a symbolic link stays, and its target is replaced. A second fit with
	// the same file is an error at its start, as is what is no regular file.
	Checkpoint      string `json:"-"`
	CheckpointEvery int

	subsample *gradient.Subsample // for Subsample, once it is made
	some      int                 // terms that modes are looked for by, if not 0; see modesOf
}

// A Step is what OnStep is told. Q and Gradient are valid during the call only.
type Step struct {
	T        int       // steps taken, from 1
	Q        family.Q  // the iterate after the step
	Gradient []float64 // the estimate of ∇ELBO that the step followed, by Q's θ
	Restart  int       // which of Settings.Restarts, from 0
}

// forParams chooses the family of a fit of a model with parameters, and when it is done.
func (s *Settings) forParams(d *graph.Density) {
	if d.Params() > 0 && s.Family == nil && (s.Start == nil || s.Start.Family() == family.Family(family.MeanField{})) {
		s.Family = family.FullRank{}
	}
	if d.Params() > 0 && s.Stop == "" {
		s.Stop = After
	}
}

// ofCells reports whether a fit of d by these settings is one of cells.
func (s Settings) ofCells(d *graph.Density) bool {
	s.forParams(d)
	s.fill()
	return s.searches()
}

// searches reports whether the fit is a search for cells.
func (s *Settings) searches() bool { return s.Family == (family.Cells{}) }

func (s *Settings) fill() {
	switch {
	case s.Family != nil:
	case s.Start != nil:
		s.Family = s.Start.Family()
	case s.Estimator != nil || s.Optimizer != nil || s.OnStep != nil || s.Restarts != 0 || s.StartDraws != 0 || s.Subsample != 0:
		s.Family = family.MeanField{}
	default:
		s.Family = family.Cells{}
	}
	if s.Estimator == nil {
		s.Estimator = Boundary{}
	}
	if s.Stop == "" {
		s.Stop = Automatic
		if s.Steps != 0 || s.StepSize != 0 || s.Average != 0 || s.Schedule != (Schedule{}) {
			s.Stop = After
		}
	}
	orSet(&s.Samples, 16)
	orSet(&s.Steps, 10000)
	orSet(&s.StepSize, s.Family.StepSize())
	orSet(&s.StartDraws, 1000)
	orSet(&s.Restarts, 1)
	orSet(&s.Average, 0.1)
	if s.searches() {
		orSet(&s.Tolerance, 0.001)
	}
	orSet(&s.Tolerance, 0.02)
	orSet(&s.TraceEvery, max(1, s.Steps/100, 5*traceSamples/max(1, s.Samples)))
	orSet(&s.CheckpointEvery, 1000)
}

func orSet[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// divide divides the data, if Subsample says so.
func (s *Settings) divide(d *graph.Density) (err error) {
	s.subsample = nil
	if s.Subsample > 1 {
		s.subsample, err = gradient.NewSubsample(d, s.Estimator, s.Subsample, mc.Mix(s.Seed, partStream))
	}
	return err
}

func (s *Settings) check(d *graph.Density) error {
	if d == nil {
		return errors.New("a nil density")
	}
	for _, c := range []struct {
		name string
		n    int
	}{
		{"Samples", s.Samples}, {"Steps", s.Steps}, {"StartDraws", s.StartDraws}, {"Restarts", s.Restarts},
		{"Subsample", s.Subsample}, {"TraceEvery", s.TraceEvery}, {"CheckpointEvery", s.CheckpointEvery}, {"Cells", s.Cells},
	} {
		if c.n < 0 {
			return fmt.Errorf("%s = %d must be positive", "Settings."+c.name, c.n)
		}
	}
	for _, c := range []struct {
		name string
		x    float64
	}{{"StepSize", s.StepSize}, {"Average", s.Average}, {"Tolerance", s.Tolerance}} {
		if !(c.x > 0) || math.IsInf(c.x, 0) {
			return fmt.Errorf("%s = %v must be positive", "Settings."+c.name, c.x)
		}
	}
	switch {
	case s.Budget < 0:
		return fmt.Errorf("Settings.Budget = %v must be positive", s.Budget)
	case s.Average > 1:
		return fmt.Errorf("Settings.Average = %v is a fraction of the steps: at most 1", s.Average)
	case s.Stop != After && s.Stop != Automatic:
		return fmt.Errorf("Settings.Stop = %q; there are %q and %q", s.Stop, After, Automatic)
	case s.Stop == Automatic && s.Schedule.Shape != Constant:
		return fmt.Errorf("Settings.Stop = %q needs a constant step size, not Settings.Schedule.Shape = %q: steps that get shorter look like the end",
			s.Stop, s.Schedule.Shape)
	}
	if err := s.Schedule.check(); err != nil {
		return err
	}
	if s.Start != nil {
		if err := family.Check(s.Start, d); err != nil {
			return fmt.Errorf("Settings.Start: %w", err)
		}
	}
	if s.searches() {
		return s.checkCells(d)
	}
	q, err := s.Family.New(d)
	if err != nil {
		return fmt.Errorf("Settings.Family: %w", err)
	}
	if err := s.checkSize(d, q); err != nil {
		return err
	}
	if s.Optimizer == nil {
		return nil
	}
	return s.Optimizer.check(len(q.Theta()))
}

// checkCells reports what a fit of cells has no use for, and numbers that no fit can
// have.
func (s *Settings) checkCells(d *graph.Density) error {
	if d.Params() > 0 {
		return fmt.Errorf("Settings.Family is Cells, which does not learn parameters, and the model has %q (%s): use FullRank or another family", d.Latents()[0], d.ParamPlace(0))
	}
	for _, c := range []struct {
		name string
		has  bool
	}{{"Start", s.Start != nil}, {"Optimizer", s.Optimizer != nil}, {"OnStep", s.OnStep != nil}, {"Subsample", s.Subsample > 1}} {
		if c.has {
			return fmt.Errorf("%s is of a fit of one family, and Settings.Family is Cells", "Settings."+c.name)
		}
	}
	q, err := family.MeanField{}.New(d)
	if err != nil {
		return err
	}
	return s.checkSize(d, q)
}

// checkSize reports numbers that would need too much memory, or too many steps to be
// counted, for a fit of members like q.
func (s *Settings) checkSize(d *graph.Density, q family.Q) error {
	if err := gradient.CheckSamples(q, s.Samples); err != nil {
		return fmt.Errorf("Settings.Samples: %w", err)
	}
	candidate := 400 + 24*float64(d.Dim()) + float64(d.Arrangement().Len()) // bytes of one, of which 50 of 128 draws are kept
	restart := 2000 + 14*8*float64(len(q.Theta()))
	for _, c := range []struct {
		name  string
		n     int
		bytes float64
	}{{"StartDraws", s.StartDraws, 40 + 0.4*candidate}, {"Restarts", s.Restarts, restart}} {
		if err := memory.Check(fmt.Sprintf("Settings.%s = %d", c.name, c.n), float64(c.n)*c.bytes); err != nil {
			return err
		}
	}
	if most := 1 << 53 / s.Restarts; s.Steps > most {
		return fmt.Errorf("Settings.Steps = %d: at most %d steps can be counted", s.Steps, most)
	}
	return nil
}

// check reports an optimiser that cannot step n parameters.
func (a *Adam) check(n int) error {
	for _, c := range []struct {
		name string
		x    float64
		ok   bool
	}{
		{"StepSize", a.StepSize, a.StepSize >= 0 && finite(a.StepSize)},
		{"Beta1", a.Beta1, a.Beta1 >= 0 && a.Beta1 < 1},
		{"Beta2", a.Beta2, a.Beta2 >= 0 && a.Beta2 < 1},
		{"Epsilon", a.Epsilon, a.Epsilon >= 0 && finite(a.Epsilon)},
		{"Clip", a.Clip, a.Clip >= 0 && finite(a.Clip)},
	} {
		if !c.ok {
			return fmt.Errorf("Settings.Optimizer.%s = %v is out of range", c.name, c.x)
		}
	}
	switch {
	case a.T < 0:
		return fmt.Errorf("Settings.Optimizer.T = %d must not be negative", a.T)
	case (a.M != nil || a.V != nil) && (len(a.M) != n || len(a.V) != n):
		return fmt.Errorf("Settings.Optimizer is of another fit: it has %d and %d running means for %d parameters", len(a.M), len(a.V), n)
	}
	for i := range a.M {
		if !finite(a.M[i]) || !(a.V[i] >= 0) {
			return fmt.Errorf("Settings.Optimizer: running means %v and %v of parameter %d", a.M[i], a.V[i], i)
		}
	}
	return nil
}
