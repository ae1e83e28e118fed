package climb

import (
	"fmt"
	"slices"
	"time"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
)

// fitter is a fit under way.
type fitter struct {
	State
	d        *graph.Density
	s        Job // of this fit, which has a Start and a Seed of its own
	number   int // of the fit
	g        *gradient.Runner
	meter    *check.Meter // of the trace; nil until it is needed
	q        family.Q     // the iterate
	gradient []float64    // the last, a view
	units    units        // of its parameters
	scaled   []float64    // the gradient in these units,
	move     []float64    // and Adam's step
	line     line         // between two averages
	failed   bool         // a gradient was not finite
	began    time.Time
}

func fitterWith(g *gradient.Runner, d *graph.Density, s Job, start family.Q) *fitter {
	n := len(start.Theta())
	f := &fitter{
		d: d, s: s, g: g, q: start.Clone(), units: newUnits(d, start, s.Optimizer == nil), scaled: make([]float64, n), move: make([]float64, n),
		line: line{mean: make([]float64, n), q: start.Clone()},
	}
	f.units.at(f.q, 0)
	f.Start, f.Theta, f.Adam = start, f.q.Theta(), Adam{StepSize: s.StepSize}
	if !f.units.plain {
		f.Adam.Clip = clip
	}
	if s.Optimizer != nil {
		f.Adam = *s.Optimizer.Clone()
	}
	f.Base = f.Adam.StepSize
	return f
}

// line is where a fit looks between two averages.
type line struct {
	mean        []float64 // scratch: an average,
	q           family.Q  // and a member on the line
	least, most []float64 // of the gradients there, by parameter
}

// snapshot is a copy of the state that shares nothing that changes.
func (f *fitter) snapshot() State {
	s := f.State
	s.Theta = slices.Clone(s.Theta)
	s.Adam = *s.Adam.Clone()
	s.Tail, s.Recent, s.Window = s.Tail.clone(), s.Recent.clone(), s.Window.clone()
	s.Trace = slices.Clone(s.Trace)
	s.Streams = f.g.Streams()
	return s
}

// restore puts f in the state s.
func (f *fitter) restore(s State) error {
	if err := f.g.SetStreams(s.Streams); err != nil {
		return fmt.Errorf("Climb.Samples = %d cannot go on from a fit with another number of samples: %w", f.s.Samples, err)
	}
	f.State = s
	f.State = f.snapshot()
	f.q.Set(s.Theta)
	f.units.at(f.q, s.Step)
	f.Theta, f.Streams, f.Err = f.q.Theta(), nil, ""
	if f.Step < f.s.averagesFrom() {
		f.Tail.reset() // of a shorter fit
	}
	return nil
}
