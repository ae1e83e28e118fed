package many

import "github.com/facetvi/facet/examples/changes/series"

// A Line is what is said of one of many series.
type Line struct {
	Key         string           `json:"key"`
	Probability float64          `json:"probability"`     // of a change
	First       string           `json:"first,omitempty"` // the most probable first row of the new level
	Here        float64          `json:"here,omitempty"`  // its probability, if there is a change
	From        string           `json:"from,omitempty"`  // with probability 0.9 the first row is from here
	To          string           `json:"to,omitempty"`    // to here
	Before      *series.Interval `json:"before,omitempty"`
	After       *series.Interval `json:"after,omitempty"`
	Trust       string           `json:"trust,omitempty"`
	Error       string           `json:"error,omitempty"`
}

// Line says it of a series.
func (f Found) Line(s series.Series) Line {
	l := Line{Key: f.Key, Probability: f.Probability, Trust: string(f.Trust)}
	if f.Err != nil {
		l.Error = f.Err.Error()
	}
	if f.Row > 0 {
		l.First, l.From, l.To, l.Here = s.Label[f.Row], s.Label[f.From], s.Label[f.To], f.Here
		l.Before, l.After = &f.Before, &f.After
	}
	return l
}
