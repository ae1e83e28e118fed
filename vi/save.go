package vi

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/sealed"
	"github.com/facetvi/facet/vi/climb"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/saved"
	"github.com/facetvi/facet/vi/mixture"
)

// format names the saved form and its version; see package sealed.
const format = "facet fit 4"

// mostBytes is the length of the longest saved fit that Load reads: for a model of
// n latents 192 MiB, which is enough for a sampler's draws, and 16 KiB for each parameter of a full-rank normal, which is
// enough for 50 restarts.
func mostBytes(d *graph.Density) int {
	n := d.Dim()
	return 192<<20 + n*(n+3)/2<<14
}

// savedFile is a fit in JSON. What follows from the states is not saved beside them, except Q, for readers
// other than facet.
type savedFile struct {
	Model    saved.Model
	Settings savedSettings
	savedFit
}

// savedFit is what a fit has found, of a model and by settings.
type savedFit struct {
	Q      saved.Q
	Steps  int
	States []savedState
	Found  *savedFound `json:",omitempty"`
	// Reached are the draws of the last temperature of a sampler under way, encoded.
	Reached string `json:",omitempty"`
}

// savedState is the state of a fit with its start.
type savedState struct {
	Start saved.Q
	climb.State
}

type savedSettings struct {
	Settings
	Climb
	Cells     *Cells   `json:",omitempty"` // of a fit of cells
	Sampler   *Sampler `json:",omitempty"` // of one by the sampler alone
	Estimator savedEstimator
	Family    saved.Family
	Start     *saved.Q
}

type savedEstimator struct {
	saved.Value
	Boundary *Boundary `json:",omitempty"`
}

// Each calls visit for all families.
func (s *savedFile) Each(visit func(*saved.Family) error) error {
	err := errors.Join(visit(&s.Settings.Family), s.savedFit.Each(visit))
	if s.Settings.Start != nil {
		err = errors.Join(err, s.Settings.Start.Each(visit))
	}
	return err
}

func (s *savedFit) Each(visit func(*saved.Family) error) error {
	err := s.Q.Each(visit)
	for k := range s.States {
		err = errors.Join(err, s.States[k].Start.Each(visit))
	}
	return err
}

// Save writes the fit to w as two lines of JSON: a head with version and digest,
// and a body with parameters, optimiser, random streams, averages, settings, trace,
// and a fingerprint of its model. Numbers keep their last bit. OnStep,
// Progress, Logger and Checkpoint are not saved. Families and estimators of other packages
// are saved by their names and as JSON; it is an error if JSON loses some of their fields.
func (p *Posterior) Save(w io.Writer) error {
	if err := p.usable(); err != nil {
		return err
	}
	if w == nil {
		return errors.New("vi: saving the fit: a nil writer")
	}
	settings, err := saveSettings(p.job())
	if err != nil {
		return err
	}
	if err := sealed.Write(w, format, savedFile{saved.ModelOf(p.Density), settings, p.saved()}); err != nil {
		return fmt.Errorf("vi: saving the fit: %w", err)
	}
	return nil
}

// saved is what the fit has found.
func (p *Posterior) saved() savedFit {
	s := savedFit{Q: saved.QOf(p.Q), Steps: p.Steps}
	for _, st := range p.states {
		s.States = append(s.States, savedState{saved.QOf(st.Start), st})
	}
	if f := p.findings; f != nil && f.q == p.Q {
		s.Found = f.saved(p.Warnings)
	}
	s.Reached = encoded(p.reached...)
	return s
}

// Load reads a fit that Save or a checkpoint wrote; it reads r to its end. The density
// must be of the same program with the same observations; if not, the error says
// what differs. A file that was cut, lengthened or changed in any bit is an error. If the fit is of a
// family or by an estimator of another package, own must have one of that type, with any fields.
func Load(r io.Reader, d *graph.Density, own ...Named) (*Posterior, error) {
	switch {
	case r == nil:
		return nil, errors.New("vi: loading a fit: a nil reader")
	case d == nil:
		return nil, errors.New("vi: loading a fit: a nil density")
	}
	var s savedFile
	if err := sealed.Read(r, format, mostBytes(d), &s); err != nil {
		return nil, fmt.Errorf("vi: loading a fit: %w", err)
	}
	if err := s.Model.Check(saved.ModelOf(d)); err != nil {
		return nil, wrapped(err)
	}
	p, err := s.of(d, own)
	if err != nil {
		return nil, fmt.Errorf("vi: loading a fit: %w", err)
	}
	return p, nil
}

// of rebuilds the saved fit for d.
func (s *savedFile) of(d *graph.Density, own []Named) (*Posterior, error) {
	if err := s.Each(func(f *saved.Family) error { return f.Find(own) }); err != nil {
		return nil, err
	}
	settings, err := s.Settings.settings(d, own)
	if err != nil {
		return nil, err
	}
	settings.fill(d)
	return s.posterior(d, settings)
}

