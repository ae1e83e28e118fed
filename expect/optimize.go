package expect

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/mc"
)

// Settings say how an expectation is optimised. The zero value works.
type Settings struct {
	Seed     uint64
	Samples  int     // draws a step; 256 if 0
	Steps    int     // at most so many; 20 000 if 0
	StepSize float64 // of Adam, in units of the parameters (graph.Scale); 0.03 if 0
	// Tolerance is how much a window of steps may still change E[f], in its own unit. If it is 0 it is 1e-3 standard
	// deviations of f and 1e-6 of E[f] itself.
	Tolerance float64
	Final     int // draws of the estimate at the optimum; 100 000 if 0
	// Progress gets a line for each window of steps; nil for none.
	Progress io.Writer
	// Checkpoint is a file that has the state after each window: if it is there a run with the same program and settings goes on from it, to
	// the same bits. None if empty.
	Checkpoint string
}

// complete replaces zeros by defaults.
func (s Settings) complete() (Settings, error) {
	s.Samples, s.Steps, s.Final = cmp.Or(s.Samples, 256), cmp.Or(s.Steps, 20_000), cmp.Or(s.Final, 100_000)
	s.StepSize = cmp.Or(s.StepSize, 0.03)
	switch {
	case s.Samples < 2, s.Steps < 1, s.Final < 2:
		return s, fmt.Errorf("expect: settings: %d draws a step, %d steps and %d draws at the end: at least 2, 1 and 2", s.Samples, s.Steps, s.Final)
	case !(s.StepSize > 0), !(s.Tolerance >= 0), math.IsInf(s.StepSize+s.Tolerance, 0):
		return s, fmt.Errorf("expect: settings: a step size of %v and a tolerance of %v", s.StepSize, s.Tolerance)
	}
	return s, nil
}

// An Optimum is where an optimisation ended.
type Optimum struct {
	// Estimate has the parameters, E[f] and its gradient there, by draws of their own.
	Estimate
	// Expectation is E[f] there, for further questions.
	Expectation *Expectation
	// Settled reports whether it ended because nothing was left to gain, and Steps how many it took.
	Settled bool
	Steps   int
	// Gain is what a further step of the optimiser's first size could gain at most, to first order: Σ |∂E[f]/∂θ|·step.
	Gain mc.Estimate
	// AtBound are the parameters at an end of their interval, where the gradient need not vanish.
	AtBound []string
}

// String says what was found.
func (o *Optimum) String() string {
	s := o.Estimate.String() + fmt.Sprintf("after %d steps; a further one could gain %v\n", o.Steps, o.Gain)
	if !o.Settled {
		s += "it had not settled by then\n"
	}
	for _, name := range o.AtBound {
		s += fmt.Sprintf("%s is at its bound\n", name)
	}
	return s
}

// Minimize looks for the parameters with the least E[f], from where e is: by steps of Adam, whose iterates are averaged over windows.
// It ends when a window changes E[f] by less than the tolerance, the standard error counted against it, and the steps have
// been halved at least once; or after Settings.Steps. If ctx ends it returns what it has, with the error of ctx.
func (e *Expectation) Minimize(ctx context.Context, s Settings) (*Optimum, error) {
	return e.optimize(ctx, s, -1)
}

// Maximize is Minimize of −f.
func (e *Expectation) Maximize(ctx context.Context, s Settings) (*Optimum, error) {
	return e.optimize(ctx, s, 1)
}

// An ascent is a run of the optimiser. State is all of it.
type ascent struct {
	s     Settings
	sign  float64 // of what is maximised
	r     *runner
	unit  []float64
	boxes []box
	tol   float64
	run   run
	state
}

// A box is where the optimiser moves a parameter: its value, between numbers, if it is in an interval, and else its coordinate.
type box struct {
	lo, hi float64 // just inside the interval
	values bool
}

// inside is the part of an interval's length that the optimiser stays away from its ends.
const inside = 1e-6

func newBox(d *graph.Density, i int) box {
	lo, hi := d.Coordinate(i).Bounds()
	if width := hi - lo; !math.IsInf(width, 0) {
		return box{lo + inside*width, hi - inside*width, true}
	}
	return box{math.Inf(-1), math.Inf(1), false}
}

