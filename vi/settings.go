package vi

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"reflect"
	"time"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/memory"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/cells"
	"github.com/facetvi/facet/vi/internal/streams"
)

// Settings are the settings of Fit. The zero value works: it looks for the cells of the posterior.
type Settings struct {
	Seed uint64 // fixes the whole fit, if Budget does not cut it short
	// Method is how the posterior is looked for: Cells, Sampler or Climb. If nil it is Cells{}, and of a program with
	// parameters Climb{}.
	Method Method `json:"-"`
	// Budget is the CPU time that Fit may take, of all processors together, and what else the process does
	// meanwhile counts too; 0 for no limit. When it is over the fit is what has been found by then, at
	// least one cell or a start, and Posterior.Warnings says what was cut. A fit that was cut short depends on the
	// machine, and not on Seed alone. The step under way and the verdict are finished all the same, which for
	// large models can take longer than a short Budget. The first half is for the independent search that a fit of cells
	// begins with, or for the search for a start.
	Budget time.Duration
	// Progress, if not nil, is told how the search for a start and the fit get on: by
	// a line that is written anew in its place if it is a terminal, else by a line
	// every second.
	Progress io.Writer `json:"-"`
	// Logger, if not nil, hears of starts, restarts, cells, warnings and the end at
	// level Info or Warn, and of every point of the trace at level Debug.
	Logger *slog.Logger `json:"-"`
	// Checkpoint, if not empty, is a file to save the fit in: a climb every Climb.CheckpointEvery steps, and any
	// fit when it ends, for whatever reason. Before the end of a fit of cells the file says only that it has begun.
	// A new version is written beside the file and moved over it, so that there is a whole one at
	// all times; of a symbolic link the target is replaced. It is an error, at the start, if another fit is
	// using the file, and if it holds anything but a fit of this program with these observations. For FitAll it is a
	// folder.
	Checkpoint string `json:"-"`
}

// A Method is a way to a posterior: Cells, Sampler or Climb.
type Method interface{ method() }

// Cells is the default Method: it looks for the cells of the posterior, parts between which it falls off a cliff, and makes a
// mixture of normals, each confined to a cell, as many as it takes.
type Cells struct {
	// Tolerance is how much log evidence may be lost by leaving out cells that were found, in nats; 0.0001 if 0. The search
	// ends when new cells add no more than a hundredth of that.
	Tolerance float64
	// Most is how many cells are kept at most. If 0 as many are kept as Tolerance asks for, and so many that those left out
	// have at most 20 times that part of the variance of any latent.
	Most int
	// Quick is for programs whose comparisons all compare one continuous latent with numbers, as the time of a change, and that
	// have at most 12 other latents. The fit then goes without the independent search: the cells are the intervals between
	// these numbers, with a normal at the mode of each, which takes about a millisecond. Newton's method starts somewhere else in
	// each interval. Where it ends at different modes, or where weights are not even, and for all other programs but the
	// following, the fit is the one without Quick.
	//
	// A program of at most 12 latents without comparisons, as a hidden Markov model, has a fourth of the independent search, and
	// draws for numbers that can be accepted, but no more. Where that is not to be trusted the fit is the one without Quick; or,
	// with Alone, it is that all the same.
	Quick bool `json:",omitempty"`
	// Alone ends the fit with the cells, also where its numbers are not to be trusted. Otherwise it goes on with a Sampler
	// there, which takes seconds for a hundred latents, and as long as some hundred thousand gradients of log r.
	Alone bool `json:",omitempty"`
}

// Sampler is the Method that looks for no cells: sequential Monte Carlo from the prior to the posterior, by trajectories that reflect
// and refract where the density jumps; see package smc. It suits hierarchies and other posteriors of many latents that are like no
// few normals. A fit of Cells goes on with it where it cannot be relied on otherwise. The draws of the posterior are its, and
// [Posterior.Q] is only a normal with their means and standard deviations.
type Sampler struct {
	// Draws is how many independent draws would tell the mean of each latent as well. If 0 it is as many as the
	// numbers of the summary need.
	Draws int
}

