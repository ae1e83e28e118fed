package main

import (
	"context"
	"strings"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/vi"
)

// What a fit says. All that asks package vi is here.

// A fitted is a default fit.
type fitted struct {
	trust     bool
	verdict   string
	log, logE float64 // evidence, and its standard error
	seconds   float64 // of CPU
	mean, sd  map[string]float64
	masses    func(name string) (values, masses []float64)
	probs     map[string][]float64 // of named guards
}

// fit fits a density with default settings.
func fit(d *graph.Density, seed uint64) (f fitted, err error) {
	start := cputime.Seconds()
	p, err := vi.Fit(context.Background(), d, vi.Settings{Seed: seed})
	f.seconds = cputime.Seconds() - start
	if err != nil {
		return f, err
	}
	v, err := p.Verdict()
	if err != nil {
		return f, err
	}
	f.trust, f.verdict = v.Trust != vi.TrustNothing, strings.ReplaceAll(v.String(), "\n", " ")
	log, err := p.LogEvidence()
	if err != nil {
		return f, err
	}
	f.log, f.logE = log.Value, log.SE
	moments, err := p.Moments()
	if err != nil {
		return f, err
	}
	f.mean, f.sd, f.probs = map[string]float64{}, map[string]float64{}, map[string][]float64{}
	for i, name := range d.Latents() {
		f.mean[name], f.sd[name] = moments[i].Mean.Value, moments[i].SD.Value
	}
	for _, name := range d.GuardNames() {
		probs, err := p.Probs(d.Named(name))
		if err != nil {
			return f, err
		}
		f.probs[name] = values(probs)
	}
	f.masses = func(name string) (at, list []float64) {
		at, masses, err := p.Masses(name)
		if err != nil {
			return nil, nil
		}
		return at, values(masses)
	}
	return f, nil
}

func values(list []vi.Estimate) (out []float64) {
	for _, e := range list {
		out = append(out, e.Value)
	}
	return out
}
