package regions

import (
	"fmt"
	"math"
	"slices"
)

// Rounding bounds the errors of a form's numbers: how far each may be from the number that exact arithmetic would have given. The zero
// Rounding says that the form is exact. Each bound is less than the magnitude of its number, and 0 where that is 0.
type Rounding struct {
	Coef  []float64 // of the coefficients; nil if all are exact
	Const float64
}

// unit is the unit roundoff u of float64: fl(x∘y) = (x∘y)(1 + δ), |δ| ≤ u.
const unit = 0x1p-53

// A plane is a hyperplane of an arrangement, and what its numbers may be off by. Let the guard that made it be h = scale·canonical, with
// pivot |scale|, the largest coefficient, and with errors of at most e. Then a number q = c/scale of the canonical form is off by at most
//
//	(e_c + |q|·e_pivot) / (|scale| − e_pivot)  +  2u·|q|
//
// One u is for the division, the other for a program that has itself multiplied another guard by some factor, and so rounded c and the
// pivot. If another guard has the same scale up to a power of two there was no such factor, and equal numbers were divided alike: only
// e_c/|scale| counts. So guards in one unit are as different as their numbers, and 3·z0 > 1 is z0 > 1/3.
type plane struct {
	Hyperplane          // canonical
	rounding   Rounding // e over |scale|
	pivot      float64  // e_pivot over |scale|
	fraction   float64  // |scale| without its power of two
}

// newPlane returns the plane of guard h, and its scale.
func newPlane(h Hyperplane, r Rounding) (p plane, scale float64, err error) {
	if r.Coef != nil && len(r.Coef) != len(h.Coef) {
		panic(fmt.Sprintf("regions: %d bounds of %d coefficients", len(r.Coef), len(h.Coef)))
	}
	if p.Hyperplane, scale, err = h.canonical(); err != nil {
		return plane{}, 0, err
	}
	size := math.Abs(scale)
	p.fraction, _ = math.Frexp(size)
	p.rounding.Const = r.Const / size
	for k, e := range r.Coef {
		p.rounding.Coef = append(p.rounding.Coef, e/size)
		if math.Abs(p.Coef[k]) == 1 {
			p.pivot = max(p.pivot, e/size)
		}
	}
	return p, scale, nil
}

// coincide reports whether two planes have one zero set, as far as their errors let it be seen.
func coincide(g, h *plane) bool {
	same := g.fraction == h.fraction
	near := func(k int) bool {
		return math.Abs(g.number(k)-h.number(k)) <= g.off(k, same)+h.off(k, same)
	}
	if !slices.Equal(g.Index, h.Index) || !near(constTerm) {
		return false
	}
	for k := range g.Coef {
		if !near(k) {
			return false
		}
	}
	return true
}

// constTerm stands for the constant among the numbers of a form.
const constTerm = -1

// number returns coefficient k, or the constant.
func (p *plane) number(k int) float64 {
	if k == constTerm {
		return p.Const
	}
	return p.Coef[k]
}

// off bounds the error of number k, in comparison with a plane of the same scale or not.
func (p *plane) off(k int, same bool) float64 {
	e := p.rounding.Const
	if k != constTerm {
		e = 0
		if p.rounding.Coef != nil {
			e = p.rounding.Coef[k]
		}
	}
	if same {
		return e
	}
	q := math.Abs(p.number(k))
	return (e+q*p.pivot)/(1-p.pivot) + 2*unit*q*(1+0x1p-40) + 0x1p-1073 // where q is less than the least normal number, its unit is larger
}
