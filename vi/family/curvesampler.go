package family

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/vec"
)

// A curveSampler is a Sampler that knows each latent's density given all others.
type curveSampler interface {
	Sampler
	// follow takes on the parameters of the Sampler, before densityGiven.
	follow()
	// mean is that of latent i, and variance that given all others, both before any
	// confinement.
	mean(i int) float64
	variance(i int) float64
	// prepare makes room for pieces of curves in latent i of the latents of Φ, and lists
	// what pullAt has to go through.
	prepare(i int, latents []int) (local []int)
	// densityGiven writes the density of a latent at the points, given all others, to dst,
	// times what makes it an importance weight if it is not exact.
	densityGiven(dst []float64, at *displaced)
	// pullAt adds Σ (∂z/∂θ)ᵀv at the points, of a field v on at.latents, to sums and
	// grad, as Surface.Add does.
	pullAt(sums, grad []float64, at *displaced, field [][]float64)
	// seeds reports whether pullAt leaves a part to the sweep of AddPath or Pull.
	seeds() bool
}

// displaced are points that differ from the samples in one latent alone.
type displaced struct {
	latent  int
	latents []int     // of Φ, ascending
	local   []int     // of prepare
	z       []float64 // the samples, latents × n
	delta   []float64 // by how much the latent differs
	noise   []float64 // scratch
}

// normalGiven writes the density of a normal latent given all others at the points to
// dst, which is NaN where there is none, and else 0. at.noise is the derivative of −log q by
// the latent at the samples.
func normalGiven(dst []float64, at *displaced, variance float64) {
	sd := math.Sqrt(variance)
	vec.Affine2(at.noise, at.noise, at.delta, sd, 1/sd, 0)
	vec.Add(dst, dst, at.noise)
	vec.Gauss(dst, dst, invSqrt2Pi/sd)
}

// follow implements curveSampler.
func (s *normalSampler) follow() {
	for c, j := range s.q.edges.child {
		s.passed[c] = -s.childB[c] / s.q.s[j]
	}
}

// mean implements curveSampler.
func (s *normalSampler) mean(i int) float64 { return s.q.mu[i] }

// variance implements curveSampler: 1/P_ii, of the precision P = (I − B)ᵀS⁻²(I − B).
func (s *normalSampler) variance(i int) float64 {
	p, g := 1/(s.q.s[i]*s.q.s[i]), s.q.edges
	for c, z := g.children(i, i); c < z; c++ {
		x := s.childB[c] / s.q.s[g.child[c]]
		p += x * x
	}
	return 1 / p
}

// prepare implements curveSampler. The latents before i are those of the samples, so that they
// are left to the sweep of AddPath or Pull.
func (s *normalSampler) prepare(i int, latents []int) []int {
	if s.y == nil {
		return nil
	}
	if s.adjoint == nil {
		s.adjoint, s.passed = make([]float64, len(s.q.mu)*s.n), make([]float64, len(s.childB))
	}
	return s.q.edges.ancestors(i, latents)
}

// ancestors lists latents and what they descend from, down to first, descending.
func (g *edges) ancestors(first int, latents []int) (list []int) {
	in := map[int]bool{}
	for _, i := range latents {
		in[i] = true
	}
	for i := latents[len(latents)-1]; i >= first; i-- {
		if !in[i] {
			continue
		}
		list = append(list, i)
		for _, j := range g.parents(i) {
			in[int(j)] = true
		}
	}
	return list
}

// noiseGiven writes (P·y)_i to at.noise: ε_i/s_i − Σ_c B_ci·ε_c/s_c over the children
// c of i.
func (s *normalSampler) noiseGiven(at *displaced) {
	i, g := at.latent, s.q.edges
	vec.Affine(at.noise, s.row(s.eps, i), 1/s.q.s[i], 0)
	a, z := g.children(i, i)
	vec.AddRows(at.noise, s.eps, g.child[a:z], s.passed[a:z])
}

// densityGiven implements curveSampler.
func (s *normalSampler) densityGiven(dst []float64, at *displaced) {
	s.noiseGiven(at)
	normalGiven(dst, at, s.variance(at.latent))
}

// pullAt implements curveSampler.
func (s *normalSampler) pullAt(sums, grad []float64, at *displaced, field [][]float64) {
	if s.y == nil {
		mean, scale, _ := s.parts(sums)
		for l, i := range at.latents {
			if i >= s.free {
				break // of noise that stays as it is
			}
			vec.AddSumDotRows(mean[i:i+1], scale[i:i+1], field[l], s.row(s.eps, i), s.n)
			if i == at.latent {
				scale[i] += floats.Dot(field[l], at.delta) / s.q.s[i]
			}
		}
		return
	}
	s.seed(grad, at, field)
	for _, i := range at.local {
		s.pullMean(sums, grad, at, i)
	}
}

// seeds implements curveSampler: latents that have parents move with those.
func (s *normalSampler) seeds() bool { return s.y != nil }

// seed puts a field where pullAt and the sweep after it take it up.
func (s *normalSampler) seed(grad []float64, at *displaced, field [][]float64) {
	for _, i := range at.local {
		clear(s.row(s.adjoint, i))
	}
	for l, i := range at.latents {
		vec.AddScaled(s.adjointOf(grad, at, i), 1, field[l])
	}
}

// adjointOf is the row that collects the adjoint of a latent.
func (s *normalSampler) adjointOf(grad []float64, at *displaced, i int) []float64 {
	if i < at.latent {
		return s.row(grad, i)
	}
	return s.row(s.adjoint, i)
}

// noiseStep is by how much ε_i at a point differs, by δ.
func (s *normalSampler) noiseStep(at *displaced, i int) float64 {
	if i == at.latent {
		return 1 / s.q.s[i]
	}
	for e := s.q.edges.from[i]; e < s.q.edges.from[i+1]; e++ {
		if int(s.q.edges.parent[e]) == at.latent {
			return -s.q.b[e] / s.q.s[i]
		}
	}
	return 0
}

// pullMean passes the adjoint of the conditional mean of a local latent on: to sums,
// and to its parents.
func (s *normalSampler) pullMean(sums, grad []float64, at *displaced, i int) {
	mean, scale, b := s.parts(sums)
	adjoint := s.row(s.adjoint, i)
	vec.AddSumDotRows(mean[i:i+1], scale[i:i+1], adjoint, s.row(s.eps, i), s.n)
	moved := floats.Dot(adjoint, at.delta)
	scale[i] += moved * s.noiseStep(at, i)
	for e := s.q.edges.from[i]; e < s.q.edges.from[i+1]; e++ {
		j := int(s.q.edges.parent[e])
		b[e] += floats.Dot(adjoint, s.row(s.y, j))
		if j == at.latent {
			b[e] += moved
		}
		vec.AddScaled(s.adjointOf(grad, at, j), s.q.b[e], adjoint)
	}
}
