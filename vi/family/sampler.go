package family

import (
	"math/rand/v2"

	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/internal/vec"
)

// A normalSampler is the Sampler of a Normal. Its sums are, for the adjoint
// η_i = ∂/∂m_i of each conditional mean, Σ η_i, then Σ η_i·ε_i, then Σ η_i·y_j for
// each edge.
type normalSampler struct {
	q     *Normal // a copy
	n     int
	free  int       // the first so many latents have gradients: all, but of Prior
	eps   []float64 // latents × n
	y     []float64 // z − μ, latents × n; nil without parents
	zeros []float64
	// The map from ε to y as one sparse matrix over the rows of ε and those of y
	// before: row i is s_i·ε_i + Σ B_ij·y_j.
	rows      vec.Rows
	from, ref []int32
	weight    []float64
	childB    []float64 // B by child
	adjoint   []float64 // scratch of pullAt, latents × n; nil without pieces of curves, as is
	passed    []float64 // −B/s by child
}

// Drawer implements Q.
func (q *Normal) Drawer(n int) Drawer { return q.Bind(n) }

// Bind is Drawer's Sampler.
func (q *Normal) Bind(n int) Sampler {
	dim := len(q.mu)
	s := &normalSampler{
		q: q.Clone().(*Normal), n: n, free: dim, eps: make([]float64, dim*n), zeros: make([]float64, dim),
	}
	if q.family == (Prior{}) {
		s.free = q.points
	}
	if len(q.b) > 0 {
		s.bindEdges()
	}
	s.Locate(q)
	return s
}

func (s *normalSampler) bindEdges() {
	dim, g := len(s.q.mu), s.q.edges
	s.y = make([]float64, dim*s.n)
	s.rows = vec.Rows{A: s.eps, B: s.y, Split: int32(dim)}
	s.from = make([]int32, dim+1)
	for i := range dim {
		s.ref = append(s.ref, int32(i))
		for _, j := range g.parents(i) {
			s.ref = append(s.ref, int32(dim)+j)
		}
		s.from[i+1] = int32(len(s.ref))
	}
	s.weight, s.childB = make([]float64, len(s.ref)), make([]float64, len(s.q.b))
}

// Locate implements Drawer.
func (s *normalSampler) Locate(q Q) {
	from := q.(*Normal)
	copy(s.q.mu, from.mu)
	copy(s.q.s, from.s)
	s.q.entropy = from.entropy
	if s.q.slope != nil {
		copy(s.q.slope, from.slope)
		return
	}
	copy(s.q.inv, from.inv)
	if s.y == nil {
		return
	}
	copy(s.q.b, from.b)
	g := s.q.edges
	for i, x := range s.q.s {
		at := s.from[i]
		s.weight[at] = x
		copy(s.weight[at+1:], s.q.b[g.from[i]:g.from[i+1]])
	}
	for k, e := range g.childEdge {
		s.childB[k] = s.q.b[e]
	}
}

// noise draws ε: 0 of parameters.
func (s *normalSampler) noise(rng *rand.Rand) { parallel.Normals(s.eps[s.q.points*s.n:], rng) }

// Draw implements Drawer.
func (s *normalSampler) Draw(z []float64, rng *rand.Rand) {
	s.noise(rng)
	switch {
	case s.y == nil && s.n == 1:
		vec.Mul(z, s.q.s, s.eps)
		vec.Add(z, s.q.mu, z)
		return
	case s.y == nil:
		vec.AffineRows(z, s.eps, s.n, s.q.s, s.q.mu)
		return
	}
	s.rows.Sparse(s.y, s.n, s.zeros, s.from, s.ref, s.weight)
	for i, m := range s.q.mu {
		vec.Affine(s.row(z, i), s.row(s.y, i), 1, m)
	}
}

// row is row i of a matrix of samples.
func (s *normalSampler) row(m []float64, i int) []float64 { return m[i*s.n:][:s.n] }

// SubLogQ implements Drawer: log q = Σ (1 − ε²)/2 − entropy.
func (s *normalSampler) SubLogQ(dst []float64) {
	entropy := s.q.Entropy()
	for k := range dst {
		dst[k] += entropy
	}
	for i := s.q.points; i < len(s.q.s); i++ {
		for k, e := range s.row(s.eps, i) {
			dst[k] += 0.5 * (e*e - 1)
		}
	}
}

// Sums implements Sampler.
func (s *normalSampler) Sums() int { return len(s.q.theta) }

