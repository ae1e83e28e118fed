package family

import (
	"math/rand/v2"

	"github.com/facetvi/facet/internal/truncnorm"
	"github.com/facetvi/facet/internal/vec"
)

// A confinedSampler is the Sampler of a Confined: that of its normal, with
// t_i = (z_i − m_i)/s_i in place of ε_i. Only confined latents cost more.
type confinedSampler struct {
	*normalSampler
	of          *confined // whose normal is the normalSampler's
	truncations []truncationRows
	noise       [][]float64 // the rows of ε, by latent
	mass        []float64   // scratch
	// of pieces of curves
	point     []float64 // scratch: the points, latents × n
	followers [][]int   // by latent: numbers of truncations whose intervals or conditional means depend on it
	own       []int     // by latent: the number of its truncation, or −1
}

// truncationRows are what the samples know of a confined latent.
type truncationRows struct {
	*truncation
	from        [2]int32  // its parents in the sparse matrix
	eps         []float64 // its noise
	alpha, beta []float64
	floor, ceil []int32 // the bounds that count
	// what gradients need; nil before the first
	drift []float64    // −∂log(Φ(β) − Φ(α))/∂m, in units of 1/s
	seeds [3][]float64 // adjoints of m, lo and hi, from a Surface
}

// Drawer implements Q.
func (q *confined) Drawer(n int) Drawer {
	base := q.normal.Bind(n).(*normalSampler)
	if base.y == nil {
		base.bindEdges()
	}
	s := &confinedSampler{normalSampler: base, of: &confined{normal: base.q, confinement: q.confinement, size: q.size}, mass: make([]float64, n)}
	for i, r := range q.truncations {
		s.noise = append(s.noise, s.row(s.eps, i))
		if r == nil {
			continue
		}
		x := truncationRows{truncation: r, from: [2]int32{base.from[i] + 1, base.from[i+1]}, floor: make([]int32, n), ceil: make([]int32, n)}
		makeRows(n, &x.eps, &x.alpha, &x.beta)
		s.noise[i] = x.eps
		s.truncations = append(s.truncations, x)
	}
	s.Locate(q)
	return s
}

// makeRows makes all rows of n numbers.
func makeRows(n int, all ...*[]float64) {
	room := make([]float64, n*len(all))
	for k, row := range all {
		*row = room[k*n:][:n:n]
	}
}

// forGradients makes the rows that only gradients need.
func (r *truncationRows) forGradients(n int) {
	if r.drift == nil {
		makeRows(n, &r.drift, &r.seeds[0], &r.seeds[1], &r.seeds[2])
	}
}

// Locate implements Sampler.
func (s *confinedSampler) Locate(q Q) {
	s.normalSampler.Locate(q.(*confined).normal)
	s.of.moved()
}

// Draw implements Sampler.
func (s *confinedSampler) Draw(z []float64, rng *rand.Rand) {
	s.normalSampler.noise(rng)
	next := 0
	for l := range s.truncations {
		r := &s.truncations[l]
		i := r.latent
		s.drawFree(z, next, i)
		next = i + 1
		t, y, mu, sd := s.row(s.eps, i), s.row(s.y, i), s.q.mu[i], s.q.s[i]
		copy(r.eps, t)
		s.normalSampler.rows.Sparse(y, s.n, s.zeros[:1], r.from[:], s.ref, s.weight)
		for k := range t {
			m := mu + y[k]
			var floor, ceil int
			r.alpha[k], r.beta[k], floor, ceil = s.of.within(r.truncation, m, z, s.n, k)
			r.floor[k], r.ceil[k] = int32(floor), int32(ceil)
		}
		truncnorm.Row(t, r.eps, r.alpha, r.beta)
		for k, x := range t {
			z[i*s.n+k] = mu + y[k] + sd*x
			r.nudge(z, s.n, k, sd)
			y[k] = z[i*s.n+k] - mu
		}
	}
	s.drawFree(z, next, len(s.q.mu))
}

// drawFree makes the latents from first to last − 1.
func (s *confinedSampler) drawFree(z []float64, first, last int) {
	if first == last {
		return
	}
	s.normalSampler.rows.Sparse(s.y[first*s.n:last*s.n], s.n, s.zeros[first:last], s.from[first:last+1], s.ref, s.weight)
	for i := first; i < last; i++ {
		vec.Affine(s.row(z, i), s.row(s.y, i), 1, s.q.mu[i])
	}
}

// SubLogQ implements Sampler.
func (s *confinedSampler) SubLogQ(dst []float64) {
	s.normalSampler.SubLogQ(dst)
	vec.Fill(s.mass, 1)
	for l := range s.truncations {
		r := &s.truncations[l]
		for k := range dst {
			if alpha, beta := r.alpha[k], r.beta[k]; !truncnorm.IsWhole(alpha, beta) {
				dst[k] += times(&s.mass[k], truncnorm.Mass(alpha, beta), alpha, beta)
			}
		}
	}
	vec.Log(s.mass, s.mass)
	vec.Add(dst, dst, s.mass)
}

