package vi

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
)

// format is the first thing in a saved fit.
const format = "facet fit 1"

// saved is a fit in JSON. What the states imply is not in it twice, but for Q,
// for readers that are not facet.
type saved struct {
	Format   string
	Model    savedModel
	Settings savedSettings
	Q        MeanField
	Steps    int
	States   []fitState
}

// savedModel is what a fit remembers of its model.
type savedModel struct {
	Latents      []string
	Guards       int // hyperplanes
	Observations int
	Fingerprint  string // of the program
	Data         string // digest of the observations
}

type savedSettings struct {
	Settings
	Estimator savedEstimator
}

type savedEstimator struct {
	Name     string
	Boundary *boundary.Settings `json:",omitempty"`
}

// Save writes the fit to w as JSON: parameters, optimiser, random streams,
// averages, settings, trace, and what tells its model from others. Numbers keep
// their last bit. OnStep, Progress, Logger and Checkpoint are not saved.
func (p *Posterior) Save(w io.Writer) error {
	s := saved{Format: format, Model: modelOf(p.Density), Settings: saveSettings(p.Settings), Q: p.Q, Steps: p.Steps, States: p.states}
	if err := json.NewEncoder(w).Encode(s); err != nil {
		return fmt.Errorf("vi: saving the fit: %w", err)
	}
	return nil
}

// Load reads a fit that Save or a checkpoint wrote. The density must be of the
// same program with the same observations; if not, the error says what differs.
func Load(r io.Reader, d *graph.Density) (*Posterior, error) {
	var s saved
	if err := json.NewDecoder(r).Decode(&s); err != nil {
		return nil, fmt.Errorf("vi: loading a fit: %w", err)
	}
	if s.Format != format {
		return nil, fmt.Errorf("vi: loading a fit: the format is %q, not %q", s.Format, format)
	}
	if err := s.Model.check(modelOf(d)); err != nil {
		return nil, err
	}
	settings, err := s.Settings.settings()
	if err != nil {
		return nil, err
	}
	if err := s.Q.fault(d); err != nil {
		return nil, fmt.Errorf("vi: loading a fit: %w", err)
	}
	if len(s.States) == 0 {
		return &Posterior{Density: d, Q: s.Q, Steps: s.Steps, Settings: settings}, nil
	}
	for r := range s.States {
		if err := s.States[r].check(d); err != nil {
			return nil, fmt.Errorf("vi: loading a fit: restart %d: %w", r, err)
		}
	}
	return assemble(d, settings, s.States)
}

// Resume goes on with a fit that was interrupted, or saved on the way: it ends
// as if nothing had happened, to the last bit of everything but times. Set what
// Save cannot keep in p.Settings first: OnStep, Progress, Logger, Checkpoint.
// Raising p.Settings.Steps makes the fit longer. A fit that is done is returned
// as it is.
func (p *Posterior) Resume(ctx context.Context) (*Posterior, error) {
	if len(p.states) == 0 {
		return Fit(ctx, p.Density, p.Settings)
	}
	s := p.Settings
	s.fill()
	if err := s.check(p.Density); err != nil {
		return nil, err
	}
	var fits []*fitter
	for r, st := range p.states {
		f, err := newFitter(p.Density, s.restart(r, st.Start))
		if err == nil {
			err = f.restore(st)
		}
		if err != nil {
			return nil, fmt.Errorf("vi: %w", err)
		}
		fits = append(fits, f)
	}
	return runAll(ctx, p.Density, s, fits, newMonitor(s))
}

// snapshot is a copy of the state that shares nothing that changes.
func (f *fitter) snapshot() fitState {
	s := f.fitState
	s.Theta = slices.Clone(s.Theta)
	s.Adam = *s.Adam.Clone()
	s.Tail, s.Recent, s.Window = s.Tail.clone(), s.Recent.clone(), s.Window.clone()
	s.Trace = slices.Clone(s.Trace)
	s.Streams = nil
	for _, b := range f.g.state {
		state, _ := b.pcg.MarshalBinary() // never fails
		s.Streams = append(s.Streams, state)
	}
	return s
}

