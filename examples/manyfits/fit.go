package main

import (
	"context"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// A Fit is what is known of a series: evidence, and moments of the latents.
type Fit struct {
	Key                        string
	LogEvidence, LogEvidenceSE float64
	When, WhenSD               float64
	Before, BeforeSD           float64
	After, AfterSD             float64
	Trust                      string
}

// A Failure is a key without a fit, and why.
type Failure struct{ Key, Why string }

// newFit is what there is to say of a fit.
func newFit(x vi.Fitted) (f Fit, err error) {
	if x.Err != nil {
		return f, x.Err
	}
	e, err := x.Fit.LogEvidence()
	if err != nil {
		return f, err
	}
	v, err := x.Fit.Verdict()
	if err != nil {
		return f, err
	}
	moments, err := x.Fit.Moments()
	if err != nil {
		return f, err
	}
	f = Fit{Key: x.Key, LogEvidence: e.Value, LogEvidenceSE: e.SE, Trust: string(v.Trust)}
	for i, m := range moments {
		switch x.Fit.Density.Latents()[i] {
		case "when":
			f.When, f.WhenSD = m.Mean.Value, m.SD.Value
		case "before":
			f.Before, f.BeforeSD = m.Mean.Value, m.SD.Value
		case "after":
			f.After, f.AfterSD = m.Mean.Value, m.SD.Value
		}
	}
	return f, nil
}

// fitAll is what manyFits finds, without Beam.
func fitAll(ctx context.Context, d *graph.Density, series []Series, seed uint64) (fits []Fit, failures []Failure) {
	sets := func(yield func(string, map[string][]float64) bool) {
		for _, x := range series {
			if !yield(x.Key, map[string][]float64{"y": x.Y}) {
				return
			}
		}
	}
	for x := range vi.FitAll(ctx, d, sets, vi.Settings{Seed: seed, Method: vi.Cells{Quick: true}}) {
		if f, err := newFit(x); err != nil {
			failures = append(failures, Failure{x.Key, err.Error()})
		} else {
			fits = append(fits, f)
		}
	}
	return fits, failures
}
