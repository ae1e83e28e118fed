package boundary

import "github.com/facetvi/facet/internal/vec"

// AddPlanes is AddGradient in parts. For each hyperplane that log r jumps on and
// q has mass on it adds what that hyperplane brings, sums over the batch's
// samples, to the elements of its latents, and then calls visit with its number;
// visit may read and clear them.
func (b *Batch) AddPlanes(gMu, gScale []float64, visit func(plane int)) {
	for l := range b.axes {
		p := &b.axes[l]
		switch {
		case p.w == 0:
			continue
		case b.ex.OutSum != nil:
			p.add(b.ex.OutSum[p.plane], gMu, gScale)
		default:
			p.add(vec.Sum(b.jumps(p.plane)), gMu, gScale)
		}
		visit(p.plane)
	}
	for l := range b.dense {
		if p := &b.dense[l]; p.w > 0 {
			p.add(b.jumps(p.plane), b.eps, gMu, gScale)
			visit(p.plane)
		}
	}
}
