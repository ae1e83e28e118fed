package climb

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
)

// run takes the steps that are left, watched by m if it is not nil.
func (f *fitter) run(ctx context.Context, m *monitor) error {
	var budget cputime.Limit
	if m != nil {
		budget = m.Watch.Budget
	}
	f.began, f.Cut = time.Now().Add(-f.Elapsed), false
	for f.Step < f.s.Steps && !f.Done {
		if f.Cut = budget.Over(); f.Cut {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("stopped after step %d: %w", f.Step, cause(ctx))
		}
		if err := f.step(); err != nil {
			f.failed = true
			return fmt.Errorf("step %d: %w", f.Step+1, err)
		}
		f.Step++
		err := f.average()
		if err == nil && m != nil && f.Step == f.s.Steps {
			err = f.conclude()
		}
		if err != nil {
			return fmt.Errorf("step %d: %w", f.Step, err)
		}
		if m == nil {
			continue
		}
		if err := m.after(f); err != nil {
			return fmt.Errorf("step %d: %w", f.Step, err)
		}
	}
	return nil
}

// step moves the iterate; if the gradient is not finite it changes nothing.
func (f *fitter) step() error {
	f.g.From(f.Step)
	g, err := f.g.Estimate(f.q)
	if err != nil {
		return err
	}
	f.gradient = g
	if err := f.checkGradient(g); err != nil {
		return err
	}
	if f.s.Schedule.Shape != Constant {
		f.Adam.StepSize = orDefault(f.Base, 0.001) * f.s.Schedule.At(f.Step+1, f.s.Steps)
	}
	if !f.units.plain {
		floats.MulTo(f.scaled, g, f.units.of)
		g = f.scaled
		if q, ok := f.q.(family.Natural); ok {
			q.Natural(g)
		}
	}
	f.Adam.Direction(f.move, g)
	for _, r := range f.units.reach {
		f.move[r.param] *= r.factor
	}
	f.hold()
	f.q.Move(f.move)
	if !f.units.plain {
		f.units.at(f.q, f.Step+1)
	}
	return nil
}

// average counts the iterate in, and asks at the end of a window whether the fit
// is done.
func (f *fitter) average() error {
	if f.Step >= f.s.averagesFrom() {
		f.Tail.add(f.Theta)
	}
	if f.Step >= f.s.Steps/mostHeld {
		f.release()
	}
	if !f.Window.add(f.Step, f.Theta) {
		return nil
	}
	f.Window.Mean.write(f.line.mean)
	shortest, err := f.judge()
	if err != nil {
		return err
	}
	f.Window.next(f.Step, f.line.mean, shortest)
	return nil
}

// judge asks at the end of a window, whose average is f.line.mean, whether latents are
// still to be held, and whether the fit is done; and says how long the next window is
// at least.
func (f *fitter) judge() (shortest int, err error) {
	last := f.Window.Last
	if last == nil || f.s.Stop != Automatic && f.Held == nil && !f.isFrozen() {
		return shortestWindow, nil
	}
	if f.Window.Gain, err = f.gain(last, f.line.mean, f.Step); err != nil {
		return 0, err
	}
	f.Window.Steep = f.steep()
	travels := f.Window.Steep != "" || f.travels(last, f.line.mean, f.Window.Mean.N)
	switch {
	case f.s.Stop == Automatic && f.Held == nil && !travels:
		enough := (lastSamples + f.s.Samples - 1) / f.s.Samples
		ends := settled(f.Window.Gain, f.s.Tolerance)
		f.Done = ends && f.Halved > 0 && f.Window.Mean.N >= enough
		if !f.Done && (ends || f.Window.Gain.Value < 2*f.Window.Gain.SE) {
			f.halve()
			f.Adam.StepSize = f.Base
		}
		if ends {
			return enough, nil
		}
	case f.Held != nil && !unfinished(f.Window.Gain) && !travels:
		f.release()
	}
	return shortestWindow, nil
}

// conclude finds at the end of the steps what the last of them have gained.
func (f *fitter) conclude() (err error) {
	if f.s.Stop != Automatic && f.Window.Before != nil {
		if f.Window.Gain, err = f.gain(f.Window.Before, f.result().Theta(), f.Step); err == nil {
			f.Window.Steep = f.steep()
		}
	}
	return err
}

// checkGradient names the latents whose gradient is not finite, and a term of
// the model that is to blame.
func (f *fitter) checkGradient(g []float64) error {
	sum := 0.0
	for _, x := range g {
		sum += x * 0 // NaN if x is not finite
	}
	if sum == 0 {
		return nil
	}
	var bad []string
	names := f.d.Latents()
	for k, x := range g {
		if name := names[f.q.Param(k).Latent]; !finite(x) && !slices.Contains(bad, name) {
			bad = append(bad, name)
		}
	}
	if len(bad) > 5 {
		bad = append(bad[:5], "…")
	}
	err := fmt.Errorf("%w for %s", gradient.ErrNotFinite, strings.Join(bad, ", "))
	if why := gradient.Blame(f.d, f.q); why != "" {
		err = fmt.Errorf("%w: %s", err, why)
	}
	return err
}