// coord are the coordinates of what the optimiser moves, and slope its derivatives by them.
func (a *ascent) coord(at []float64) (coord, slope []float64, err error) {
	coord, slope = slices.Clone(at), make([]float64, len(at))
	for i := range coord {
		if slope[i] = 1; a.boxes[i].values {
			if coord[i], err = a.r.d.Coordinate(i).Inverse(at[i]); err != nil {
				return nil, nil, err
			}
			slope[i] = a.r.d.Coordinate(i).Slope(coord[i])
		}
	}
	return coord, slope, nil
}

// gradient is that of what is maximised, by what the optimiser moves.
func (a *ascent) gradient(ctx context.Context, at []float64, seed uint64) ([]float64, error) {
	coord, slope, err := a.coord(at)
	if err != nil {
		return nil, err
	}
	found, err := a.r.run(ctx, coord, seed)
	if err != nil {
		return nil, err
	}
	g := make([]float64, len(at))
	for i := range g {
		g[i] = a.sign * found[1+i].Mean / slope[i]
	}
	return g, nil
}

// Windows are those of vi.Automatic.
const (
	shortestWindow = 50
	windowGrowth   = 7
	gainSamples    = 3200 // that tell two windows apart, and that the last one has at least
)

// What streams of one seed are for.
const (
	stepStream = iota
	gainStream
	finalStream
	scaleStream
)

func (a *ascent) seed(stream, n int) uint64 {
	return parallel.Mix(parallel.Mix(a.s.Seed, uint64(stream)), uint64(n))
}

func (e *Expectation) optimize(ctx context.Context, s Settings, sign float64) (*Optimum, error) {
	s, err := s.complete()
	if err != nil {
		return nil, err
	}
	if len(e.coord) == 0 {
		return nil, fmt.Errorf("expect: nothing to optimise: the program has no parameters; add some by Model.Param")
	}
	_, scale := e.d.PriorStart()
	a := &ascent{s: s, sign: sign, unit: scale[:len(e.coord)]}
	a.At, a.Sum, a.End = slices.Clone(e.coord), make(mc.Numbers, len(e.coord)), shortestWindow
	for i, u := range e.coord {
		b := newBox(e.d, i)
		if b.values {
			a.At[i] = min(max(b.lo, e.d.Coordinate(i).Value(u)), b.hi)
			a.unit[i] *= e.d.Coordinate(i).Slope(u)
		}
		a.boxes = append(a.boxes, b)
	}
	a.Adam.StepSize, a.Adam.Clip = s.StepSize, 10
	if a.r, err = newRunner(e.d, e.by, s.Samples, widthOf(s.Samples, stepBlocks)); err != nil {
		return nil, err
	}
	a.run = run{e.d.Fingerprint(), s.Seed, s.Samples, sign, s.StepSize, s.Tolerance, mc.Numbers(e.coord)}
	last, release, err := resume(s.Checkpoint, checkpoint{a.run, a.state})
	if err != nil {
		return nil, err
	}
	defer release()
	a.state = last.State
	err = a.findTolerance(ctx, e)
	for err == nil && !a.Done && a.Step < s.Steps {
		err = a.step(ctx)
	}
	return a.finish(ctx, e, err)
}

// stepBlocks is how many blocks a step has at least.
const stepBlocks = 16

// findTolerance makes a tolerance of the spread of f at the start.
func (a *ascent) findTolerance(ctx context.Context, e *Expectation) error {
	if a.tol = a.s.Tolerance; a.tol > 0 {
		return nil
	}
	start, err := e.Estimate(ctx, 4096, a.seed(scaleStream, 0))
	if err != nil {
		return err
	}
	a.tol = 1e-3*start.Value.SE*math.Sqrt(float64(start.Samples)) + 1e-6*math.Abs(start.Value.Value)
	return nil
}

// step takes one step, and ends the window if it is full.
func (a *ascent) step(ctx context.Context) error {
	g, err := a.gradient(ctx, a.At, a.seed(stepStream, a.Step))
	if err != nil {
		return err
	}
	for i, u := range a.unit {
		g[i] *= u
	}
	step := make([]float64, len(g))
	a.Adam.Direction(step, g)
	for i, u := range a.unit {
		a.At[i] = min(max(a.boxes[i].lo, a.At[i]+u*step[i]), a.boxes[i].hi)
		a.Sum[i] += a.At[i]
	}
	a.Step++
	if a.Step == a.End {
		return a.endWindow(ctx)
	}
	return nil
}

// average is that of the window's iterates; where it is itself before the first.
func (a *ascent) average() []float64 {
	x, n := make([]float64, len(a.Sum)), a.Step-a.From
	for i := range x {
		if x[i] = a.At[i]; n > 0 {
			x[i] = a.Sum[i] / float64(n)
		}
	}
	return x
}

