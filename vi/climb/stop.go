package climb

import (
	"math"
	"slices"

	"github.com/facetvi/facet/vi/mc"
)

// Stop says when a fit of one family is done.
type Stop string

// After is to take Climb.Steps steps. A fit of at least 100 steps has a warning if the ELBO of the result is more than
// half a nat above that of the second last window.
//
// Automatic is to compare the fit with itself: the steps are cut into windows, each a
// seventh as long as all steps before it and at least 50, whose iterates are averaged.
// Where the ELBO of a window's average is above that of the window before by no more than
// twice the standard error of the difference, or than Climb.Tolerance, the step size is
// halved: what is left is the optimiser's jitter. The fit is done when the step size has
// been halved, and the ELBO changes by less than the tolerance, with twice the standard
// error counted against it, over a window of 3200 samples. The average of this window is
// the result. Climb.Steps is the limit then, and reaching it a warning.
//
// The difference is the integral of the gradient along the line between the two
// averages. So it sees what the estimator sees: a region so rare that no sample
// falls into it still has a boundary.
//
// However little the ELBO gains, a fit goes on as long as some parameter moves from window to
// window by more than half of what its steps could move it. It also goes on as long as the ELBO rises by more
// than two nats a unit of some parameter, at every point of that line: gradients that were once far larger, as
// beside a cliff, may have made the optimiser's steps too short to get anywhere. The optimiser then forgets that
// parameter's gradients. If the ELBO is so steep at the end of given steps, that is a warning.
const (
	After     Stop = "after"
	Automatic Stop = "automatic"
)

const (
	shortestWindow = 50
	windowGrowth   = 7
	lastSamples    = 3200 // in a fit's last window, which finds a scale to about one percent
)

// window is what a fit knows of its windows.
type window struct {
	Mean   mean       // of the window under way
	End    int        // its last step
	Last   mc.Numbers // the average of the window before; nil if there is none
	Before mc.Numbers // that of the window before Last
	// Gain is that of Last over Before if the fit is to stop by itself, and at the end
	// of its steps else that of the result over Before.
	Gain  mc.Estimate
	Steep string `json:",omitempty"` // a parameter with which the ELBO rises steeply there, if there is one
}

// add counts the iterate of step t in and reports whether the window is full.
func (w *window) add(t int, theta []float64) bool {
	if w.End == 0 {
		w.End = t - 1 + shortestWindow
	}
	w.Mean.add(theta)
	return t == w.End
}

// next starts the window after the step t that ended one with average theta; shortest
// is how long it is at least.
func (w *window) next(t int, theta []float64, shortest int) {
	w.Before, w.Last = w.Last, append(w.Before[:0], theta...)
	w.Mean.reset()
	w.End = t + max(shortest, t/windowGrowth)
}

func (w window) clone() window {
	w.Mean = w.Mean.clone()
	w.Last, w.Before = slices.Clone(w.Last), slices.Clone(w.Before)
	return w
}

// What a fit may still gain over its last windows, in nats with two standard errors
// to spare, when its steps are over; and the factor by which a scale grows there if
// it seems to have no end.
const (
	gainAtEnd = 0.5
	runaway   = 2
)

// unfinished reports whether that was too much.
func unfinished(gain mc.Estimate) bool { return gain.Value-2*gain.SE > gainAtEnd }

// settled reports whether a window has gained too little to go on.
func settled(gain mc.Estimate, tolerance float64) bool {
	return math.Abs(gain.Value)+2*gain.SE <= tolerance // false for NaN
}
