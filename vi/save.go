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
	"reflect"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/mc"
)

// format is the first thing in a saved fit.
const format = "facet fit 2"

// saved is a fit in JSON. What the states imply is not in it twice, but for Q,
// for readers that are not facet.
type saved struct {
	Format   string
	Model    savedModel
	Settings savedSettings
	Q        savedQ
	Steps    int
	States   []savedState
}

// families are those that a saved fit can have.
var families = []family.Family{family.MeanField{}, family.Softplus{}, family.Structured{}, family.FullRank{}, family.LowRank{}}

// savedFamily is a family by its name and its fields.
type savedFamily struct{ family.Family }

type familyJSON struct {
	Name   string
	Fields json.RawMessage
}

// MarshalJSON implements json.Marshaler.
func (f savedFamily) MarshalJSON() ([]byte, error) {
	fields, err := json.Marshal(f.Family)
	if err != nil {
		return nil, err
	}
	return json.Marshal(familyJSON{f.Name(), fields})
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *savedFamily) UnmarshalJSON(data []byte) error {
	var j familyJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	for _, known := range families {
		if known.Name() == j.Name {
			v := reflect.New(reflect.TypeOf(known))
			if err := json.Unmarshal(j.Fields, v.Interface()); err != nil {
				return err
			}
			f.Family = v.Elem().Interface().(family.Family)
			return nil
		}
	}
	return fmt.Errorf("unknown family %q", j.Name)
}

// savedQ is a member of a family.
type savedQ struct {
	Family savedFamily
	Theta  mc.Numbers
}

func saveQ(q family.Q) savedQ { return savedQ{savedFamily{q.Family()}, q.Theta()} }

// of is the member of d's latents.
func (s savedQ) of(d *graph.Density) (family.Q, error) {
	if s.Family.Family == nil {
		return nil, errors.New("no family")
	}
	q, err := s.Family.New(d)
	if err != nil {
		return nil, err
	}
	if len(s.Theta) != len(q.Theta()) {
		return nil, fmt.Errorf("%d parameters for %d", len(s.Theta), len(q.Theta()))
	}
	q.Set(s.Theta)
	return q, family.Check(q, d)
}

// savedState is the state of a fit with its start.
type savedState struct {
	Start savedQ
	fitState
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
	Family    savedFamily
	Start     *savedQ
}

type savedEstimator struct {
	Name     string
	Boundary *Boundary `json:",omitempty"`
}

// Save writes the fit to w as JSON: parameters, optimiser, random streams,
// averages, settings, trace, and what tells its model from others. Numbers keep
// their last bit. OnStep, Progress, Logger and Checkpoint are not saved.
func (p *Posterior) Save(w io.Writer) error {
	filled := p.Settings
	if filled.Family == nil {
		filled.Family = p.Q.Family()
	}
	filled.fill()
	settings, err := saveSettings(filled)
	if err != nil {
		return err
	}
	s := saved{Format: format, Model: modelOf(p.Density), Settings: settings, Q: saveQ(p.Q), Steps: p.Steps}
	for _, st := range p.states {
		s.States = append(s.States, savedState{saveQ(st.Start), st})
	}
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
	settings, err := s.Settings.settings(d)
	if err != nil {
		return nil, fmt.Errorf("vi: loading a fit: %w", err)
	}
	q, err := s.Q.of(d)
	if err != nil {
		return nil, fmt.Errorf("vi: loading a fit: %w", err)
	}
	if len(s.States) == 0 {
		return &Posterior{Density: d, Q: q, Steps: s.Steps, Settings: settings}, nil
	}
	var states []fitState
	for r, st := range s.States {
		st.fitState.Start, err = st.Start.of(d)
		if err == nil {
			err = st.check()
		}
		if err != nil {
			return nil, fmt.Errorf("vi: loading a fit: restart %d: %w", r, err)
		}
		states = append(states, st.fitState)
	}
	return assemble(d, settings, states)
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
	s.Streams = f.g.Streams()
	return s
}

// restore puts f in the state s.
func (f *fitter) restore(s fitState) error {
	if err := f.g.SetStreams(s.Streams); err != nil {
		return fmt.Errorf("Settings.Samples = %d cannot go on from a fit with another number of samples: %w", f.s.Samples, err)
	}
	f.fitState = s
	f.fitState = f.snapshot()
	f.q.Set(s.Theta)
	f.setUnits(s.Step)
	f.Theta, f.Streams, f.Err = f.q.Theta(), nil, ""
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

// check reports a state that is none of a fit from its start.
func (s *fitState) check() error {
	n := len(s.Start.Theta())
	for _, v := range []mc.Numbers{s.Tail.Sum, s.Recent.Sum, s.Window.Mean.Sum, s.Window.Last} {
		if v != nil && len(v) != n {
			return fmt.Errorf("an average of %d parameters for %d", len(v), n)
		}
	}
	if len(s.Theta) != n {
		return fmt.Errorf("%d parameters for %d", len(s.Theta), n)
	}
	now := s.Start.Clone()
	now.Set(s.Theta)
	if k := now.Fault(); k >= 0 {
		return fmt.Errorf("parameter %d is %v", k, s.Theta[k])
	}
	return s.Adam.check(n)
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

func saveSettings(s Settings) (savedSettings, error) {
	out := savedSettings{Settings: s, Family: savedFamily{s.Family}}
	if s.Start != nil {
		start := saveQ(s.Start)
		out.Start = &start
	}
	switch e := s.Estimator.(type) {
	case Boundary:
		out.Estimator = savedEstimator{e.Name(), &e}
	default:
		out.Estimator = savedEstimator{Name: e.Name()}
		if _, err := gradient.Named(e.Name()); err != nil {
			return out, fmt.Errorf("vi: saving the fit: %w; a fit by another estimator cannot be saved", err)
		}
	}
	return out, nil
}

func (s savedSettings) settings(d *graph.Density) (Settings, error) {
	out := s.Settings
	out.Family = s.Family.Family
	var err error
	if s.Start != nil {
		if out.Start, err = s.Start.of(d); err != nil {
			return out, fmt.Errorf("its start: %w", err)
		}
	}
	if s.Estimator.Boundary != nil {
		out.Estimator = *s.Estimator.Boundary
		return out, nil
	}
	out.Estimator, err = gradient.Named(s.Estimator.Name)
	return out, err
}
