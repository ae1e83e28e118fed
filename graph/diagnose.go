package graph

import (
	"fmt"
	"math"
	"slices"
)

// NonFinite evaluates the terms of log r at z one by one, in the region of z,
// and returns the first one that is not finite: what it is and where the
// program says so, its value, and the latents that it depends on.
func (d *Density) NonFinite(z []float64) (term string, value float64, latents []int, found bool) {
	ev := d.evaluate(z)
	defer ev.Release()
	for _, t := range d.m.terms {
		if v := ev.Value(t.id); math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprintf("the %s (%v)", t.what, t.place), v, slices.Compact(slices.Sorted(slices.Values(d.m.latentsOf(t.id)))), true
		}
	}
	return "", 0, nil, false
}
