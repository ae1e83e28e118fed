package climb

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/facetvi/facet/graph"
)

// monitor is what watches the fits of a climb: trace, checkpoints, progress, log, OnStep.
type monitor struct {
	Job
	d      *graph.Density
	stop   context.CancelCauseFunc // of all fits
	mu     sync.Mutex
	states []State // as last saved
	pace   *pace
}

// begin takes charge of fits and writes the first checkpoint, so that a file
// that cannot be written is known at once.
func (m *monitor) begin(fits []*fitter) error {
	m.pace = newPace(m.Job, fits)
	for r, f := range fits {
		f.number = r
		f.Trace = slices.Grow(f.Trace, min(f.s.Steps/f.s.TraceEvery+1, 10000)) // so that steps do not allocate
		m.states = append(m.states, f.snapshot())
	}
	return m.save()
}

// after is called after every step of f.
func (m *monitor) after(f *fitter) error {
	f.Recent.add(f.Theta)
	traced := f.Step%f.s.TraceEvery == 0 || f.Step == f.s.Steps || f.Done
	if traced {
		if err := f.trace(); err != nil {
			return err
		}
	}
	saves := m.Save != nil && f.Step%m.CheckpointEvery == 0
	if !traced && !saves && m.OnStep == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := f.number
	if traced {
		m.tell(r, f.Trace)
	}
	var err error
	if saves {
		f.Elapsed = time.Since(f.began)
		m.states[r] = f.snapshot()
		err = m.save()
	}
	if err == nil && m.OnStep != nil {
		err = m.OnStep(Step{f.Step, f.q, f.gradient, r})
	}
	if err != nil {
		m.stop(err) // the other restarts too
	}
	return err
}

// ended is called when f is at its end, or stopped by err.
func (m *monitor) ended(f *fitter, err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	f.Err, f.Elapsed = "", time.Since(f.began)
	if err != nil {
		f.Err = err.Error()
	}
	m.states[f.number] = f.snapshot()
	return m.save()
}

// tell reports the last point of a trace.
func (m *monitor) tell(restart int, trace []TracePoint) {
	p := trace[len(trace)-1]
	if m.Watch.Heard() {
		m.pace.at(restart, trace, m.Watch)
	}
	if l := m.Watch.Logger; l != nil && l.Enabled(context.Background(), slog.LevelDebug) {
		l.Debug("vi: step", "restart", restart, "step", p.Step, "elbo", p.ELBO.Value, "se", p.ELBO.SE, "elapsed", p.Elapsed)
	}
}

// save writes the checkpoint, if one is wanted.
func (m *monitor) save() error {
	if m.Save == nil {
		return nil
	}
	r, err := Assemble(m.d, m.Job, m.states)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return m.Save(r)
}
