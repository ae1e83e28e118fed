package series

import (
	"context"
	"fmt"
	"math"

	"github.com/facetvi/facet/vi"
)

// Method is how programs are fitted: in a hundredth of the time of vi.Cells{}, with as many draws as the numbers need.
var Method = vi.Cells{Quick: true, Alone: true}

// Settings say what to look for.
type Settings struct {
	Likelihood Likelihood
	Most       int // changes
	Ahead      int // rows to forecast
	Vi         vi.Settings
}

// A Result is the answer.
type Result struct {
	Column     string     `json:"column"`
	Likelihood Likelihood `json:"likelihood"`
	Rows       int        `json:"rows"`
	Missing    int        `json:"missing"`
	HowMany    []Chance   `json:"how_many"` // by the number of changes, from 0 on
	Any        float64    `json:"any"`      // the probability of one change or more
	Most       int        `json:"most_probable"`
	Changes    []Change   `json:"changes"` // of the most probable number of them, as all that follows but Next
	Levels     []Interval `json:"levels"`
	Next       []Interval `json:"next"` // rows after the last, over all numbers of changes, if nothing changes there
	Row        []Row      `json:"by_row"`
	Trust      string     `json:"trust"` // the verdict on the fit of the most probable number
	Warnings   []string   `json:"warnings,omitempty"`

	Series Series        `json:"-"`
	Models vi.Comparison `json:"-"` // the fits
}

// A Chance is the probability of a number of changes, with its standard error.
type Chance struct {
	Changes     int     `json:"changes"`
	Probability float64 `json:"probability"`
	SE          float64 `json:"se"`
	LogEvidence float64 `json:"log_evidence"`
}

// An Interval is a mean, and between which numbers something is with probability 0.9.
type Interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// A Change is in a gap between two rows.
type Change struct {
	Last        string   `json:"last"`        // row before the most probable gap
	First       string   `json:"first"`       // and the row after it
	Probability float64  `json:"probability"` // of this gap
	From        string   `json:"from"`        // with probability 0.9 the first row of the new level is from here
	To          string   `json:"to"`          // to here
	Difference  Interval `json:"difference"`  // of the level after from that before
	Ratio       Interval `json:"ratio"`
}

// A Row is what is known of a row.
type Row struct {
	X      string   `json:"x"`
	Y      *float64 `json:"y"` // nil if it is missing
	Level  Interval `json:"level"`
	Change float64  `json:"change"` // probability of a change between the row before and this one
}

// Find looks for changes.
func Find(ctx context.Context, s Series, set Settings) (*Result, error) {
	models, err := fitAll(ctx, s, set)
	if err != nil {
		return nil, err
	}
	r := &Result{Series: s, Column: s.Name, Likelihood: set.Likelihood, Rows: len(s.Y), Missing: s.Missing(), Models: models}
	for k, m := range models.Models {
		r.HowMany = append(r.HowMany, Chance{k, m.Prob.Value, m.Prob.SE, m.LogEvidence.Value})
		if m.Prob.Value > models.Models[r.Most].Prob.Value {
			r.Most = k
		}
		if k > 0 {
			r.Any += m.Prob.Value
		}
	}
	if err := r.again(ctx, set.Vi.Seed); err != nil {
		return nil, err
	}
	if err := r.judge(); err != nil {
		return nil, err
	}
	if err := r.places(set.Vi.Seed); err != nil {
		return nil, err
	}
	return r, r.forecast(set.Ahead, set.Vi.Seed)
}

// fitAll fits the programs with no change to Settings.Most changes, and says how probable each is. Beforehand a change more is half as
// probable. vi.HowMany would also ask how each row is predicted from the others, which takes longer than the fits.
func fitAll(ctx context.Context, s Series, set Settings) (vi.Comparison, error) {
	var programs []vi.Program
	for k := range set.Most + 1 {
		d, err := program(s.Y, set.Likelihood, k, set.Ahead)
		if err != nil {
			return vi.Comparison{}, err
		}
		programs = append(programs, vi.Program{Name: plural(k, "change"), Density: d, Prior: math.Pow(0.5, float64(k))})
	}
	return howMany(ctx, programs, set.Vi)
}

func howMany(ctx context.Context, programs []vi.Program, set vi.Settings) (vi.Comparison, error) {
	var fits []*vi.Posterior
	for _, p := range programs {
		own := set
		own.Seed = vi.SeedOf(set.Seed, p.Name)
		fit, err := vi.Fit(ctx, p.Density, own)
		if err != nil {
			return vi.Comparison{}, fmt.Errorf("%s: %w", p.Name, err)
		}
		fits = append(fits, fit)
	}
	c, err := vi.Compare(fits...)
	if err != nil {
		return c, err
	}
	total, priors := 0.0, 0.0
	for _, p := range programs {
		priors += p.Prior
	}
	for k := range c.Models {
		m := &c.Models[k]
		m.Name, m.Prior = programs[k].Name, programs[k].Prior/priors
		m.Prob.Value = m.Prior * math.Exp(m.LogBayes.Value)
		total += m.Prob.Value
	}
	for k := range c.Models {
		m := &c.Models[k]
		m.Prob.Value /= total
		m.Prob.SE = m.Prob.Value * (1 - m.Prob.Value) * m.LogEvidence.SE // of first order in its own evidence
	}
	return c, nil
}

// again fits the most probable number of changes with the library's defaults if its numbers are not known well enough.
func (r *Result) again(ctx context.Context, seed uint64) error {
	m := &r.Models.Models[r.Most]
	v, err := m.Fit.Verdict()
	if err != nil || v.Trust == vi.TrustFit {
		return err
	}
	fit, err := vi.Fit(ctx, m.Fit.Density, vi.Settings{Seed: vi.SeedOf(seed, m.Name+", again")})
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	m.Fit = fit
	return nil
}

// matters is from which probability on a number of changes whose fit is not to be trusted is worth a warning.
const matters = 0.02

func (r *Result) judge() error {
	for k, m := range r.Models.Models {
		v, err := m.Fit.Verdict()
		if err != nil {
			return err
		}
		if k == r.Most {
			r.Trust = string(v.Trust)
		}
		if v.Trust != vi.TrustFit && len(v.Reasons) > 0 && m.Prob.Value > matters {
			r.Warnings = append(r.Warnings, fmt.Sprintf("with %s: %s", m.Name, v.Reasons[0]))
		}
	}
	if most := len(r.HowMany) - 1; r.Most == most {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d changes are the most that were looked for: try a larger -max", most))
	}
	return nil
}
