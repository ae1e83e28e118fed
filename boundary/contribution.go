package boundary

import "slices"

// AddPlane adds what hyperplane l alone brings to AddGradient: the sums over the
// batch's samples of its summands of BouContr. It touches the elements of the
// hyperplane's latents only, Arrangement.Plane(l).Index. If guards are
// subsampled call it before AddGradient, which multiplies the jumps by their
// factors in place; AddPlane does not change them.
func (b *Batch) AddPlane(l int, gMu, gScale []float64) {
	p, n := &b.planes[l], b.n
	switch {
	case !p.live:
		return
	case b.ex.OutSum != nil:
		p.addAxis(b.ex.OutSum[l], gMu, gScale)
		return
	}
	delta := b.ex.Out[l*n : l*n+n]
	if b.factor != nil {
		delta = slices.Clone(delta)
		subsample(delta, b.factor[l*n:l*n+n])
	}
	if !p.axis {
		b.addDense(l, b.j.first[l], delta, gMu, gScale)
		return
	}
	sum := 0.0
	for _, d := range delta {
		sum += d
	}
	p.addAxis(sum, gMu, gScale)
}
