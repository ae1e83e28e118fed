package events

import (
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
)

// Events are those of a density's guards under a distribution of its latents.
type Events struct {
	d *graph.Density
	q family.Q
}

// Of returns the events of d's guards under q.
func Of(d *graph.Density, q family.Q) Events { return Events{d, q} }
