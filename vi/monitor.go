package vi

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/internal/watch"
)

// monitor is what watches a fit: trace, checkpoints, progress, log, OnStep. The
// restarts share it.
type monitor struct {
	s    job
	d    *graph.Density
	stop context.CancelCauseFunc // of all restarts
	*watch.Watch

	mu     sync.Mutex
	states []fitState // as last saved
	pace   *pace
}

func newMonitor(s job) *monitor {
	return &monitor{s: s, Watch: watch.New(s.Progress, s.Logger, s.Budget)}
}

// begin takes charge of fits and writes the first checkpoint, so that a file
// that cannot be written is known at once.
func (m *monitor) begin(d *graph.Density, fits []*fitter, stop context.CancelCauseFunc) error {
	m.d, m.stop = d, stop
	m.pace = newPace(m.s, fits)
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
	saves := m.s.Checkpoint != "" && f.Step%m.s.CheckpointEvery == 0
	if !traced && !saves && m.s.OnStep == nil {
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
	if err == nil && m.s.OnStep != nil {
		err = m.s.OnStep(Step{f.Step, f.q, f.gradient, r})
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
	m.pace.at(restart, trace, m.Watch)
	if l := m.Logger; l != nil && l.Enabled(context.Background(), slog.LevelDebug) {
		l.Debug("vi: step", "restart", restart, "step", p.Step, "elbo", p.ELBO.Value, "se", p.ELBO.SE, "elapsed", p.Elapsed)
	}
}

// slowCompilation is the number of guards whose jumps take a second to compile, if
// states depend on all of them.
const slowCompilation = 300

// compiling says that jumps are being compiled, if that may take long.
func (m *monitor) compiling(d *graph.Density) {
	if n := d.Arrangement().Len(); n > slowCompilation {
		m.Now("compiling the jumps at %d guards", n)
	}
}

// seeking says that starts are being looked for.
func (m *monitor) seeking() {
	m.Now("looking for a start among %d draws", m.s.StartDraws)
}

// search returns what tells the progress of a part of that search: it is to be
// called with how many more of total things have been done.
func (m *monitor) search(total int, things string) (done func(n int)) {
	all := 0
	return func(n int) {
		m.mu.Lock()
		defer m.mu.Unlock()
		all += n
		m.Soon("looking for a start: %d of %d %s", all, total, things)
	}
}

// foundStarts reports the starts that were tried, best first.
func (m *monitor) foundStarts(list []candidate) {
	if m.Logger == nil {
		return
	}
	var elbos []float64 // of those whose short fit did not fail
	for _, c := range list {
		if finite(c.score) {
			elbos = append(elbos, c.score)
		}
	}
	m.Logger.Info("vi: starts", "draws", m.s.StartDraws, "tried", len(list), "elbo", elbos)
}

// scouted reports the log evidence that the independent search, a scout, has found.
func (m *monitor) scouted(e Estimate) {
	if l := m.Logger; l != nil {
		l.Info("vi: independent search", "log evidence", e.Value, "se", e.SE)
	}
}

// searched reports what a search for cells has found, and the verdict.
func (m *monitor) searched(f *findings) {
	if l := m.Logger; l != nil {
		l.Info("vi: cells", "tried", f.Tried, "kept", len(f.Cells), "left", f.Left, "log evidence", f.LogEvidence.Value, "se", f.LogEvidence.SE)
		l.Info("vi: verdict", "trust", string(f.Verdict.Trust), "reasons", f.Verdict.Reasons)
	}
}

// report reports the end.
func (m *monitor) report(p *Posterior) {
	m.End()
	l := m.Logger
	if l == nil {
		return
	}
	for r, x := range p.Restarts {
		l.Info("vi: fit", "restart", r, "kept", x.Kept, "steps", x.Steps, "elbo", x.ELBO.Value, "se", x.ELBO.SE, "stopped", x.Err)
	}
	for _, w := range p.Warnings {
		l.Warn("vi: " + w)
	}
}
