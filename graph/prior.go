package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/regions"
)

// PriorStart follows the program once, giving each latent the centre of its
// prior there, and returns these centres and the priors' scales (about one
// standard deviation) in unconstrained coordinates: a start for a fit. Those of a
// parameter are its start and its scale (see Scale).
func (d *Density) PriorStart() (center, scale []float64) { return d.PriorStartAt(nil) }

// PriorStartAt is PriorStart with the coordinates in given kept where they are,
// so that latents sampled after them are at the centre of their prior there. It
// panics if given has a coordinate that is not finite, or of no latent.
func (d *Density) PriorStartAt(given map[int]float64) (center, scale []float64) {
	for i, u := range given {
		if i < 0 || i >= d.Dim() || !ir.IsFinite(u) {
			panic(fmt.Sprintf("graph: coordinate %d given as %v, of %d", i, u, d.Dim()))
		}
	}
	center, scale = make([]float64, d.Dim()), make([]float64, d.Dim())
	ev := d.evaluate(center)
	defer ev.Release()
	for i, l := range d.m.latents {
		center[i], scale[i] = l.prior.Start(ev.params(l.prior))
		if i < d.m.params {
			center[i] = d.param(i)
		}
		if !ir.IsFinite(center[i]) {
			center[i] = 0
		}
		if u, ok := given[i]; ok {
			center[i] = u
		}
		if !(scale[i] > 0) || math.IsInf(scale[i], 0) {
			scale[i] = 1
		}
	}
	return center, scale
}

// Across moves a point to the other side of planes, as the program would follow. It starts
// from z in region from, forces the signs of planes to the other side, and goes
// through the latents in their order. A latent whose prior is now elsewhere, by more
// than apart of its scales, moves with its prior, and the signs of guards on it change with it, except
// those of planes. Across writes the point to z and returns its region.
func (d *Density) Across(z []float64, from regions.Signs, planes []int, apart float64) regions.Signs {
	d.made()
	before, after := d.evaluate(slices.Clone(z)), d.evaluate(z)
	defer before.Release()
	defer after.Release()
	before.Arr, before.Region = nil, from
	after.Arr, after.Region = nil, from
	for _, l := range planes {
		after.Region = after.Region.Flip(l)
	}
	for i, l := range d.m.latents {
		was, scale := l.prior.Start(before.params(l.prior))
		now, wide := l.prior.Start(after.params(l.prior))
		if by := now - was; math.Abs(by) > apart*max(scale, wide) && ir.IsFinite(by) {
			z[i] += by
			for k := range d.arr.Len() {
				if of := d.arr.Latents(k); of[len(of)-1] == i && !slices.Contains(planes, k) {
					after.Region = after.Region.Force(k, d.arr.At(k, z) > 0)
				}
			}
		}
	}
	return after.Region
}
