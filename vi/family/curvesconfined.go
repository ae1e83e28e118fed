package family

import (
	"math"
	"slices"

	"github.com/facetvi/facet/internal/truncnorm"
)

// prepare implements curveSampler.
func (s *confinedSampler) prepare(i int, latents []int) []int {
	if s.point == nil {
		s.point = make([]float64, len(s.q.mu)*s.n)
		s.followers, s.own = make([][]int, len(s.q.mu)), slices.Repeat([]int{-1}, len(s.q.mu))
		for l, r := range s.truncations {
			s.own[r.latent] = l
			for _, j := range s.of.links.parents(r.latent) {
				s.followers[j] = append(s.followers[j], l)
			}
		}
	}
	return s.prepareAlong(s.of.links, i, latents)
}

// densityGiven implements curveSampler. With C_j, the mass of the interval of latent j, and the
// normal n that q would be without intervals, q = n/Π C_j. Given all other latents, z_i
// lies in an interval I, by its own bounds and by those of later latents. Its density
// there has no closed form, but that of n confined to I is near, and so
//
//	w = n(z_b,i | others)/n(I | others)·Π_j C_j(z)/C_j(z_b),
//
// over the latents j whose intervals or conditional means depend on z_i, has the mean
// E[w·f(z_b)] of the density itself, for any f.
func (s *confinedSampler) densityGiven(dst []float64, at *displaced) {
	if s.own[at.latent] < 0 && len(s.followers[at.latent]) == 0 {
		s.normalSampler.densityGiven(dst, at)
		return
	}
	s.noiseGiven(at)
	s.toPoints(at)
	sd := math.Sqrt(s.variance(at.latent))
	for b, d := range at.delta {
		if math.IsNaN(dst[b]) {
			dst[b] = 0
			continue
		}
		lo, hi := s.interval(at, b)
		t := at.noise[b] * sd
		log := truncnorm.LogProb(t+d/sd, t+lo/sd, t+hi/sd)
		if dst[b] = 0; math.IsInf(log, -1) {
			continue
		}
		for _, l := range s.followers[at.latent] {
			r := &s.truncations[l]
			alpha, beta, _, _ := s.within(r, at, b)
			log += truncnorm.LogMass(r.alpha[b], r.beta[b]) - truncnorm.LogMass(alpha, beta)
		}
		dst[b] = math.Exp(log) / sd
	}
}

// toPoints fills point.
func (s *confinedSampler) toPoints(at *displaced) {
	copy(s.point, at.z)
	for b, d := range at.delta {
		s.point[at.latent*s.n+b] += d
	}
}

// interval is that of latent i given all others at sample b, from where it is.
func (s *confinedSampler) interval(at *displaced, b int) (lo, hi float64) {
	i := at.latent
	lo, hi = math.Inf(-1), math.Inf(1)
	if l := s.own[i]; l >= 0 {
		lo, hi, _, _ = s.truncations[l].ends(at.z, s.n, b)
		lo, hi = lo-at.z[i*s.n+b], hi-at.z[i*s.n+b]
	}
	for _, l := range s.followers[i] {
		for _, bounds := range [2][]bound{s.truncations[l].floors, s.truncations[l].ceilings} {
			for k := range bounds {
				bounds[k].narrow(&lo, &hi, at, s.n, b)
			}
		}
	}
	return lo, hi
}

// narrow takes the bound of a later latent into account.
func (c *bound) narrow(lo, hi *float64, at *displaced, n, b int) {
	k, uses := slices.BinarySearch(c.Index, at.latent)
	if !uses {
		return
	}
	phi := c.Const
	for l, j := range c.Index {
		phi += c.Coef[l] * at.z[j*n+b]
	}
	if a := c.Coef[k]; c.Positive == (a > 0) {
		*lo = max(*lo, -phi/a)
	} else {
		*hi = min(*hi, -phi/a)
	}
}

// within is Confined.within at point b.
func (s *confinedSampler) within(r *truncationRows, at *displaced, b int) (alpha, beta float64, floor, ceiling int) {
	i := r.latent
	m := s.point[i*s.n+b] - s.q.s[i]*s.noiseAt(at, i, b)
	return s.of.within(r.truncation, m, s.point, s.n, b)
}

// noiseAt is t_i at point b.
func (s *confinedSampler) noiseAt(at *displaced, i, b int) float64 {
	return s.eps[i*s.n+b] + s.noiseStep(at, i)*at.delta[b]
}

// pullAt implements curveSampler.
func (s *confinedSampler) pullAt(sums, grad []float64, at *displaced, field [][]float64) {
	s.seed(grad, at, field)
	s.toPoints(at)
	for _, i := range at.local {
		if l := s.own[i]; l >= 0 {
			s.turnAt(sums, grad, at, &s.truncations[l])
		}
		s.pullMean(sums, grad, at, i)
	}
}

// turnAt is turn at the points.
func (s *confinedSampler) turnAt(sums, grad []float64, at *displaced, r *truncationRows) {
	_, scale, _ := s.parts(sums)
	row := s.row(s.adjoint, r.latent)
	for b, v := range row {
		if v == 0 {
			continue
		}
		t := s.noiseAt(at, r.latent, b)
		alpha, beta, floor, ceiling := s.within(r, at, b)
		byLo, byHi := truncnorm.Slopes(t, alpha, beta)
		row[b] = v * (1 - byLo - byHi)
		scale[r.latent] += v * stretch(t, alpha, beta, byLo, byHi)
		if floor >= 0 {
			s.pushAt(grad, at, &r.floors[floor], b, v*byLo)
		}
		if ceiling >= 0 {
			s.pushAt(grad, at, &r.ceilings[ceiling], b, v*byHi)
		}
	}
}

// pushAt is push at point b.
func (s *confinedSampler) pushAt(grad []float64, at *displaced, c *bound, b int, adjoint float64) {
	for l, slope := range c.slope {
		s.adjointOf(grad, at, c.Index[l])[b] += slope * adjoint
	}
}
