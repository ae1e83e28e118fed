package graph

import (
	"fmt"
	"math"
)

// PriorStart follows the program once, giving each latent the centre of its
// prior there, and returns these centres and the priors' scales (about one
// standard deviation) in unconstrained coordinates: a start for a fit.
func (d *Density) PriorStart() (center, scale []float64) { return d.PriorStartAt(nil) }

// PriorStartAt is PriorStart with the coordinates in given kept where they are,
// so that latents sampled after them are at the centre of their prior there. It
// panics if given has a coordinate that is not finite, or of no latent.
func (d *Density) PriorStartAt(given map[int]float64) (center, scale []float64) {
	for i, u := range given {
		if i < 0 || i >= d.Dim() || !isFinite(u) {
			panic(fmt.Sprintf("graph: coordinate %d given as %v, of %d", i, u, d.Dim()))
		}
	}
	center, scale = make([]float64, d.Dim()), make([]float64, d.Dim())
	ev := d.evaluate(center)
	defer ev.release()
	for i, l := range d.m.latents {
		center[i], scale[i] = l.prior.law.start(ev.params(l.prior))
		if !isFinite(center[i]) {
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
