package family

import (
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/vec"
)

// follow implements bender.
func (s *lowRankSampler) follow() {}

// mean implements bender.
func (s *lowRankSampler) mean(i int) float64 { return s.q.mu[i] }

// variance implements bender: 1/(Σ⁻¹)_ii.
func (s *lowRankSampler) variance(i int) float64 { return 1 / s.precision(i, i) }

// precision is (Σ⁻¹)_ij.
func (s *lowRankSampler) precision(i, j int) float64 {
	p := -floats.Dot(s.inverse.RawRowView(i), s.q.row(j)) * s.inv2[j]
	if i == j {
		p += s.inv2[i]
	}
	return p
}

// bend implements bender.
func (s *lowRankSampler) bend(int, []int) []int {
	if s.moved == nil {
		s.moved, s.etaMean = make([]float64, s.n), make([]float64, s.q.family.Rank*s.n)
	}
	return nil
}

// know fills ux and etaMean for the samples.
func (s *lowRankSampler) know() {
	if s.known {
		return
	}
	s.known = true
	s.pulled()
	clear(s.etaMean)
	for i := range s.q.mu {
		for k, w := range s.inverse.RawRowView(i) {
			vec.AddScaled(s.row(s.etaMean, k), w, s.row(s.x, i))
		}
	}
}

// addPrecisionRow adds row i of Σ⁻¹x, of which ux is known, to dst.
func (s *lowRankSampler) addPrecisionRow(dst []float64, i int) {
	vec.AddScaled(dst, s.inv2[i], s.row(s.x, i))
	for k, w := range s.inverse.RawRowView(i) {
		vec.AddScaled(dst, -w, s.row(s.ux, k))
	}
}

// given implements bender.
func (s *lowRankSampler) given(dst []float64, at *displaced) {
	s.know()
	clear(at.noise)
	s.addPrecisionRow(at.noise, at.latent)
	normalGiven(dst, at, s.variance(at.latent))
}

// pullAt implements bender. The noise that makes a point is not unique; what counts is
// its mean given the point,
//
//	E[ε | z] = S·Σ⁻¹x,   E[η | z] = Uᵀ·Σ⁻¹x = M⁻¹·UᵀD⁻¹x,
//
// where x = z − μ differs from that of the samples by δ in one latent.
func (s *lowRankSampler) pullAt(sums, _ []float64, at *displaced, field [][]float64) {
	mean, scale, u := s.parts(sums)
	r := s.q.family.Rank
	for l, i := range at.latents {
		moved := floats.Dot(field[l], at.delta)
		if mean[i] += floats.Sum(field[l]); i < s.q.points {
			continue // a parameter has no noise
		}
		clear(s.moved)
		s.addPrecisionRow(s.moved, i)
		scale[i] += s.q.s[i] * (floats.Dot(field[l], s.moved) + moved*s.precision(i, at.latent))
		for k := range r {
			u[i*r+k] += floats.Dot(field[l], s.row(s.etaMean, k)) + moved*s.inverse.At(at.latent, k)
		}
	}
}
