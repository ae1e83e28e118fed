package climb

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/memory"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
)

// Settings are the settings of a climb.
type Settings struct {
	Family    family.Family      `json:"-"` // MeanField{} if nil, or that of Start; FullRank{} of a program with parameters
	Estimator gradient.Estimator `json:"-"` // gradient.Boundary{} if nil
	Samples   int                // samples in a gradient; 16 if 0
	Steps     int                // steps, or the most of them if Stop is Automatic; 10000 if 0
	StepSize  float64            // Adam's step size in the family's units; if 0 the family's own, 0.03 for most
	Schedule  Schedule           // how the step size falls; constant if zero
	// Tolerance is the change of the ELBO from one window to the next that counts as none where Stop is
	// Automatic, in nats; 0.02 if 0.
	Tolerance float64
	// Start is where the fit starts: one of vi.StartAt or vi.PriorStart, or the Q of
	// an earlier fit, of any family. If nil, the climb looks for a start itself, among
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
	// saved: ask for vi.Posterior.Verdict. See graph.Density.Parts for the programs that cannot be divided.
	Subsample int `json:",omitempty"`
	// Restarts is the number of fits, from the best starts that were found (from
	// Start, if it is given) with a random stream each, side by side. The one
	// with the best ELBO is kept; vi.Posterior.Restarts tells of all. 1 if 0.
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
	// TraceEvery is the number of steps between points of vi.Posterior.Trace, which
	// has one at the end too. If 0 it is Steps/100, or 320/Samples if that is more, so that the
	// trace costs a few percent of the time.
	TraceEvery int
	// CheckpointEvery is the number of steps between checkpoints; 1000 if 0.
	CheckpointEvery int
}

// A Step is what OnStep is told. Q and Gradient are valid during the call only.
type Step struct {
	T        int       // steps taken, from 1
	Q        family.Q  // the iterate after the step
	Gradient []float64 // the estimate of ∇ELBO that the step followed, by Q's θ
	Restart  int       // which of Settings.Restarts, from 0
}

// Fill fills in the defaults of a fit of d, which may be nil if it is not known yet.
func (s *Settings) Fill(d *graph.Density) {
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
		s.Estimator = gradient.Boundary{}
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
	orSet(&s.Tolerance, tolerance)
	orSet(&s.TraceEvery, max(1, s.Steps/100, 5*traceSamples/max(1, s.Samples)))
	orSet(&s.CheckpointEvery, checkpointEvery)
}

// Settings that are of use with others only; see Unused.
const (
	startDraws      = 1000
	tolerance       = 0.02
	checkpointEvery = 1000
)

func orSet[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// Check reports settings that make no sense, after Fill.
func (s *Settings) Check(d *graph.Density) error {
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

// checkNumbers reports numbers that are out of range, and those that contradict each other.
func (s *Settings) checkNumbers() error {
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
	}{{"StepSize", s.StepSize}, {"Average", s.Average}, {"Tolerance", s.Tolerance}} {
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

// Unused is an error where a setting was given, as one that is not the default, and the others make it of no use. saved
// says whether there is a checkpoint.
func (s *Settings) Unused(saved bool) error {
	for _, c := range []struct {
		name        string
		given, used bool
		of          string
	}{
		{"Tolerance", s.Tolerance != tolerance, s.Stop == Automatic, `Climb.Stop = "automatic"`},
		{"StartDraws", s.StartDraws != startDraws, s.Start == nil, "a fit without Climb.Start"},
		{"CheckpointEvery", s.CheckpointEvery != checkpointEvery, saved, "a fit with Settings.Checkpoint"},
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
func (s *Settings) checkSize(d *graph.Density, q family.Q) error {
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

// averagesFrom is the first step whose iterate counts in the average of a fit.
func (s *Settings) averagesFrom() int {
	tail := int(s.Average * float64(s.Steps))
	return s.Steps - max(tail, 1) + 1
}

// The samples behind a TracePoint, and behind an ELBO that others are compared
// with.
const (
	traceSamples   = 64
	compareSamples = 1024
	comparedSides  = 100 // of guards, rare ones, the most probable
)

// cause says why ctx, which is done, is. A context of another package may have an
// error without a cause.
func cause(ctx context.Context) error { return cmp.Or(context.Cause(ctx), ctx.Err()) }
