package boundary

import (
	"fmt"
	"math"
	"slices"

	"github.com/facetvi/facet/regions"
)

// Projection maps ℝⁿ⁻¹ onto the hyperplane {ε ∈ ℝⁿ : a·ε + c = 0} by solving for
// one coordinate, the pivot. It is the map g of Lee, Yu and Yang (NeurIPS 2018),
// Theorem 3. The pivot is the coordinate with the largest |a_j|, which keeps the
// weight 1/|a_j| small. It draws nothing: feed it random ζ to sample, or
// quadrature nodes to integrate exactly. A Projection is immutable and safe for
// concurrent use.
type Projection struct {
	h     regions.Hyperplane
	dim   int
	pivot int // coordinate
	coef  float64
}

// NewProjection returns the projection onto h in dim dimensions. It returns
// regions.ErrNoNormal if h has no coefficients, and an error if it is malformed
// or uses a coordinate outside 0 … dim−1.
func NewProjection(h regions.Hyperplane, dim int) (Projection, error) {
	p, err := newProjection(h, dim)
	if err != nil {
		return Projection{}, fmt.Errorf("boundary: %w", err)
	}
	return p, nil
}

// newProjection is NewProjection for a caller that names the hyperplane itself.
func newProjection(h regions.Hyperplane, dim int) (Projection, error) {
	if err := h.Validate(); err != nil {
		return Projection{}, err
	}
	if last := h.Index[len(h.Index)-1]; last >= dim {
		return Projection{}, fmt.Errorf("hyperplane %v in %d dimensions", h, dim)
	}
	at := pivot(h.Coef)
	h.Index, h.Coef = slices.Clone(h.Index), slices.Clone(h.Coef)
	return Projection{h, dim, h.Index[at], h.Coef[at]}, nil
}

// pivot is the position of the coefficient of largest magnitude.
func pivot(coef []float64) int {
	at := 0
	for i, c := range coef {
		if math.Abs(c) > math.Abs(coef[at]) {
			at = i
		}
	}
	return at
}

// Pivot is the coordinate that is solved for.
func (p Projection) Pivot() int { return p.pivot }

// Point writes g(ζ) to dst, of length n, and returns it. The coordinates before
// the pivot are ζ's first ones, those after it the rest. It panics unless
// len(zeta) is n−1.
func (p Projection) Point(dst, zeta []float64) []float64 {
	if len(zeta) != p.dim-1 {
		panic(fmt.Sprintf("boundary: ζ of length %d in %d dimensions", len(zeta), p.dim))
	}
	dst = slices.Grow(dst[:0], p.dim)[:p.dim]
	copy(dst, zeta[:p.pivot])
	copy(dst[p.pivot+1:], zeta[p.pivot:])
	dst[p.pivot] = p.solve(func(i int) float64 { return dst[i] })
	return dst
}

// solve is the pivot's coordinate for the given other coordinates.
func (p Projection) solve(at func(i int) float64) float64 {
	sum := p.h.Const
	for k, i := range p.h.Index {
		if i != p.pivot {
			sum += p.h.Coef[k] * at(i)
		}
	}
	return -sum / p.coef
}

// Normal is the vector a/|a_pivot|, of length n: the unit normal towards the
// positive side times the stretch of area of the map g. For any F,
//
//	∫ q F·dΣ = E[ q(ε_pivot) · F(ε)·Normal ],  ε = g(ζ),
//
// with q the density of one coordinate.
func (p Projection) Normal() []float64 {
	n := make([]float64, p.dim)
	for k, i := range p.h.Index {
		n[i] = p.h.Coef[k] / math.Abs(p.coef)
	}
	return n
}
