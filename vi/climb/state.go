package climb

import (
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

// A State is what a fit's future depends on, besides its settings.
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

// Check reports a state of a fit with other settings.
func (s *State) Check(settings Settings) error {
	if s.Start.Family() != settings.Family {
		return fmt.Errorf("a fit of family %s, and the settings have %s", s.Start.Family().Name(), settings.Family.Name())
	}
	n := len(s.Start.Theta())
	for _, list := range []mc.Numbers{s.Theta, s.Tail.Sum, s.Recent.Sum, s.Window.Mean.Sum, s.Window.Last, s.Window.Before, s.Adam.M, s.Adam.V} {
		if len(list) != n && list != nil || len(s.Theta) != n {
			return fmt.Errorf("%d parameters for %d", len(list), n)
		}
	}
	now := s.Start.Clone()
	now.Set(s.Theta)
	if k := now.Fault(); k >= 0 {
		return fmt.Errorf("parameter %d is %v", k, s.Theta[k])
	}
	if err := checkHeld(s.Held, s.Start.Dim()); err != nil {
		return err
	}
	return gradient.CheckStreams(s.Streams, settings.Samples, s.Start.Dim())
}
