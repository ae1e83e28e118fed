package boundary

import (
	"math"

	"github.com/facetvi/facet/regions"
)

// A densePlane is a hyperplane with several coordinates.
type densePlane struct {
	plane int
	regions.Hyperplane
	first int // its first row among the points
	n     int // samples

	tilt  []float64 // ã, the normal in the coordinates of ε
	norm2 float64   // ‖ã‖²
	shift float64   // c̃
	pivot int       // position of the pivot in Index
	w     float64   // weight of orthogonal projection; 0 where q has no mass
	wb    []float64 // weights of the samples
}

func newDensePlane(l int, h regions.Hyperplane, first, n int) densePlane {
	return densePlane{plane: l, Hyperplane: h, first: first, n: n, tilt: make([]float64, len(h.Index)), wb: make([]float64, n)}
}

// locate moves the plane to the coordinates of ε.
func (p *densePlane) locate(mu, s []float64) {
	p.norm2, p.shift = 0, p.Const
	for k, i := range p.Index {
		p.tilt[k] = p.Coef[k] * s[i]
		p.norm2 += p.tilt[k] * p.tilt[k]
		p.shift += p.Coef[k] * mu[i]
	}
	p.pivot = pivot(p.tilt)
	norm := math.Sqrt(p.norm2)
	p.w = normalDensity(p.shift/norm) / norm
}

// project moves the samples onto the plane: it fills the plane's rows of onEps,
// the ε there, and of points, the z.
func (p *densePlane) project(m Method, eps, mu, s, onEps, points []float64) {
	n := p.n
	for i := range n {
		dist := p.shift // ã·ε + c̃
		for k, d := range p.Index {
			dist += p.tilt[k] * eps[d*n+i]
		}
		p.wb[i] = p.w
		for k, d := range p.Index {
			e := eps[d*n+i]
			switch {
			case m == Orthogonal:
				e -= dist / p.norm2 * p.tilt[k]
			case k == p.pivot:
				e -= dist / p.tilt[k]
				p.wb[i] = normalDensity(e) / math.Abs(p.tilt[k])
			}
			onEps[(p.first+k)*n+i] = e
			points[(p.first+k)*n+i] = mu[d] + s[d]*e
		}
	}
}

// add adds the gradient, given the jumps of the samples and their ε.
func (p *densePlane) add(delta, onEps, gMu, gScale []float64) {
	for k, d := range p.Index {
		eps := onEps[(p.first+k)*p.n:][:p.n]
		m, s := 0.0, 0.0
		for i, x := range delta {
			if p.wb[i] != 0 {
				m += p.wb[i] * x
				s += p.wb[i] * x * eps[i]
			}
		}
		gMu[d] += p.Coef[k] * m
		gScale[d] += p.Coef[k] * s
	}
}
