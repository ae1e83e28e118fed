package climb

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/mc"
)

// A TracePoint is the ELBO of a fit after a step, from fresh samples, and the
// time until then. The ELBO is that of the average of the iterates since the
// point before, for it is an average that a fit returns: single iterates can be
// several nats worse.
type TracePoint struct {
	Step    int
	ELBO    mc.Estimate
	Elapsed time.Duration
}

// A State is what a fit's future depends on, besides its settings. Its fields are exported to be saved.
type State struct {
	Start family.Q   `json:"-"`
	Step  int        // steps taken
	Theta mc.Numbers // the iterate
	Adam  Adam
	stepSize
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

// stepSize is the step size that the schedule scales.
type stepSize struct {
	Base   float64
	Halved int `json:",omitempty"` // how often
}

func (s *stepSize) halve() {
	s.Halved++
	s.Base /= 2
}

// result is the fit's distribution: the average of the last window if it has stopped
// by itself, of the last iterates if it has come to those, of the last window if its
// budget was over before, or else the iterate.
func (s *State) result() family.Q {
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

// optimizer is the optimiser's state with the step size that it was given.
func (s *State) optimizer() *Adam {
	a := s.Adam.Clone()
	a.StepSize = s.Base
	return a
}

// Check reports a state that no fit with the settings can have.
func (s *State) Check(settings Settings) error {
	if s.Start.Family() != settings.Family {
		return fmt.Errorf("a fit of family %s, and the settings have %s", s.Start.Family().Name(), settings.Family.Name())
	}
	n := len(s.Start.Theta())
	if len(s.Theta) != n {
		return fmt.Errorf("%d parameters for %d", len(s.Theta), n)
	}
	now := s.Start.Clone()
	now.Set(s.Theta)
	if k := now.Fault(); k >= 0 {
		return fmt.Errorf("parameter %d is %v", k, s.Theta[k])
	}
	for _, c := range []struct {
		name string
		mean
	}{
		{"Tail", s.Tail}, {"Recent", s.Recent}, {"Window.Mean", s.Window.Mean},
		{"Window.Last", mean{s.Window.Last, min(1, len(s.Window.Last))}},
		{"Window.Before", mean{s.Window.Before, min(1, len(s.Window.Before))}},
	} {
		if err := c.check(n, s.Step); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	switch {
	case s.Step < 0:
		return fmt.Errorf("%d steps", s.Step)
	case !(s.Base >= 0) || !finite(s.Base):
		return fmt.Errorf("the step size is %v", s.Base)
	case s.Elapsed < 0:
		return fmt.Errorf("it took %v", s.Elapsed)
	case s.Window.End != 0 && s.Window.End <= s.Step:
		return fmt.Errorf("after step %d a window ends at step %d", s.Step, s.Window.End)
	case s.Done && s.Window.Last == nil:
		return errors.New("it is done without an average")
	}
	if err := s.checkTrace(); err != nil {
		return err
	}
	if err := checkHeld(s.Held, s.Start.Dim()); err != nil {
		return err
	}
	if err := gradient.CheckStreams(s.Streams, settings.Samples, s.Start.Dim()); err != nil {
		return err
	}
	return s.Adam.check(n)
}

// checkTrace reports points that are not in the order of steps, or after the last.
func (s *State) checkTrace() error {
	var last TracePoint
	for _, p := range s.Trace {
		if p.Step <= last.Step || p.Step > s.Step || p.Elapsed < last.Elapsed {
			return fmt.Errorf("a trace with step %d after %v, and step %d after %v next, of %d steps", last.Step, last.Elapsed, p.Step, p.Elapsed, s.Step)
		}
		last = p
	}
	return nil
}