// restore puts f in the state s.
func (f *fitter) restore(s fitState) error {
	if len(s.Streams) != len(f.g.state) {
		return fmt.Errorf("Settings.Samples = %d cannot go on from a fit with another number of samples", f.s.Samples)
	}
	for b, state := range s.Streams {
		if err := f.g.state[b].pcg.UnmarshalBinary(state); err != nil {
			return fmt.Errorf("random stream %d: %w", b, err)
		}
	}
	f.fitState = s
	f.fitState = f.snapshot()
	f.Streams, f.Err, f.q = nil, "", FromTheta(s.Theta)
	if f.Step < f.s.averagesFrom() {
		f.Tail.reset() // of a shorter fit
	}
	return nil
}

// optimizer is the optimiser's state with the step size that it was given.
func (s *fitState) optimizer() *Adam {
	a := s.Adam.Clone()
	a.StepSize = s.Base
	return a
}

// check reports a state that is none of a fit of d.
func (s *fitState) check(d *graph.Density) error {
	n := 2 * d.Dim()
	for _, v := range []numbers{s.Tail.Sum, s.Recent.Sum, s.Window.Mean.Sum, s.Window.Last} {
		if v != nil && len(v) != n {
			return fmt.Errorf("an average of %d parameters for %d", len(v), n)
		}
	}
	if err := FromTheta(s.Theta).fault(d); err != nil || len(s.Theta) != n {
		return fmt.Errorf("%d parameters for %d: %w", len(s.Theta), n, err)
	}
	return errors.Join(s.Start.fault(d), s.Adam.check(n))
}

func modelOf(d *graph.Density) savedModel {
	data := d.Data()
	raw := make([]byte, 0, 8*len(data))
	for _, x := range data {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(x))
	}
	return savedModel{
		Latents: d.Latents(), Guards: d.Arrangement().Len(), Observations: len(data),
		Fingerprint: d.Fingerprint(), Data: fmt.Sprintf("%x", sha256.Sum256(raw)),
	}
}

// check reports how the model of a saved fit differs from another.
func (m savedModel) check(now savedModel) error {
	const prefix = "vi: the fit is of another model: "
	for i := range min(len(m.Latents), len(now.Latents)) {
		if m.Latents[i] != now.Latents[i] {
			return fmt.Errorf(prefix+"its latent %d is %q, here it is %q", i, m.Latents[i], now.Latents[i])
		}
	}
	switch {
	case len(m.Latents) != len(now.Latents):
		return fmt.Errorf(prefix+"it has %d latents, here are %d", len(m.Latents), len(now.Latents))
	case m.Guards != now.Guards:
		return fmt.Errorf(prefix+"its guards are %d hyperplanes, here are %d", m.Guards, now.Guards)
	case m.Observations != now.Observations:
		return fmt.Errorf(prefix+"it has %d observations, here are %d", m.Observations, now.Observations)
	case m.Fingerprint != now.Fingerprint:
		return fmt.Errorf(prefix+"latents are named alike, but expressions or guards differ (fingerprint %.8s, here %.8s)", m.Fingerprint, now.Fingerprint)
	case m.Data != now.Data:
		return errors.New("vi: the fit is of other observations: the program is the same, but values of the data differ")
	}
	return nil
}

func saveSettings(s Settings) savedSettings {
	switch e := s.Estimator.(type) {
	case nil:
		return savedSettings{s, savedEstimator{}}
	case Boundary:
		return savedSettings{s, savedEstimator{"boundary", &e.Settings}}
	default:
		return savedSettings{s, savedEstimator{e.Name(), nil}}
	}
}

func (s savedSettings) settings() (Settings, error) {
	switch {
	case s.Estimator.Boundary != nil:
		s.Settings.Estimator = Boundary{*s.Estimator.Boundary}
	case s.Estimator.Name != "":
		var err error
		if s.Settings.Estimator, err = EstimatorNamed(s.Estimator.Name); err != nil {
			return Settings{}, err
		}
	}
	return s.Settings, nil
}