// Climb is the Method of the paper: the ELBO of one family is maximised by stochastic gradient ascent.
type Climb struct {
	Family    family.Family `json:"-"` // MeanField{} if nil, or that of Start; FullRank{} of a program with parameters
	Estimator Estimator     `json:"-"` // Boundary{} if nil
	Samples   int           // samples in a gradient; 16 if 0
	Steps     int           // steps, or the most of them if Stop is Automatic; 10000 if 0
	StepSize  float64       // Adam's step size in the family's units; if 0 the family's own, 0.03 for most
	Schedule  Schedule      // how the step size falls; constant if zero
	// Tolerance is the change of the ELBO from one window to the next that counts as none where Stop is
	// Automatic, in nats; 0.02 if 0.
	Tolerance float64
	// Start is where the fit starts: one of StartAt or PriorStart, or the Q of
	// an earlier fit, of any family. If nil, Fit looks for a start itself, among
	// mean-field normals: see StartDraws.
	Start family.Q `json:"-"`
	// StartDraws is how many ancestral draws from the program's prior are tried as
	// starts beside the centre of the prior; 1000 if 0. Each climbs a little with
	// its gradient, and is judged by the ELBO of a narrow normal around it. The
	// ten best, of as many regions as there are, and the modes of their regions get a short fit each, the five
	// best of these a longer one, and the best of those is the start. Where log r has 2000 terms or more, and sums near a point (see
	// derive.Density.Sums), there are no such draws: modes are looked for by some of the observations, and the start is
	// where a fit by the sums near the best of them ends.
	StartDraws int
	// Subsample, if above 1, divides the observations and factors at random into so many parts. A gradient is
	// of one part, at its cost and without bias, at guards too; the parts take turns, in a new order each round. A
	// start is looked for by the first part alone. The fit is not judged at its end, which would cost more than was
	// saved: ask for Posterior.Verdict. See graph.Density.Parts for the programs that cannot be divided.
	Subsample int `json:",omitempty"`
	// Restarts is the number of fits, from the best starts that were found (from
	// Start, if it is given) with a random stream each, side by side. The one
	// with the best ELBO is kept; Posterior.Restarts tells of all. 1 if 0.
	Restarts int

	// Average is the fraction of the steps, the last ones, whose iterates are averaged to give
	// the result: 0.1 if 0, and the last iterate alone if it is below 1/Steps. The
	// average has none of the optimiser's jitter, which in narrow valleys costs
	// several nats; but it lags behind a fit that is still far from its end.
	Average float64
	// Stop is when the fit is done: After is after Steps, Automatic when it has settled. If empty it is After if Steps,
	// StepSize, Schedule or Average is given or the model has parameters, and else
	// Automatic.
	Stop Stop

	// Optimizer continues an earlier fit's Adam; nil starts afresh. It has a StepSize of its own: giving
	// another one is an error.
	Optimizer *Adam `json:",omitempty"`

	// OnStep, if not nil, is called after every step; an error stops the fit
	// and is returned with the fit so far. Calls never overlap.
	OnStep func(Step) error `json:"-"`
	// TraceEvery is the number of steps between points of Posterior.Trace, which
	// has one at the end too. If 0 it is Steps/100, or 320/Samples if that is more, so that the
	// trace costs a few percent of the time.
	TraceEvery int
	// CheckpointEvery is the number of steps between checkpoints; 1000 if 0.
	CheckpointEvery int
}

func (Cells) method()   {}
func (Sampler) method() {}
func (Climb) method()   {}

// A job is what a fit goes by: its settings, with those of its method and their defaults filled in.
type job struct {
	Settings
	Climb
	cells    Cells
	searches bool // by cells
	sampler  Sampler
	sampled  bool   // by the sampler alone
	missing  string // what is a nil pointer in an interface

	subsample *gradient.Subsample // for Subsample, once it is made
}

