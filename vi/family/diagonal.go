package family

import (
	"math"
	"slices"

	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
)

// A diagonal is the Surface of independent normals.
type diagonal struct {
	s      *normalSampler
	method Method
	planes []diagonalPlane
	moved  []float64 // scratch: ε on a plane
	weight []float64 // scratch: of the samples
	wd     []float64 // scratch: weights times jumps
}

// A diagonalPlane is a plane of a diagonal. One with a single coordinate is
// z_i = at: all of its points have one ε there.
type diagonalPlane struct {
	regions.Hyperplane
	axis  bool
	at    []int
	along []float64

	t     float64   // ε on an axis plane
	w     float64   // weight of an axis plane and of orthogonal projection
	pivot int       // position of the pivot in Index
	slope float64   // of Φ along the pivot, in the coordinates of ε
	step  []float64 // a sample moves by −Φ·step in ε, by Index
}

func newDiagonal(s *normalSampler, planes []regions.Hyperplane, at [][]int, m Method) *diagonal {
	d := &diagonal{s: s, method: m, planes: make([]diagonalPlane, len(planes))}
	if m == Own {
		d.method = Orthogonal
	}
	d.moved, d.weight, d.wd = make([]float64, s.n), make([]float64, s.n), make([]float64, s.n)
	for k, h := range planes {
		d.planes[k] = diagonalPlane{
			Hyperplane: h, axis: len(h.Index) == 1, at: at[k], along: make([]float64, len(at[k])), step: make([]float64, len(h.Index)),
		}
	}
	return d
}

// Locate implements Surface.
func (d *diagonal) Locate() {
	mu, s := d.s.q.mu, d.s.q.s
	latent, inv := -1, 0.0
	for k := range d.planes {
		p := &d.planes[k]
		if !p.axis {
			p.locate(mu, s, d.method)
			continue
		}
		i := p.Index[0]
		if i != latent { // neighbours often share it
			latent, inv = i, 1/s[i]
		}
		p.t = (-p.Const - mu[i]) * inv // the coefficient is 1
		p.w = normalDensity(p.t) * inv
		for j, l := range p.at {
			p.along[j] = 0
			if l == i {
				p.along[j] = 1
			}
		}
	}
}

// locate moves the plane to the coordinates of ε, where it is ã·ε + c̃ = 0.
func (p *diagonalPlane) locate(mu, s []float64, m Method) {
	norm2, shift := 0.0, p.Const
	for k, i := range p.Index {
		p.step[k] = p.Coef[k] * s[i] // ã
		norm2 += p.step[k] * p.step[k]
		shift += p.Coef[k] * mu[i]
	}
	norm := math.Sqrt(norm2)
	p.w = normalDensity(shift/norm) / norm
	p.pivot = 0
	for k, x := range p.step {
		if math.Abs(x) > math.Abs(p.step[p.pivot]) {
			p.pivot = k
		}
	}
	p.slope = p.step[p.pivot]
	for k := range p.Index {
		switch {
		case m == Orthogonal:
			p.step[k] /= norm2
		case k == p.pivot:
			p.step[k] = 1 / p.slope
		default:
			p.step[k] = 0
		}
	}
	for j, l := range p.at {
		p.along[j] = 0
		if k, ok := slices.BinarySearch(p.Index, l); ok {
			p.along[j] = p.step[k] * s[l]
		}
	}
}

// Along implements Surface.
func (d *diagonal) Along(k int) []float64 { return d.planes[k].along }

// Density implements Surface.
func (d *diagonal) Density(k int) float64 { return d.planes[k].w }

// Reached implements Surface.
func (d *diagonal) Reached(k int) bool { return d.planes[k].w > 0 }

// Each implements Surface.
func (d *diagonal) Each(k int) bool { return !d.planes[k].axis }

// Params implements Surface: μ and s of the plane's latents.
func (d *diagonal) Params(k int) (params []int) {
	for _, i := range d.planes[k].Index {
		params = append(params, 2*i, 2*i+1)
	}
	return params
}

// Clear implements Surface.
func (d *diagonal) Clear(sums []float64, k int) {
	for _, i := range d.planes[k].Index {
		sums[i], sums[len(d.s.q.mu)+i] = 0, 0
	}
}

// Seeds implements Surface.
func (d *diagonal) Seeds() bool { return false }

// AddSum implements Surface.
func (d *diagonal) AddSum(sums []float64, k int, jumps float64) {
	p, dim := &d.planes[k], len(d.s.q.mu)
	g := p.w * jumps
	sums[p.Index[0]] += g
	sums[dim+p.Index[0]] += g * p.t
}

// Add implements Surface.
func (d *diagonal) Add(sums, _ []float64, k int, phi, jumps []float64) {
	p, dim, n := &d.planes[k], len(d.s.q.mu), d.s.n
	if p.axis {
		d.AddSum(sums, k, vec.Sum(jumps))
		return
	}
	for i := range d.weight {
		d.weight[i] = p.w
	}
	if d.method == Elimination {
		vec.Affine2(d.moved, d.s.row(d.s.eps, p.Index[p.pivot]), phi, 1, -p.step[p.pivot], 0)
		for i, e := range d.moved {
			d.weight[i] = normalDensity(e) / math.Abs(p.slope)
		}
	}
	vec.GatedMul(d.wd, d.weight, jumps, 1)
	for j, i := range p.Index {
		vec.Affine2(d.moved, d.s.row(d.s.eps, i), phi, 1, -p.step[j], 0)
		var sum, dot [1]float64
		vec.AddSumDotRows(sum[:], dot[:], d.wd, d.moved, n)
		sums[i] += p.Coef[j] * sum[0]
		sums[dim+i] += p.Coef[j] * dot[0]
	}
}
