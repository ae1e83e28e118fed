package family

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
)

// A diagonal is the Surface of independent normals, also where those of low rank have U·η beside them: a draw moves
// along Σa, the normal of the plane in the noise. The weights of such an orthogonal projection are constants.
type diagonal struct {
	s      *normalSampler
	low    *lowRankSampler // whose normals these are; or nil
	axes   []axisPlane     // of the planes with one coordinate, in their order; none of low rank
	dense  []densePlane    // of the others
	kind   []int           // by plane: its position in axes, or −1 minus that in dense
	along  []([]float64)   // by plane
	moved  []float64       // scratch: ε on a plane
	weight []float64       // scratch: of the samples
	wd     []float64       // scratch: weights times jumps
}

// A densePlane has several coordinates.
type densePlane struct {
	regions.Hyperplane
	at    []int // latents that are asked for
	along []float64
	w     float64   // weight
	step  []float64 // a sample moves by −Φ·step in ε, by Index,
	eta   []float64 // and by −Φ·eta in η of low rank
}

func newDiagonal(s *normalSampler, low *lowRankSampler, planes []regions.Hyperplane, at [][]int) *diagonal {
	d := &diagonal{s: s, low: low, moved: make([]float64, s.n), weight: make([]float64, s.n), wd: make([]float64, s.n)}
	for k, h := range planes {
		along := make([]float64, len(at[k]))
		d.along = append(d.along, along)
		if len(h.Index) > 1 || low != nil {
			p := densePlane{Hyperplane: h, at: at[k], along: along, step: make([]float64, len(h.Index))}
			if low != nil {
				p.eta = make([]float64, low.q.rank)
			}
			d.dense = append(d.dense, p)
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
		p.locate(mu[latent], inv)
	}
	for l := range d.dense {
		d.locate(&d.dense[l])
	}
}

// locate moves the plane to the coordinates of the noise, where it is ã·ε + (Uᵀa)·η + c̃ = 0.
func (d *diagonal) locate(p *densePlane) {
	mu, s := d.s.q.mu, d.s.q.s
	variance, shift := 0.0, p.Const
	for k, i := range p.Index {
		p.step[k] = p.Coef[k] * s[i] // ã
		variance += p.step[k] * p.step[k]
		shift += p.Coef[k] * mu[i]
	}
	for k := range p.eta {
		p.eta[k] = d.low.q.along(p.Hyperplane, k)
		variance += p.eta[k] * p.eta[k]
	}
	p.w = density(shift, math.Sqrt(variance))
	floats.Scale(1/variance, p.step)
	floats.Scale(1/variance, p.eta)
	for j, l := range p.at {
		p.along[j] = 0
		if k, ok := slices.BinarySearch(p.Index, l); ok {
			p.along[j] = p.step[k] * s[l]
		}
		if d.low != nil {
			p.along[j] += floats.Dot(d.low.q.row(l), p.eta)
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

// Reached and Each implement Surface.
func (d *diagonal) Reached(k int) bool { return d.Density(k) > 0 }
func (d *diagonal) Each(k int) bool    { return d.kind[k] < 0 }

// Seeds implements Surface.
func (d *diagonal) Seeds() bool { return false }

// AddSums implements Surface.
func (d *diagonal) AddSums(sums []float64, first int, jumps []float64) {
	d.s.addAxes(sums, d.axes[d.kind[first]:][:len(jumps)], jumps)
}

// Add implements Surface.
func (d *diagonal) Add(sums, _ []float64, k int, phi, jumps []float64) {
	if d.kind[k] >= 0 {
		d.AddSums(sums, k, []float64{vec.Sum(jumps)})
		return
	}
	p := &d.dense[-1-d.kind[k]]
	vec.Fill(d.weight, p.w)
	vec.GatedMul(d.wd, d.weight, jumps, 1)
	mean, scale, u := d.s.parts(sums)
	for j, i := range p.Index {
		if i >= d.s.free {
			break // of noise that stays as it is
		}
		vec.Affine2(d.moved, d.s.row(d.s.eps, i), phi, 1, -p.step[j], 0)
		var sum, dot [1]float64
		vec.AddSumDotRows(sum[:], dot[:], d.wd, d.moved, d.s.n)
		mean[i] += p.Coef[j] * sum[0]
		scale[i] += p.Coef[j] * dot[0]
	}
	for c, step := range p.eta {
		dot := floats.Dot(d.wd, d.s.row(d.low.eta, c)) - step*floats.Dot(d.wd, phi)
		for j, i := range p.Index {
			if i >= d.s.q.points {
				u[i*len(p.eta)+c] += p.Coef[j] * dot
			}
		}
	}
}
