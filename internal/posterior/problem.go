package main

import (
	"fmt"
	"strings"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/examples/models/coalmining"
	"github.com/facetvi/facet/examples/models/exact"
	"github.com/facetvi/facet/examples/models/lynx"
	"github.com/facetvi/facet/examples/models/nile"
	"github.com/facetvi/facet/examples/models/tobit"
	"github.com/facetvi/facet/graph"
)

// A problem is a model whose posterior is known.
type problem struct {
	name  string
	model func() *graph.Model
	exact func() exact.Posterior
}

// problems are those of the paper, in its own coordinates, and those on real data.
func problems() []problem {
	var all []problem
	for _, spec := range models.All() {
		all = append(all, problem{spec.Name, spec.Model, spec.Exact})
	}
	return append(all,
		problem{
			"coalmining", func() *graph.Model { return coalmining.Model(coalmining.Disasters) },
			func() exact.Posterior { return coalmining.Exact().Posterior },
		},
		problem{
			"nile", func() *graph.Model { return nile.Model(nile.Flow, 2) },
			func() exact.Posterior { return nile.Exact().Posterior },
		},
		problem{
			"lynx", func() *graph.Model { return lynx.Model(lynx.Logs(lynx.Trapped)) },
			func() exact.Posterior { return lynx.Exact().Posterior },
		},
		problem{"tobit", func() *graph.Model { return tobit.Model(tobit.Households) }, tobit.Exact},
	)
}

func names() string {
	var list []string
	for _, p := range problems() {
		list = append(list, p.name)
	}
	return strings.Join(list, ", ")
}

func problemOf(name string) (problem, error) {
	for _, p := range problems() {
		if p.name == name {
			return p, nil
		}
	}
	return problem{}, fmt.Errorf("-model %s: no such model; there are %s", name, names())
}
