package main

import (
	"fmt"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/examples/models/coalmining"
	"github.com/facetvi/facet/examples/models/exact"
	"github.com/facetvi/facet/examples/models/lynx"
	"github.com/facetvi/facet/examples/models/nile"
	"github.com/facetvi/facet/examples/models/tobit"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/calibration"
)

// known yields the models of package calibration, those of the paper, and those of the
// examples on real data. Their exact posteriors are sums over cells.
func known(yield func(p problem, err error) bool) {
	for _, name := range calibration.Names() {
		c := calibration.Named(name)
		p := problem{name: name, classes: []string{"calibration models"}, density: c.Density, log: c.Exact.LogEvidence, mean: c.Exact.Mean, sd: c.Exact.SD, probs: c.Exact.Guards}
		p.text = "package calibration, model " + name
		if !yield(p, nil) {
			return
		}
	}
	list := []example{
		{"coalmining", func() *graph.Model { return coalmining.Model(coalmining.Disasters) }, func() exact.Posterior { return coalmining.Exact().Posterior }},
		{"nile", func() *graph.Model { return nile.Model(nile.Flow, 2) }, func() exact.Posterior { return nile.Exact().Posterior }},
		{"lynx", func() *graph.Model { return lynx.Model(lynx.Logs(lynx.Trapped)) }, func() exact.Posterior { return lynx.Exact().Posterior }},
		{"tobit", func() *graph.Model { return tobit.Model(tobit.Households) }, tobit.Exact},
	}
	for _, s := range models.All() {
		list = append(list, example{s.Name, s.Model, s.Exact})
	}
	for _, x := range list {
		if !yield(x.problem()) {
			return
		}
	}
}

// An example is a model of the examples.
type example struct {
	name  string
	model func() *graph.Model
	exact func() exact.Posterior
}

func (x example) problem() (p problem, err error) {
	d, err := x.model().Compile()
	if err != nil {
		return p, fmt.Errorf("%s: %w", x.name, err)
	}
	post := x.exact()
	p = problem{
		name: x.name, text: "examples/models, " + x.name, classes: []string{"examples"}, density: d, log: post.LogEvidence,
		mean: map[string]float64{}, sd: map[string]float64{}, probs: map[string][]float64{},
	}
	for i, name := range d.Latents() {
		if i < len(post.Latents) {
			p.mean[name], p.sd[name] = post.Latents[i].Mean, post.Latents[i].SD
		}
	}
	at := 0
	for _, name := range d.GuardNames() {
		n := len(d.Named(name))
		p.probs[name] = post.Guards[at : at+n]
		at += n
	}
	return p, nil
}