// posterior is the fit, of d's latents and by the settings.
func (s *savedFit) posterior(d *graph.Density, settings job) (*Posterior, error) {
	if err := settings.check(d); err != nil {
		return nil, err
	}
	q, err := s.Q.Of(d)
	switch {
	case err != nil:
		return nil, err
	case s.Steps < 0:
		return nil, fmt.Errorf("%d steps", s.Steps)
	case len(s.States) > settings.climb.Restarts:
		return nil, fmt.Errorf("%d fits for %d restarts", len(s.States), settings.climb.Restarts)
	case len(s.States) == 0:
		p := &Posterior{Density: d, Q: q, Steps: s.Steps, Settings: settings.settings(), findings: &findings{q: q}}
		if s.Reached != "" {
			if p.reached, err = points(s.Reached, d.Dim()); err != nil {
				return nil, err
			}
		}
		return p, s.Found.restore(p)
	}
	var states []climb.State
	for r, st := range s.States {
		if st.State.Start, err = st.Start.Of(d); err == nil {
			err = st.Check(settings.climb)
		}
		if err != nil {
			return nil, fmt.Errorf("restart %d: %w", r, err)
		}
		states = append(states, st.State)
	}
	r, err := climb.Assemble(d, settings.toClimb(), states)
	if err != nil {
		return nil, err
	}
	p := ofClimb(d, settings, r)
	return p, s.Found.restore(p)
}

func saveSettings(s job) (savedSettings, error) {
	out := savedSettings{Settings: s.Settings, Climb: Climb(s.climb), Family: saved.Family{Family: s.climb.Family}}
	if s.searches {
		out.Cells = &s.cells
	}
	if s.sampled {
		out.Sampler = &s.sampler
	}
	if err := saved.CheckKept(s.climb.Family); err != nil {
		return out, err
	}
	if s.climb.Start != nil {
		start := saved.QOf(s.climb.Start)
		out.Start = &start
	}
	switch e := s.climb.Estimator.(type) {
	case Boundary:
		out.Estimator = savedEstimator{saved.Value{Name: e.Name()}, &e}
		return out, nil
	case Score, Reparam:
		out.Estimator.Name = e.Name()
		return out, nil
	}
	if err := saved.CheckKept(s.climb.Estimator); err != nil {
		return out, err
	}
	out.Estimator.Value, _ = saved.ValueOf(s.climb.Estimator)
	return out, nil
}

func (s savedSettings) settings(d *graph.Density, own []Named) (job, error) {
	out := job{Settings: s.Settings, climb: climb.Settings(s.Climb)}
	if s.Cells != nil {
		out.cells, out.searches = *s.Cells, true
	}
	if s.Sampler != nil {
		out.sampler, out.sampled = *s.Sampler, true
	}
	if out.climb.Family = s.Family.Family; out.climb.Family == nil {
		return out, errors.New("no family")
	}
	var err error
	if s.Start != nil {
		if out.climb.Start, err = s.Start.Of(d); err != nil {
			return out, fmt.Errorf("its start: %w", err)
		}
	}
	if s.Estimator.Boundary != nil {
		out.climb.Estimator = *s.Estimator.Boundary
		return out, nil
	}
	x, err := saved.Find(s.Estimator.Value, own)
	if e, ok := x.(gradient.Estimator); ok || err != nil {
		out.climb.Estimator = e
		return out, err
	}
	out.climb.Estimator, err = gradient.Named(s.Estimator.Name)
	return out, err
}

// own are the families and the estimator of a fit by the settings.
func (s job) own() (own []Named) {
	if s.climb.Family != nil {
		own = append(own, s.climb.Family)
	}
	if s.climb.Start != nil {
		own = append(own, s.climb.Start.Family())
	}
	if s.climb.Estimator != nil {
		own = append(own, s.climb.Estimator)
	}
	return own
}

// A record is a fit in a journal.
type record struct {
	Family saved.Family // of its settings
	savedFit
}

// Each calls visit for all families in the record.
func (r *record) Each(visit func(*saved.Family) error) error {
	return errors.Join(visit(&r.Family), r.savedFit.Each(visit))
}

// openJournal opens the journal of d's fits by the settings in a folder, or makes one.
func openJournal(folder string, d *graph.Density, s job) (*saved.Journal, error) {
	s.Checkpoint, s.climb.CheckpointEvery = "", 1000 // which do not matter
	settings, err := saveSettings(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(folder, saved.JournalName), err)
	}
	return saved.OpenJournal(folder, d, settings, s.own())
}

// loadFrom is the fit of d with the key in a journal, or nil. It was by the settings.
func loadFrom(j *saved.Journal, key string, d *graph.Density, s job) (p *Posterior, err error) {
	var r record
	there, err := j.Load(key, d, &r)
	if !there {
		return nil, nil
	}
	if err == nil {
		if s.searches = r.Family.Family == family.Family(mixture.Cells{}); !s.searches {
			s.climb.Family = r.Family.Family
			s.fill(d)
		}
		p, err = r.posterior(d, s)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.Name(), err)
	}
	return p, nil
}

// addTo adds the fit with the key to a journal.
func addTo(j *saved.Journal, key string, p *Posterior) error {
	kept := p.Q.Family()
	if err := saved.CheckKept(kept); err != nil {
		return err
	}
	return j.Add(key, p.Density, &record{saved.Family{Family: kept}, p.saved()})
}
