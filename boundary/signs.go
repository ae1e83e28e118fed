package boundary

import (
	"slices"

	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
)

// A sample moves onto plane l along one direction: by −Φ_l(z)·move. So Φ of
// another plane k with normal a becomes Φ_k(z) − Φ_l(z)·(a·move), and the ratio
// a·move is the same for all samples: the sign costs the same however many
// coordinates the planes have.

// used are the planes whose Φ is needed at the samples, ascending.
func (j *Jumps) used() []int {
	need := make([]bool, j.Len())
	for l, first := range j.first {
		need[l] = first >= 0 && j.active[l]
	}
	for _, x := range j.signs {
		need[x.plane], need[x.other] = true, true
	}
	var list []int
	for l, yes := range need {
		if yes {
			list = append(list, l)
		}
	}
	return list
}

// values are Φ_l at the samples.
func (b *Batch) values(l int) []float64 { return b.phi[l*b.n:][:b.n] }

// evaluate computes the values of plane l.
func (b *Batch) evaluate(l int) {
	h, row := b.j.arr.Plane(l), b.values(l)
	vec.Affine(row, b.ex.Z[h.Index[0]*b.n:], h.Coef[0], h.Const)
	for k, i := range h.Index[1:] {
		vec.AddScaled(row, h.Coef[k+1], b.ex.Z[i*b.n:][:b.n])
	}
}

// locateSigns finds the ratios, after the planes have been located.
func (b *Batch) locateSigns() {
	for r, x := range b.j.signs {
		on, other := b.j.arr.Plane(x.plane), b.j.arr.Plane(x.other)
		switch at := b.denseAt[x.plane]; {
		case len(on.Index) == 1:
			b.ratio[r] = coefficient(other, on.Index[0])
		case at >= 0: // else log r does not jump on x.plane
			b.ratio[r] = 0
			for k, i := range on.Index {
				b.ratio[r] += b.dense[at].move[k] * coefficient(other, i)
			}
		}
	}
}

// coefficient is that of coordinate i in h.
func coefficient(h regions.Hyperplane, i int) float64 {
	if k, ok := slices.BinarySearch(h.Index, i); ok {
		return h.Coef[k]
	}
	return 0
}

// fillSigns fills the signs of other planes at the points on each plane.
func (b *Batch) fillSigns() {
	for r, x := range b.j.signs {
		row := b.ex.PointSigns[r*b.n:][:b.n]
		vec.Affine2(row, b.values(x.other), b.values(x.plane), 1, -b.ratio[r], 0)
		vec.Step(row, row, 1, 0)
	}
}
