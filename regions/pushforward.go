package regions

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// PushForward returns the arrangement in the space of ε, where z = μ + Lε. Plane l of the result is plane l of a as a function of ε:
//
//	Φ(μ + Lε) = ã·ε + c̃,    ã = Lᵀa,    c̃ = a·μ + c
//
// so the signs of ε there are the signs of z here, up to rounding. Numbers and orientations are kept, nothing is merged or rescaled:
// ‖ã‖ is the slope along ε. The result takes no further planes.
//
// L is scale, with Dim() rows; its columns are the dimension of ε. A mat.Diagonal keeps the planes as sparse as they are. Any other
// matrix gives a plane every coordinate for which the column of L has ã ≠ 0.
//
// It returns a *[PlaneError] that wraps [ErrNoNormal] if L maps a normal to zero, and [ErrNotFinite] if a result is not finite. It
// panics unless len(mu) and the rows of scale are Dim().
func (a *Arrangement) PushForward(mu []float64, scale mat.Matrix) (*Arrangement, error) {
	rows, cols := scale.Dims()
	if len(mu) != a.dim || rows != a.dim {
		panic(fmt.Sprintf("regions: location of length %d and scale %d×%d in %d dimensions", len(mu), rows, cols, a.dim))
	}
	normal := denseNormal(scale)
	if d, ok := scale.(mat.Diagonal); ok {
		normal = diagonalNormal(d)
	}
	image := &Arrangement{dim: cols, planes: make([]Hyperplane, 0, len(a.planes)), touching: make([][]int, cols)}
	for l, h := range a.planes {
		g := normal(h)
		g.Const = h.At(mu)
		if err := g.fault(); err != nil {
			return nil, &PlaneError{Plane: l, Form: h, Err: err}
		}
		image.push(g)
	}
	return image, nil
}

// diagonalNormal returns the map a ↦ Da, which gives a form without a constant.
func diagonalNormal(d mat.Diagonal) func(Hyperplane) Hyperplane {
	return func(h Hyperplane) (g Hyperplane) {
		for k, i := range h.Index {
			g.term(i, h.Coef[k]*d.At(i, i))
		}
		return g
	}
}

// denseNormal returns the map a ↦ Lᵀa, which gives a form without a constant.
func denseNormal(scale mat.Matrix) func(Hyperplane) Hyperplane {
	_, cols := scale.Dims()
	sum, row := make([]float64, cols), make([]float64, cols)
	return func(h Hyperplane) (g Hyperplane) {
		clear(sum)
		for k, i := range h.Index {
			mat.Row(row, i, scale)
			for j, x := range row {
				sum[j] += h.Coef[k] * x
			}
		}
		for j, x := range sum {
			g.term(j, x)
		}
		return g
	}
}

// term appends a term, unless its coefficient is zero.
func (h *Hyperplane) term(index int, coef float64) {
	if coef != 0 {
		h.Index = append(h.Index, index)
		h.Coef = append(h.Coef, coef)
	}
}
