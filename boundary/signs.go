package boundary

import (
	"slices"

	"github.com/facetvi/facet/internal/vec"
)

// Where a sample moves onto a plane along one direction, it moves by −Φ(z)·v. So Φ_o of another
// hyperplane with normal a_o becomes Φ_o(z) − Φ(z)·(a_o·v), and the ratio a_o·v is
// the same for all samples: the sign costs the same however many coordinates the
// planes have.

// values are Φ of hyperplane l at the samples.
func (b *Batch) values(l int) []float64 {
	if b.row[l] < 0 {
		return nil
	}
	return b.phi[b.row[l]*b.n:][:b.n]
}

// evaluate computes the values of hyperplane l.
func (b *Batch) evaluate(l int) {
	h, row := b.j.arr.Plane(l), b.values(l)
	vec.Affine(row, b.ex.Z[h.Index[0]*b.n:], h.Coef[0], h.Const)
	for k, i := range h.Index[1:] {
		vec.AddScaled(row, h.Coef[k+1], b.ex.Z[i*b.n:][:b.n])
	}
}

// locateSigns finds the ratios.
func (b *Batch) locateSigns() {
	for r, x := range b.j.signs {
		if x.plane < 0 {
			continue
		}
		other, along := b.j.arr.Plane(x.other), b.surface.Along(x.plane)
		b.ratio[r] = 0
		for k, i := range other.Index {
			at, _ := slices.BinarySearch(b.j.latents[x.plane], i)
			b.ratio[r] += along[at] * other.Coef[k]
		}
	}
}

// fillSigns fills the signs of other hyperplanes at the points on each plane.
func (b *Batch) fillSigns() {
	for r, x := range b.j.signs {
		if x.plane < 0 {
			continue
		}
		row := b.ex.PointSigns[r*b.n:][:b.n]
		if points := b.curved[x.plane]; points != nil {
			b.valuesAt(row, points, x)
		} else {
			vec.Affine2(row, b.values(x.other), b.Values(x.plane), 1, -b.ratio[r], 0)
		}
		vec.Step(row, row, 1, 0)
	}
}

// valuesAt computes the values of the other hyperplane at the points on x.plane.
func (b *Batch) valuesAt(row, points []float64, x signRow) {
	other := b.j.arr.Plane(x.other)
	for i := range row {
		row[i] = other.Const
	}
	for k, i := range other.Index {
		at, _ := slices.BinarySearch(b.j.latents[x.plane], i)
		vec.AddScaled(row, other.Coef[k], points[at*b.n:][:b.n])
	}
}
