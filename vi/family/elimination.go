package family

import (
	"math"

	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
)

// An elimination is the Surface of a sequential normal that solves Φ = 0 for the
// last latent p of the plane (Lee, Yu and Yang, Theorem 3). The latents before it stay
// where they are. Its weight is the density of its conditional there,
//
//	w = φ(ε_p)/(s_p·|a_p|),   ε_p ← ε_p − Φ/(a_p·s_p),
//
// and the latents below it follow by a linear shift, a column of (I − B)⁻¹. So
// the terms of all planes are seeds of one reverse sweep: w·Δ·a is added to ∇log r,
// and only Σ η_p·ε_p needs ε_p on the plane.
//
// Orthogonal projection, along Σa, has constant weights, but costs two to six times as much. Where s_p is small
// beside the scale v of the rest, the weights of guards that are m away have a heavy tail here: E[w²]/E[w]² grows like
// exp(m²·(1/(s²+v²) − 1/(s²+2v²))), and few samples see such guards.
type elimination struct {
	s      *normalSampler
	planes []regions.Hyperplane
	forms  regions.Forms // of the planes: the last entry of each is a_p
	along  [][]float64
	axes   []axisPlane // by plane; w is −1 unless it is of one latent without parents
	shifts []shift     // of the planes on which others follow
	wd     []float64   // scratch: weights times jumps
}

// A shift is the part of a column of (I − B)⁻¹ that is wanted: cell 0 is the
// pivot, and the cells after it are latents below, ascending, each with its
// edges from cells before.
type shift struct {
	plane int
	value []float64
	from  []int32
	edge  []int32 // of B
	cell  []int32 // where it comes from
	out   []int32 // by latent that was asked for: its cell, or −1
}

// newShift collects the cells that latents at need below pivot.
func newShift(g *edges, pivot int, at []int) shift {
	below := map[int32]bool{int32(pivot): true}
	var visit func(i int32) bool // whether i is the pivot or below it
	visit = func(i int32) bool {
		if int(i) <= pivot {
			return int(i) == pivot
		}
		yes, known := below[i]
		if !known {
			for _, j := range g.parents(int(i)) {
				if visit(j) {
					yes = true
				}
			}
			below[i] = yes
		}
		return yes
	}
	last := pivot
	for _, i := range at {
		if visit(int32(i)) {
			last = max(last, i)
		}
	}
	s := shift{from: []int32{0}}
	cell := map[int32]int32{}
	for i := int32(pivot); int(i) <= last; i++ {
		if !below[i] {
			continue
		}
		if int(i) > pivot {
			for e := g.from[i]; e < g.from[i+1]; e++ {
				if c, ok := cell[g.parent[e]]; ok {
					s.edge, s.cell = append(s.edge, e), append(s.cell, c)
				}
			}
		}
		cell[i] = int32(len(s.from) - 1)
		s.from = append(s.from, int32(len(s.edge)))
	}
	for _, i := range at {
		c, ok := cell[int32(i)]
		if !ok {
			c = -1
		}
		s.out = append(s.out, c)
	}
	s.value = make([]float64, len(s.from)-1)
	return s
}

// locate fills the cells.
func (s *shift) locate(b []float64) {
	s.value[0] = 1
	for c := 1; c < len(s.value); c++ {
		sum := 0.0
		for e := s.from[c]; e < s.from[c+1]; e++ {
			sum += b[s.edge[e]] * s.value[s.cell[e]]
		}
		s.value[c] = sum
	}
}

func newElimination(s *normalSampler, planes []regions.Hyperplane, at [][]int) *elimination {
	e := &elimination{
		s: s, planes: planes, along: make([][]float64, len(planes)),
		axes: make([]axisPlane, len(planes)), wd: make([]float64, s.n),
	}
	for k, h := range planes {
		e.forms.Add(h)
		p, _ := e.pivot(k)
		if e.axes[k] = (axisPlane{latent: p, at: -h.Const}); len(h.Index) > 1 || !s.q.edges.root(p) {
			e.axes[k].w = -1
		}
		if len(at[k]) > 0 {
			e.along[k] = make([]float64, len(at[k]))
			x := newShift(s.q.edges, h.Index[len(h.Index)-1], at[k])
			x.plane = k
			e.shifts = append(e.shifts, x)
		}
	}
	return e
}

// pivot is p of plane k, and a_p.
func (e *elimination) pivot(k int) (p int, coef float64) {
	last := e.forms.From[k+1] - 1
	return int(e.forms.Index[last]), e.forms.Coef[last]
}

// Locate implements Surface.
func (e *elimination) Locate() {
	for l := range e.shifts {
		x := &e.shifts[l]
		x.locate(e.s.q.b)
		_, coef := e.pivot(x.plane)
		along := e.along[x.plane]
		for j, c := range x.out {
			along[j] = 0
			if c >= 0 {
				along[j] = x.value[c] / coef
			}
		}
	}
	for k := range e.axes {
		if p := &e.axes[k]; !(p.w < 0) {
			p.locate(e.s.q.mu[p.latent], e.s.q.inv[p.latent])
		}
	}
}

// Along, Density, Reached, Each and Seeds implement Surface.
func (e *elimination) Along(k int) []float64 { return e.along[k] }
func (e *elimination) Density(k int) float64 { return density(e.s.q.law(e.planes[k])) }
func (e *elimination) Reached(k int) bool    { return e.axes[k].w != 0 }
func (e *elimination) Each(k int) bool       { return e.axes[k].w < 0 }
func (e *elimination) Seeds() bool           { return true }

// AddSums implements Surface.
func (e *elimination) AddSums(sums []float64, first int, jumps []float64) {
	e.s.addAxes(sums, e.axes[first:][:len(jumps)], jumps)
}

// Add implements Surface.
func (e *elimination) Add(sums, grad []float64, k int, phi, jumps []float64) {
	if !e.Each(k) {
		e.AddSums(sums, k, []float64{vec.Sum(jumps)})
		return
	}
	p, coef := e.pivot(k)
	inv := e.s.q.inv[p]
	step, top := inv/coef, inv/math.Abs(coef)*invSqrt2Pi
	wd := e.wd[:len(phi)]
	vec.Affine2(wd, e.s.row(e.s.eps, p), phi, 1, -step, 0)
	vec.Gauss(wd, wd, top)
	vec.GatedMul(wd, wd, jumps, 1)
	dot, some := 0.0, false
	for i, x := range wd {
		dot += float64(x * phi[i])
		some = some || x != 0
	}
	if !some {
		return
	}
	for j := e.forms.From[k]; j < e.forms.From[k+1]; j++ {
		vec.AddScaled(e.s.row(grad, int(e.forms.Index[j])), e.forms.Coef[j], wd)
	}
	sums[len(e.s.q.mu)+p] -= dot * inv // a_p·(ε on the plane − ε) = −Φ/s_p
}