// endWindow compares the window with the one before.
func (a *ascent) endWindow(ctx context.Context) error {
	now := a.average()
	if a.Last != nil {
		gain, err := a.gain(ctx, a.Last, now)
		if err != nil {
			return err
		}
		samples := (a.Step - a.From) * a.r.samples()
		a.Done = a.Halved > 0 && samples >= gainSamples && math.Abs(gain.Value)+2*gain.SE <= a.tol && !a.travels(now)
		if !a.Done && gain.Value <= max(2*gain.SE, a.tol) {
			a.Halved++
			a.Adam.StepSize /= 2
		}
	}
	if !a.Done {
		a.Last, a.From = now, a.Step
		clear(a.Sum)
		a.End = a.Step + max(shortestWindow, a.Step/windowGrowth)
	}
	a.report(now)
	return checkpoint{a.run, a.state}.save(a.s.Checkpoint)
}

// gain estimates by how much the objective is better at y than at x: the integral of its gradient along the line. The
// standard error counts the change of the gradient as noise.
func (a *ascent) gain(ctx context.Context, x, y []float64) (mc.Estimate, error) {
	var m mc.Moments
	at := make([]float64, len(x))
	points := max(16, gainSamples/a.r.samples())
	for k := range points {
		u := (float64(k) + 0.5) / float64(points)
		for i := range at {
			at[i] = x[i] + u*(y[i]-x[i])
		}
		g, err := a.gradient(ctx, at, parallel.Mix(a.seed(gainStream, a.Step), uint64(k)))
		if err != nil {
			return mc.Estimate{}, err
		}
		slope := 0.0
		for i := range at {
			slope += g[i] * (y[i] - x[i])
		}
		m.Add(slope)
	}
	return m.Estimate(), nil
}

// travels reports whether a parameter went from window to window by more than half of what its steps could have moved it.
func (a *ascent) travels(now []float64) bool {
	most := 0.5 * a.Adam.StepSize * float64(a.Step-a.From)
	for i, u := range a.unit {
		if math.Abs(now[i]-a.Last[i]) > most*u {
			return true
		}
	}
	return false
}

// atBound is the part of an interval's length from its end within which a parameter is as good as there.
const atBound = 1e-3

// finish estimates what is to be known at the end. cause is why it ended early, or nil.
func (a *ascent) finish(ctx context.Context, e *Expectation, cause error) (*Optimum, error) {
	if cause != nil && ctx.Err() == nil {
		return nil, cause
	}
	at := []float64(a.Last)
	if a.Step-a.From >= shortestWindow || at == nil {
		at = a.average()
	}
	coord, _, err := a.coord(at)
	if err != nil {
		return nil, err
	}
	best := &Expectation{e.d, coord, e.by}
	found, err := best.Estimate(context.WithoutCancel(ctx), a.s.Final, a.seed(finalStream, 0))
	if err != nil {
		return nil, err
	}
	o := &Optimum{Expectation: best, Estimate: *found, Settled: a.Done, Steps: a.Step}
	for i, g := range found.Gradient {
		b, step := a.boxes[i], a.s.StepSize*a.unit[i]
		if !b.values {
			step *= e.d.Coordinate(i).Slope(coord[i])
		} else if a.sign*g.Value > 0 {
			step = max(0, min(step, b.hi-at[i]))
		} else {
			step = max(0, min(step, at[i]-b.lo))
		}
		o.Gain = o.Gain.Plus(mc.Estimate{Value: math.Abs(g.Value) * step, SE: g.SE * step})
		if b.values && min(b.hi-at[i], at[i]-b.lo) < atBound*(b.hi-b.lo) {
			o.AtBound = append(o.AtBound, found.Params[i])
		}
	}
	return o, cause
}

// report writes a line about the window.
func (a *ascent) report(now []float64) {
	if a.s.Progress == nil {
		return
	}
	fmt.Fprintf(a.s.Progress, "step %6d, size %.2g:", a.Step, a.Adam.StepSize)
	for i, name := range a.r.d.Latents()[:len(now)] {
		x := now[i]
		if !a.boxes[i].values {
			x = a.r.d.Coordinate(i).Value(x)
		}
		fmt.Fprintf(a.s.Progress, " %s %.6g", name, x)
	}
	fmt.Fprintln(a.s.Progress)
}