// AddPath implements Sampler. As for a normal what the parameters of log q bring is
// left out; what its path brings is t/s by the conditional mean, and the logarithm
// of each interval's mass by that and the bounds.
func (s *confinedSampler) AddPath(sums, grad []float64) {
	s.sweep(sums, grad, 1)
	for i, inv := range s.q.inv {
		vec.AddScaled(s.row(grad, i), inv, s.row(s.eps, i))
	}
	for l := range s.truncations {
		r := &s.truncations[l]
		vec.AddScaled(s.row(grad, r.latent), -s.q.inv[r.latent], r.drift)
	}
	s.addAdjoints(sums, grad)
}

// Pull implements Sampler.
func (s *confinedSampler) Pull(sums, field []float64) {
	s.sweep(sums, field, 0)
	s.addAdjoints(sums, field)
}

// sweep turns a field on the latents into what it brings by the conditional means,
// from the last latent to the first, with share of −log q but for t/s and drift/s,
// which nothing passes on. Where z = m + s·t and t = T(ε; α, β)
//
//	∂z/∂m = 1 − T_α − T_β,   ∂z/∂lo = T_α,   ∂z/∂hi = T_β,
//	∂z/∂s = t·∂z/∂m + (t − α)·T_α + (t − β)·T_β.
func (s *confinedSampler) sweep(sums, field []float64, share float64) {
	_, scale, _ := s.parts(sums)
	last := len(s.q.mu) - 1
	for l := len(s.truncations) - 1; l >= 0; l-- {
		i := s.truncations[l].latent
		s.passOn(field, i, last)
		scale[i] += s.turn(&s.truncations[l], field, share)
		last = i - 1
	}
	s.passOn(field, 0, last)
}

// turn is sweep at a confined latent. It returns what its scale gets beside t times
// what the conditional mean gets.
func (s *confinedSampler) turn(r *truncationRows, field []float64, share float64) (scale float64) {
	i := r.latent
	row, inv := s.row(field, i), s.q.inv[i]
	r.forGradients(s.n)
	for k, t := range s.row(s.eps, i) {
		alpha, beta := r.alpha[k], r.beta[k]
		byLo, byHi := truncnorm.Slopes(t, alpha, beta)
		v, atLo, atHi := row[k], 0.0, 0.0
		r.drift[k] = 0
		if share != 0 {
			v += t * inv
			atLo, atHi = truncnorm.AtEnds(alpha, beta)
			r.drift[k] = atLo - atHi
		}
		row[k] = v*(1-byLo-byHi) + r.seeds[0][k] - share*(t-r.drift[k])*inv
		lo, hi := v*byLo-atLo*inv+r.seeds[1][k], v*byHi+atHi*inv+r.seeds[2][k]
		scale += v * stretch(t, alpha, beta, byLo, byHi)
		if f := r.floor[k]; f >= 0 {
			r.floors[f].push(field, s.n, k, lo)
		}
		if c := r.ceil[k]; c >= 0 {
			r.ceilings[c].push(field, s.n, k, hi)
		}
	}
	for _, seeds := range r.seeds {
		clear(seeds)
	}
	return scale
}

// stretch is ∂z/∂s − t·∂z/∂m.
func stretch(t, alpha, beta, byLo, byHi float64) (x float64) {
	if byLo != 0 {
		x += (t - alpha) * byLo
	}
	if byHi != 0 {
		x += (t - beta) * byHi
	}
	return x
}

// push adds what the bound brings to the latents before.
func (b *bound) push(field []float64, n, k int, adjoint float64) {
	for l, slope := range b.slope {
		field[b.Index[l]*n+k] += slope * adjoint
	}
}

// AddScore implements Sampler.
func (s *confinedSampler) AddScore(sums, weight []float64) {
	s.normalSampler.AddScore(sums, weight)
	mean, scale, b := s.parts(sums)
	g := s.q.edges
	for l := range s.truncations {
		r := &s.truncations[l]
		i := r.latent
		for k, w := range weight {
			w *= s.q.inv[i]
			atLo, atHi := truncnorm.AtEnds(r.alpha[k], r.beta[k])
			mean[i] -= w * (atLo - atHi)
			scale[i] += w * stretch(0, r.alpha[k], r.beta[k], atLo, -atHi)
			for e := g.from[i]; e < g.from[i+1]; e++ {
				b[e] -= w * (atLo - atHi) * s.row(s.y, int(g.parent[e]))[k]
			}
		}
	}
}
