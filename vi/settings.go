package vi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"reflect"
	"time"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/climb"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/cells"
	"github.com/facetvi/facet/vi/internal/muchdata"
)

// Settings are the settings of Fit. The zero value works: it looks for the cells of the posterior.
type Settings struct {
	Seed uint64 // fixes the whole fit, if Budget does not cut it short
	// Method is how the posterior is looked for: Cells, Sampler or Climb. If nil it is Cells{}, and of a program with
	// parameters Climb{}.
	Method Method `json:"-"`
	// Budget is the CPU time that Fit may take, of all processors together, and what else the process does
	// meanwhile counts too; 0 for no limit. When it is over the fit is what has been found by then, at
	// least one cell, a start, or a sampler's draws on its way, and Posterior.Warnings says what was cut. A fit that was cut short depends on the
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
	// Checkpoint, if not empty, is a file to save the fit in: a climb every Climb.CheckpointEvery steps, a sampler at each temperature, and any
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

// Climb is the Method of the paper: the ELBO of one family is maximised by stochastic gradient ascent. Its fields are those of
// climb.Settings.
type Climb climb.Settings

func (Cells) method() {}

func (Sampler) method() {}

func (Climb) method() {}

// A job is what a fit goes by: its settings, with those of its method and their defaults filled in.
type job struct {
	Settings
	climb    climb.Settings
	cells    Cells
	searches bool // by cells
	sampler  Sampler
	sampled  bool                          // by the sampler alone
	missing  string                        // what is a nil pointer in an interface
	from     [][]float64                   // draws that a sampler goes on from; nil from the beginning
	reach    func(draws [][]float64) error // notes draws of each temperature of a sampler
}

// newJob fills in the defaults of a fit of d.
func newJob(d *graph.Density, s Settings) job {
	j := job{Settings: s}
	if m := s.Method; m == nil && d != nil && d.Params() > 0 {
		s.Method = Climb{}
	}
	switch m := s.Method.(type) {
	case Climb:
		j.climb = climb.Settings(m)
	case *Climb:
		j.climb = climb.Settings(*j.given("Method", m, new(Climb)).(*Climb))
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
	c := &j.climb
	c.Family, _ = j.given("Family", c.Family, nil).(family.Family)
	c.Start, _ = j.given("Start", c.Start, nil).(family.Q)
	c.Estimator, _ = j.given("Estimator", c.Estimator, nil).(Estimator)
	j.fill(d)
	return j
}

// fill fills in the defaults.
func (s *job) fill(d *graph.Density) {
	s.cells.Tolerance = cmp.Or(s.cells.Tolerance, 0.0001)
	s.climb.Fill(d)
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
		out.Method = Climb(s.climb)
	}
	return out
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
	return s.climb.Check(d)
}

// unused is an error where a setting of a Climb was given that the others make of no use.
func (s *job) unused() error {
	if s.searches || s.sampled {
		return nil
	}
	return s.climb.Unused(s.Checkpoint != "")
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
	return !sumsFirst(d, d.Engine().Switches())
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

// toClimb is the climb that the settings ask for.
func (s job) toClimb() climb.Job {
	return climb.Job{Settings: s.climb, Seed: s.Seed, Budget: s.Budget}
}

var errNoContext = errors.New("vi: a nil context")

// cause says why ctx, which is done, is. A context of another package may have an
// error without a cause.
func cause(ctx context.Context) error { return cmp.Or(context.Cause(ctx), ctx.Err()) }

// wrapped is err with the name of the package.
func wrapped(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("vi: %w", err)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// muchData is a search for modes by a part of the data.
func (s job) muchData(over func() bool) muchdata.Search {
	return muchdata.Search{Seed: s.Seed, Over: over}
}
