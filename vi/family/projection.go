package family

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/regions"
)

// A projection is the Surface of a sequential normal that moves samples along
// the normal of the plane in ε. With u = (I − B)⁻ᵀ·a and σ² the variance of Φ
//
//	ε_b = ε − (Φ/σ²)·S·u,   y_b = y − (Φ/σ²)·Σa,   w = φ(E[Φ]/σ)/σ,
//
// and the adjoint of each conditional mean is w·Δ·u.
type projection struct {
	fullSurface
	s      *normalSampler
	planes []projectionPlane
	wd     []float64 // scratch: weights times jumps
	y      []float64 // scratch: Σ w·Δ·y on the plane
}

type projectionPlane struct {
	regions.Hyperplane
	at    []int
	along []float64
	u     []float64 // by latent up to the last of the plane
	cov   []float64 // Σa/σ², by latent
	inv   float64   // 1/σ²
	w     float64
}

func newProjection(s *normalSampler, planes []regions.Hyperplane, at [][]int) *projection {
	p := &projection{fullSurface: fullSurface{len(s.q.theta)}, s: s, planes: make([]projectionPlane, len(planes)), wd: make([]float64, s.n), y: make([]float64, len(s.q.mu))}
	for k, h := range planes {
		p.planes[k] = projectionPlane{
			Hyperplane: h, at: at[k], along: make([]float64, len(at[k])),
			u: make([]float64, h.Index[len(h.Index)-1]+1), cov: make([]float64, len(s.q.mu)),
		}
	}
	return p
}

// Locate implements Surface.
func (p *projection) Locate() {
	for k := range p.planes {
		x := &p.planes[k]
		x.locate(p.s.q)
		for j, i := range x.at {
			x.along[j] = x.cov[i]
		}
	}
}

func (x *projectionPlane) locate(q *Normal) {
	clear(x.u)
	q.adjoint(x.u, x.Hyperplane)
	variance := q.covariance(x.cov, x.u)
	x.inv = 1 / variance
	floats.Scale(x.inv, x.cov)
	x.w = density(x.At(q.mu), math.Sqrt(variance))
}

// Along, Density and Reached implement Surface.
func (p *projection) Along(k int) []float64 { return p.planes[k].along }
func (p *projection) Density(k int) float64 { return p.planes[k].w }
func (p *projection) Reached(k int) bool    { return p.planes[k].w > 0 }

// Add implements Surface.
func (p *projection) Add(sums, _ []float64, k int, phi, jumps []float64) {
	x, g := &p.planes[k], p.s.q.edges
	mean, scale, b := p.s.parts(sums)
	floats.ScaleTo(p.wd, x.w, jumps)
	total, moved := floats.Sum(p.wd), floats.Dot(p.wd, phi)
	for i, u := range x.u {
		p.y[i] = floats.Dot(p.wd, p.s.row(p.s.y, i)) - moved*x.cov[i]
		if u == 0 {
			continue
		}
		mean[i] += u * total
		scale[i] += u * (floats.Dot(p.wd, p.s.row(p.s.eps, i)) - moved*x.inv*u*p.s.q.s[i])
		for e := g.from[i]; e < g.from[i+1]; e++ {
			b[e] += u * p.y[g.parent[e]]
		}
	}
}