// newJob fills in the defaults of a fit of d.
func newJob(d *graph.Density, s Settings) job {
	j := job{Settings: s}
	if m := s.Method; m == nil && d != nil && d.Params() > 0 {
		s.Method = Climb{}
	}
	switch m := s.Method.(type) {
	case Climb:
		j.Climb = m
	case *Climb:
		j.Climb = *j.given("Method", m, new(Climb)).(*Climb)
	case Cells:
		j.cells, j.searches = m, true
	case *Cells:
		j.cells, j.searches = *j.given("Method", m, new(Cells)).(*Cells), true
	case Sampler:
		j.sampler, j.sampled = m, true
	case *Sampler:
		j.sampler, j.sampled = *j.given("Method", m, new(Sampler)).(*Sampler), true
	default:
		j.searches = true
	}
	j.Family, _ = j.given("Family", j.Family, nil).(family.Family)
	j.Start, _ = j.given("Start", j.Start, nil).(family.Q)
	j.Estimator, _ = j.given("Estimator", j.Estimator, nil).(Estimator)
	j.fill(d)
	return j
}

// given is x, or instead in place of a nil pointer, which is noted.
func (s *job) given(what string, x, instead any) any {
	if v := reflect.ValueOf(x); v.Kind() == reflect.Pointer && v.IsNil() {
		s.missing = fmt.Sprintf("%s is a nil %T", what, x)
		return instead
	}
	return x
}

// settings are those of the job, whose method has its defaults.
func (s job) settings() Settings {
	out := s.Settings
	switch {
	case s.searches:
		out.Method = s.cells
	case s.sampled:
		out.Method = s.sampler
	default:
		out.Method = s.Climb
	}
	return out
}

// job is what the fit went by. One that no fit made is taken for a climb.
func (p *Posterior) job() job {
	s := p.Settings
	if _, mixed := p.Q.(family.Mixed); s.Method == nil && !mixed {
		s.Method = Climb{Family: p.Q.Family()}
	}
	return newJob(p.Density, s)
}

// A Step is what OnStep is told. Q and Gradient are valid during the call only.
type Step struct {
	T        int       // steps taken, from 1
	Q        family.Q  // the iterate after the step
	Gradient []float64 // the estimate of ∇ELBO that the step followed, by Q's θ
	Restart  int       // which of Climb.Restarts, from 0
}

func (s *job) fill(d *graph.Density) {
	orSet(&s.cells.Tolerance, 0.0001)
	switch {
	case s.Family != nil:
	case d != nil && d.Params() > 0 && (s.Start == nil || s.Start.Family() == family.Family(family.MeanField{})):
		s.Family = family.FullRank{}
	case s.Start != nil:
		s.Family = s.Start.Family()
	default:
		s.Family = family.MeanField{}
	}
	if s.Estimator == nil {
		s.Estimator = Boundary{}
	}
	if s.Stop == "" {
		s.Stop = Automatic
		if s.Steps != 0 || s.StepSize != 0 || s.Average != 0 || s.Schedule != (Schedule{}) || d != nil && d.Params() > 0 {
			s.Stop = After
		}
	}
	orSet(&s.Samples, 16)
	orSet(&s.Steps, 10000)
	if s.Optimizer != nil && s.Optimizer.StepSize > 0 && finite(s.Optimizer.StepSize) {
		orSet(&s.StepSize, s.Optimizer.StepSize)
	}
	orSet(&s.StepSize, s.Family.StepSize())
	orSet(&s.StartDraws, startDraws)
	orSet(&s.Restarts, 1)
	orSet(&s.Average, 0.1)
	orSet(&s.Climb.Tolerance, climbTolerance)
	orSet(&s.TraceEvery, max(1, s.Steps/100, 5*traceSamples/max(1, s.Samples)))
	orSet(&s.CheckpointEvery, checkpointEvery)
}

// Settings of a Climb that are of use with others only; see unused.
const (
	startDraws      = 1000
	climbTolerance  = 0.02
	checkpointEvery = 1000
)

