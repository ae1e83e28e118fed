package vi

import (
	"github.com/facetvi/facet/vi/internal/watch"
)

// monitor is what a fit tells what it is at, and its log.
type monitor struct{ *watch.Watch }

func newMonitor(s job) monitor { return monitor{watch.New(s.Progress, s.Logger, s.Budget)} }

// scouted reports the log evidence that the independent search, a scout, has found.
func (m monitor) scouted(e Estimate) {
	if l := m.Logger; l != nil {
		l.Info("vi: independent search", "log evidence", e.Value, "se", e.SE)
	}
}

// searched reports what a search for cells has found, and the verdict.
func (m monitor) searched(f *findings) {
	if l := m.Logger; l != nil {
		l.Info("vi: cells", "tried", f.Tried, "kept", len(f.Cells), "left", f.Left, "log evidence", f.LogEvidence.Value, "se", f.LogEvidence.SE)
		l.Info("vi: verdict", "trust", string(f.Verdict.Trust), "reasons", f.Verdict.Reasons)
	}
}

// report reports the end.
func (m monitor) report(p *Posterior) {
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
