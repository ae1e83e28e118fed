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
	w, err := p.Importance(max(10_000, v.Draws), seed)
	if err != nil {
		return f, err
	}
	f.mean, f.sd, f.probs = map[string]float64{}, map[string]float64{}, map[string][]float64{}
	for _, l := range w.Latents {
		f.mean[l.Name], f.sd[l.Name] = l.Mean.Value, l.SD
	}
	masses := map[string]map[float64]float64{}
	z := make([]float64, d.Dim())
	for k, x := range w.Draws.Values {
		for i, name := range d.Latents() {
			if z[i], err = d.UnconstrainOne(i, x[i]); err != nil {
				return f, err
			}
			if values, _ := d.Values(i); values != nil {
				if masses[name] == nil {
					masses[name] = map[float64]float64{}
				}
				masses[name][x[i]] += w.Weights[k]
			}
		}
		signs := d.Arrangement().Signs(z)
		for _, name := range d.GuardNames() {
			guards := d.Named(name)
			if f.probs[name] == nil {
				f.probs[name] = make([]float64, len(guards))
			}
			for i, holds := range graph.Holding(nil, guards, signs) {
				if holds {
					f.probs[name][i] += w.Weights[k]
				}
			}
		}
	}
	f.masses = func(name string) (values, list []float64) {
		for v, mass := range masses[name] {
			values, list = append(values, v), append(list, mass)
		}
		return values, list
	}
	return f, nil
}
