package climb

import (
	"time"

	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/watch"
	"github.com/facetvi/facet/vi/mc"
)

// A Job is a climb to be made, as a part of a fit.
type Job struct {
	Settings               // with their defaults: see Settings.Fill
	Seed     uint64        // of the fit
	Budget   time.Duration // of the fit, for a warning; Watch has the time
	Watch    *watch.Watch
	Save     func(Result) error // writes a checkpoint; nil if none is wanted
}

// A Result is what became of a climb.
type Result struct {
	Q         family.Q // of the best of its fits, and so are
	Steps     int      // steps taken
	Optimizer *Adam    // the optimiser's state
	Trace     []TracePoint
	Restarts  []Restart // all of them
	Warnings  []string
	States    []State // of all, to go on from
}

// A Restart is what became of one of the fits that Climb.Restarts asks for.
type Restart struct {
	Start family.Q
	Q     family.Q // the result
	// ELBO is that of Q, by the same ε for all restarts, with rare sides of guards.
	ELBO  mc.Estimate
	Steps int    // steps taken
	Err   string // why it stopped early; empty if it did not
	Kept  bool   // it is the best, and the posterior
}