// parts are the three parts of sums.
func (s *normalSampler) parts(sums []float64) (mean, scale, b []float64) {
	n := len(s.q.mu)
	return sums[:n], sums[n : 2*n], sums[2*n:]
}

// AddPath implements Sampler. The adjoints of the conditional means are
// η = (I − B)⁻ᵀ·∇log r, and those of −log q along the path S⁻¹ε. What the
// parameters of log q itself bring is 0 on average, and left out: the noise that
// stays vanishes where q is the posterior (Roeder, Wu and Duvenaud, NeurIPS
// 2017). Softplus adds the exact gradient of its entropy in Finish instead.
func (s *normalSampler) AddPath(sums, grad []float64) {
	s.propagate(grad)
	if s.q.slope == nil && s.free == len(s.q.mu) {
		for i, inv := range s.q.inv {
			vec.AddScaled(s.row(grad, i), inv, s.row(s.eps, i))
		}
	}
	s.addAdjoints(sums, grad)
}

// Pull implements Sampler.
func (s *normalSampler) Pull(sums, field []float64) {
	s.propagate(field)
	s.addAdjoints(sums, field)
}

// propagate multiplies a field by (I − B)⁻ᵀ: what moves a latent moves those
// below it.
func (s *normalSampler) propagate(field []float64) {
	if g := s.q.edges; s.y != nil {
		vec.AddSparse(field, field, s.n, g.childOf, g.child, s.childB)
	}
}

// addAdjoints adds Σ η and Σ η·ε by latent, and Σ η·y by edge.
func (s *normalSampler) addAdjoints(sums, adjoint []float64) {
	mean, scale, b := s.parts(sums)
	s.addSums(mean[:s.free], scale[:s.free], adjoint[:s.free*s.n])
	if s.y != nil {
		vec.AddDots(b, adjoint, s.y, s.n, s.q.edges.latent, s.q.edges.parent)
	}
}

// addSums adds Σ η and Σ η·ε by latent.
func (s *normalSampler) addSums(mean, scale, adjoint []float64) {
	if s.n == 1 {
		vec.Add(mean, mean, adjoint)
		for i, g := range adjoint {
			scale[i] += g * s.eps[i]
		}
		return
	}
	vec.AddSumDotRows(mean, scale, adjoint, s.eps, s.n)
}

// AddScore implements Sampler: with η_i = ε_i/s_i, ∇log q is that of a path but
// for −1/s_i, by s_i.
func (s *normalSampler) AddScore(sums, weight []float64) {
	mean, scale, b := s.parts(sums)
	exact := 0.0 // Finish adds the exact ∂entropy/∂s, which is in the score
	if s.q.slope != nil {
		exact = float64(s.n)
	}
	for i := s.q.points; i < len(s.q.s); i++ { // a parameter has no score
		scaleOf := s.q.s[i]
		m, v := 0.0, 0.0
		for k, e := range s.row(s.eps, i) {
			m += weight[k] * e
			v += weight[k] * (e*e - 1)
		}
		mean[i] += m / scaleOf
		scale[i] += (v - exact) / scaleOf
		for e := s.q.edges.from[i]; e < s.q.edges.from[i+1]; e++ {
			dot, y := 0.0, s.row(s.y, int(s.q.edges.parent[e]))
			for k, x := range s.row(s.eps, i) {
				dot += weight[k] * x * y[k]
			}
			b[e] += dot / scaleOf
		}
	}
}

// Finish implements Sampler. μ_i shifts z_i alone: ∂/∂μ = (I − B)ᵀ·η.
func (s *normalSampler) Finish(dst, sums []float64, n int) {
	mean, scale, b := s.parts(sums)
	inv := 1 / float64(n)
	if s.q.slope != nil {
		for i := range mean {
			dst[2*i] = mean[i] * inv
			dst[2*i+1] = (scale[i]*inv + 1/s.q.s[i]) * s.q.slope[i] // entropy = Σ log s + …
		}
		return
	}
	for i := range mean {
		dst[2*i], dst[2*i+1] = mean[i]*inv, scale[i]*inv
	}
	for e, x := range b {
		dst[2*len(mean)+e] = x * inv
	}
	for i := range mean {
		for e := s.q.edges.from[i]; e < s.q.edges.from[i+1]; e++ {
			dst[2*s.q.edges.parent[e]] -= s.q.b[e] * (mean[i] * inv)
		}
	}
}

// density is that of a normal Φ at 0.
func density(mean, sd float64) float64 { return normalDensity(mean/sd) / sd }