func orSet[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// divide divides the data, if Subsample says so.
func (s *job) divide(d *graph.Density) (err error) {
	s.subsample = nil
	if s.Subsample > 1 {
		s.subsample, err = gradient.NewSubsample(d, s.Estimator, s.Subsample, parallel.Mix(s.Seed, streams.Parts))
	}
	return err
}

func (s *job) check(d *graph.Density) error {
	switch {
	case d == nil:
		return errors.New("a nil density")
	case s.missing != "":
		return errors.New(s.missing)
	case s.Budget < 0:
		return fmt.Errorf("Settings.Budget = %v must be positive", s.Budget)
	case s.searches:
		return s.checkCells(d)
	case s.sampled:
		return s.checkSampler(d)
	}
	return s.checkClimb(d)
}

// checkCells reports settings of Cells that make no sense.
func (s *job) checkCells(d *graph.Density) error {
	switch t := s.cells.Tolerance; {
	case d.Params() > 0:
		return fmt.Errorf("Settings.Method is Cells, which does not learn parameters, and the model has %q (%s): use Climb", d.Latents()[0], d.Coordinate(0).Place())
	case s.cells.Alone && s.tooLarge(d):
		return fmt.Errorf("Cells.Alone = true: of %d latents no cells are looked for, which needs at most %d", d.Dim(), cells.MostLatents)
	case s.cells.Most < 0:
		return fmt.Errorf("Cells.Most = %d must be positive", s.cells.Most)
	case !(t > 0) || math.IsInf(t, 0):
		return fmt.Errorf("Cells.Tolerance = %v must be positive", t)
	}
	return nil
}

// tooLarge reports whether d has too many latents for a search for cells.
func (s *job) tooLarge(d *graph.Density) bool {
	if !s.searches || d.Dim() <= cells.MostLatents {
		return false
	}
	c := cellsFit{d: d, switches: d.Engine().Switches()}
	return !c.sumsFirst()
}

// checkSampler reports settings of a Sampler that make no sense.
func (s *job) checkSampler(d *graph.Density) error {
	switch {
	case d.Params() > 0:
		return fmt.Errorf("Settings.Method is Sampler, which does not learn parameters, and the model has %q (%s): use Climb", d.Latents()[0], d.Coordinate(0).Place())
	case s.sampler.Draws < 0:
		return fmt.Errorf("Sampler.Draws = %d must be positive", s.sampler.Draws)
	}
	return nil
}

// checkClimb reports settings of a Climb that make no sense.
func (s *job) checkClimb(d *graph.Density) error {
	if err := s.checkNumbers(); err != nil {
		return err
	}
	if err := s.Schedule.check(); err != nil {
		return err
	}
	if s.Start != nil {
		if err := family.Check(s.Start, d); err != nil {
			return fmt.Errorf("Climb.Start: %w", err)
		}
	}
	q, err := s.Family.New(d)
	if err != nil {
		return fmt.Errorf("Climb.Family: %w", err)
	}
	if err := s.checkSize(d, q); err != nil {
		return err
	}
	if s.Optimizer == nil {
		return nil
	}
	return s.Optimizer.check(len(q.Theta()))
}

// checkNumbers reports numbers of a Climb that are out of range, and those that contradict each other.
func (s *job) checkNumbers() error {
	for _, c := range []struct {
		name string
		n    int
	}{
		{"Samples", s.Samples}, {"Steps", s.Steps}, {"StartDraws", s.StartDraws}, {"Restarts", s.Restarts},
		{"Subsample", s.Subsample}, {"TraceEvery", s.TraceEvery}, {"CheckpointEvery", s.CheckpointEvery},
	} {
		if c.n < 0 {
			return fmt.Errorf("%s = %d must be positive", "Climb."+c.name, c.n)
		}
	}
	for _, c := range []struct {
		name string
		x    float64
	}{{"StepSize", s.StepSize}, {"Average", s.Average}, {"Tolerance", s.Climb.Tolerance}} {
		if !(c.x > 0) || math.IsInf(c.x, 0) {
			return fmt.Errorf("%s = %v must be positive", "Climb."+c.name, c.x)
		}
	}
	switch {
	case s.Optimizer != nil && s.Optimizer.StepSize > 0 && finite(s.Optimizer.StepSize) && s.StepSize != s.Optimizer.StepSize:
		return fmt.Errorf("Climb.StepSize = %v and Climb.Optimizer, whose step size is %v", s.StepSize, s.Optimizer.StepSize)
	case s.Average > 1:
		return fmt.Errorf("Climb.Average = %v is a fraction of the steps: at most 1", s.Average)
	case s.Stop != After && s.Stop != Automatic:
		return fmt.Errorf("Climb.Stop = %q; there are %q and %q", s.Stop, After, Automatic)
	case s.Stop == Automatic && s.Schedule.Shape != Constant:
		return fmt.Errorf("Climb.Stop = %q needs a constant step size, not Climb.Schedule.Shape = %q: steps that get shorter look like the end",
			s.Stop, s.Schedule.Shape)
	}
	return nil
}

// unused is an error where a setting of a Climb was given, as one that is not the default, and the others make it of no use.
func (s *job) unused() error {
	if s.searches || s.sampled {
		return nil
	}
	for _, c := range []struct {
		name        string
		given, used bool
		of          string
	}{
		{"Tolerance", s.Climb.Tolerance != climbTolerance, s.Stop == Automatic, `Climb.Stop = "automatic"`},
		{"StartDraws", s.StartDraws != startDraws, s.Start == nil, "a fit without Climb.Start"},
		{"CheckpointEvery", s.CheckpointEvery != checkpointEvery, s.Checkpoint != "", "a fit with Settings.Checkpoint"},
		{"Schedule.Power", s.Schedule.Power != 0, s.Schedule.Shape == Polynomial, `Climb.Schedule.Shape = "polynomial"`},
		{"Schedule.End", s.Schedule.End != 0, s.Schedule.Shape != Constant, "a Climb.Schedule with a Shape"},
	} {
		if c.given && !c.used {
			return fmt.Errorf("%s is of %s, and would be ignored", "Climb."+c.name, c.of)
		}
	}
	return nil
}

// checkSize reports numbers that would need too much memory, or too many steps to be
// counted, for a fit of members like q.
func (s *job) checkSize(d *graph.Density, q family.Q) error {
	if err := gradient.CheckSamples(q, s.Samples); err != nil {
		return fmt.Errorf("Climb.Samples: %w", err)
	}
	candidate := 400 + 24*float64(d.Dim()) + float64(d.Arrangement().Len()) // bytes of one, of which 50 of 128 draws are kept
	restart := 2000 + 14*8*float64(len(q.Theta()))
	for _, c := range []struct {
		name  string
		n     int
		bytes float64
	}{{"StartDraws", s.StartDraws, 40 + 0.4*candidate}, {"Restarts", s.Restarts, restart}} {
		if err := memory.Check(fmt.Sprintf("Climb.%s = %d", c.name, c.n), float64(c.n)*c.bytes); err != nil {
			return err
		}
	}
	if most := 1 << 53 / s.Restarts; s.Steps > most {
		return fmt.Errorf("Climb.Steps = %d: at most %d steps can be counted", s.Steps, most)
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
			return fmt.Errorf("Climb.Optimizer.%s = %v is out of range", c.name, c.x)
		}
	}
	switch {
	case a.T < 0:
		return fmt.Errorf("Climb.Optimizer.T = %d must not be negative", a.T)
	case (a.M != nil || a.V != nil) && (len(a.M) != n || len(a.V) != n):
		return fmt.Errorf("Climb.Optimizer is of another fit: it has %d and %d running means for %d parameters", len(a.M), len(a.V), n)
	}
	for i := range a.M {
		if !finite(a.M[i]) || !(a.V[i] >= 0) {
			return fmt.Errorf("Climb.Optimizer: running means %v and %v of parameter %d", a.M[i], a.V[i], i)
		}
	}
	return nil
}
