package main

import (
	"context"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// program has no change of level, or one. The numbers have mean 0 and standard deviation 1.
func program(z []float64, change bool) *graph.Model {
	m := graph.NewModel()
	level := graph.Normal(0, 1.5)
	before, noise := m.Sample("before", level), m.Sample("noise", graph.HalfNormal(1))
	after, when := before, graph.Expr{}
	if change {
		after, when = m.Sample("after", level), m.Sample("when", graph.Uniform(0, len(z)-1))
	}
	for i, v := range z {
		at := before
		if change {
			at = graph.If(m.Name("ahead", graph.Greater(when, i)), before, after) // the density jumps here
		}
		m.Observe("z", graph.Normal(m.Deterministic("level", at), noise), v)
	}
	return m
}

// fitBoth fits the program without a change, and that with one.
func fitBoth(ctx context.Context, z []float64, seed uint64) (fits []*vi.Posterior, err error) {
	for _, change := range []bool{false, true} {
		density, err := program(z, change).Compile()
		if err != nil {
			return nil, err
		}
		fit, err := vi.Fit(ctx, density, vi.Settings{Seed: seed, Method: vi.Cells{Quick: true, Alone: true}})
		if err != nil {
			return nil, err
		}
		fits = append(fits, fit)
	}
	return fits, nil
}
