package boundary

import (
	"math"

	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
)

// A densePlane is a hyperplane with several coordinates.
type densePlane struct {
	plane int
	regions.Hyperplane
	first  int // its first row among the points
	n      int // samples
	method Method

	pivot int       // position of the pivot in Index
	slope float64   // of Φ along the pivot, in the coordinates of ε
	w     float64   // weight of orthogonal projection; 0 where q has no mass
	step  []float64 // a sample moves by −Φ·step in ε
	move  []float64 // and by −Φ·move in z
	wb    []float64 // weights of the samples
	wd    []float64 // scratch: weights times jumps
}

func newDensePlane(l int, h regions.Hyperplane, first, n int, m Method) densePlane {
	p := densePlane{plane: l, Hyperplane: h, first: first, n: n, method: m}
	p.step, p.move = make([]float64, len(h.Index)), make([]float64, len(h.Index))
	p.wb, p.wd = make([]float64, n), make([]float64, n)
	return p
}

// locate moves the plane to the coordinates of ε, where it is ã·ε + c̃ = 0.
func (p *densePlane) locate(mu, s []float64) {
	norm2, shift := 0.0, p.Const
	for k, i := range p.Index {
		p.step[k] = p.Coef[k] * s[i] // ã
		norm2 += p.step[k] * p.step[k]
		shift += p.Coef[k] * mu[i]
	}
	norm := math.Sqrt(norm2)
	p.w = normalDensity(shift/norm) / norm
	p.pivot = pivot(p.step)
	p.slope = p.step[p.pivot]
	for k, i := range p.Index {
		switch {
		case p.method == Orthogonal:
			p.step[k] /= norm2
		case k == p.pivot:
			p.step[k] = 1 / p.slope
		default:
			p.step[k] = 0
		}
		p.move[k] = p.step[k] * s[i]
	}
	if p.method == Orthogonal {
		for i := range p.wb {
			p.wb[i] = p.w
		}
	}
}

// project moves the samples, with values phi of Φ, onto the plane: it fills the
// plane's rows of onEps, the ε there, and of points, the z.
func (p *densePlane) project(phi, eps, z, onEps, points []float64) {
	n := p.n
	for k, d := range p.Index {
		vec.Affine2(onEps[(p.first+k)*n:][:n], eps[d*n:], phi, 1, -p.step[k], 0)
		vec.Affine2(points[(p.first+k)*n:][:n], z[d*n:], phi, 1, -p.move[k], 0)
	}
	if p.method == Elimination {
		for i, e := range onEps[(p.first+p.pivot)*n:][:n] {
			p.wb[i] = normalDensity(e) / math.Abs(p.slope)
		}
	}
}

// add adds the gradient, given the jumps of the samples and their ε. Where the
// weight is 0 the jump, which may be infinite, does not count.
func (p *densePlane) add(delta, onEps, gMu, gScale []float64) {
	vec.GatedMul(p.wd, p.wb, delta, 1)
	for k, d := range p.Index {
		var sum, dot [1]float64
		vec.AddSumDotRows(sum[:], dot[:], p.wd, onEps[(p.first+k)*p.n:][:p.n], p.n)
		gMu[d] += p.Coef[k] * sum[0]
		gScale[d] += p.Coef[k] * dot[0]
	}
}
