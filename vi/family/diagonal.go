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
	axes   []axisPlane   // of the planes with one coordinate, in their order
	dense  []densePlane  // of the others
	kind   []int         // by plane: its position in axes, or −1 minus that in dense
	along  []([]float64) // by plane
	moved  []float64     // scratch: ε on a plane
	weight []float64     // scratch: of the samples
	wd     []float64     // scratch: weights times jumps
}

// An axisPlane is z_latent = at: all of its points have one ε there.
type axisPlane struct {
	latent int
	at     float64
	t      float64 // ε on the plane
	w      float64 // weight: φ(t) over the slope s; 0 where q has no mass
}

// A densePlane has several coordinates.
type densePlane struct {
	regions.Hyperplane
	at    []int // latents that are asked for
	along []float64
	w     float64   // weight of orthogonal projection
	pivot int       // position of the pivot in Index
	slope float64   // of Φ along the pivot, in the coordinates of ε
	step  []float64 // a sample moves by −Φ·step in ε, by Index
}

func newDiagonal(s *normalSampler, planes []regions.Hyperplane, at [][]int, m Method) *diagonal {
	d := &diagonal{s: s, method: m}
	if m == Own {
		d.method = Orthogonal
	}
	d.moved, d.weight, d.wd = make([]float64, s.n), make([]float64, s.n), make([]float64, s.n)
	for k, h := range planes {
		along := make([]float64, len(at[k]))
		d.along = append(d.along, along)
		if len(h.Index) > 1 {
			d.dense = append(d.dense, densePlane{Hyperplane: h, at: at[k], along: along, step: make([]float64, len(h.Index))})
			d.kind = append(d.kind, -len(d.dense))
			continue
		}
		if j, ok := slices.BinarySearch(at[k], h.Index[0]); ok {
			along[j] = 1 // the coefficient is 1
		}
		d.kind = append(d.kind, len(d.axes))
		d.axes = append(d.axes, axisPlane{latent: h.Index[0], at: -h.Const})
	}
	return d
}

// Locate implements Surface.
func (d *diagonal) Locate() {
	mu, s := d.s.q.mu, d.s.q.s
	latent, inv := -1, 0.0
	for l := range d.axes {
		p := &d.axes[l]
		if p.latent != latent { // neighbours often share it
			latent, inv = p.latent, 1/s[p.latent]
		}
		p.t = (p.at - mu[latent]) * inv
		p.w = normalDensity(p.t) * inv
	}
	for l := range d.dense {
		d.dense[l].locate(mu, s, d.method)
	}
}

// locate moves the plane to the coordinates of ε, where it is ã·ε + c̃ = 0.
func (p *densePlane) locate(mu, s []float64, m Method) {
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
func (d *diagonal) Along(k int) []float64 { return d.along[k] }

// Density implements Surface.
func (d *diagonal) Density(k int) float64 {
	if l := d.kind[k]; l < 0 {
		return d.dense[-1-l].w
	}
	return d.axes[d.kind[k]].w
}

// Reached implements Surface.
func (d *diagonal) Reached(k int) bool { return d.Density(k) > 0 }

// Each implements Surface.
func (d *diagonal) Each(k int) bool { return d.kind[k] < 0 }

// latents are those of plane k.
func (d *diagonal) latents(k int) []int {
	if l := d.kind[k]; l < 0 {
		return d.dense[-1-l].Index
	}
	return []int{d.axes[d.kind[k]].latent}
}

// Params implements Surface: μ and s of the plane's latents.
func (d *diagonal) Params(k int) (params []int) {
	for _, i := range d.latents(k) {
		params = append(params, 2*i, 2*i+1)
	}
	return params
}

// Clear implements Surface.
func (d *diagonal) Clear(sums []float64, k int) {
	for _, i := range d.latents(k) {
		sums[i], sums[len(d.s.q.mu)+i] = 0, 0
	}
}

// Seeds implements Surface.
func (d *diagonal) Seeds() bool { return false }

// AddSums implements Surface.
func (d *diagonal) AddSums(sums []float64, first int, jumps []float64) {
	mean, scale, _ := d.s.parts(sums)
	axes := d.axes[d.kind[first]:][:len(jumps)]
	for l := range axes {
		if p := &axes[l]; p.w > 0 { // else the jump, which may be infinite, does not count
			g := p.w * jumps[l]
			mean[p.latent] += g
			scale[p.latent] += g * p.t
		}
	}
}

// Add implements Surface.
func (d *diagonal) Add(sums, _ []float64, k int, phi, jumps []float64) {
	if d.kind[k] >= 0 {
		d.AddSums(sums, k, []float64{vec.Sum(jumps)})
		return
	}
	p := &d.dense[-1-d.kind[k]]
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
	mean, scale, _ := d.s.parts(sums)
	for j, i := range p.Index {
		vec.Affine2(d.moved, d.s.row(d.s.eps, i), phi, 1, -p.step[j], 0)
		var sum, dot [1]float64
		vec.AddSumDotRows(sum[:], dot[:], d.wd, d.moved, d.s.n)
		mean[i] += p.Coef[j] * sum[0]
		scale[i] += p.Coef[j] * dot[0]
	}
}
