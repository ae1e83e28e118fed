package events

import (
	"fmt"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
)

// Events are those of a density's guards under a distribution of its latents.
type Events struct {
	d   *graph.Density
	q   family.Q
	arr *regions.Arrangement // the hyperplanes of the density, and perhaps more
}

// Of returns the events of d's guards under q. Where one of the two is missing or
// does not suit the other, methods return an error, and those without an error
// panic.
func Of(d *graph.Density, q family.Q) Events {
	e := Events{d: d, q: q}
	if d != nil {
		e.arr = d.Arrangement()
	}
	return e
}

// with are the events with the hyperplanes of guards, which may have been made
// after the density was compiled.
func (e Events) with(guards ...graph.Guard) (Events, error) {
	if err := family.Check(e.q, e.d); err != nil {
		return e, fmt.Errorf("events: %w", err)
	}
	var err error
	if e.arr, err = e.d.ArrangementWith(guards...); err != nil {
		return e, fmt.Errorf("events: %w", err)
	}
	return e, nil
}

// must panics unless density and distribution suit each other.
func (e Events) must() {
	if err := family.Check(e.q, e.d); err != nil {
		panic("events: " + err.Error())
	}
}
