package weighted

import (
	"math"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mixture"
)

// A known is what is known of the expectation of a function: under the part of the proposal that each stratum is drawn from, NaN where
// there is no closed form, and under the base of a defensive mixture, likewise. Without parts it is nothing.
type known struct {
	parts []float64
	base  float64
}

// A component is a part of the proposal whose laws are asked for: one that a stratum of enough draws is from, or that has a weight in the base.
type component struct {
	q       family.Q
	stratum int     // −1 if there is none of enough draws
	weight  float64 // in the base
}

// split lists the components of the proposal, in their order, and the draws of strata that have too few.
func (s *Sample) split() {
	for _, t := range s.strata {
		for k := t.first; k < t.end && t.len() < enoughDraws; k++ {
			s.few = append(s.few, k)
		}
	}
	m, mixed := s.q.(*mixture.Mixture)
	if !mixed {
		s.components = []component{{q: s.q}}
		return
	}
	for k, j := 0, 0; k < m.Len(); k++ {
		c := component{m.Part(k), -1, m.BaseWeight(k)}
		if j < len(s.strata) && s.strata[j].part == k {
			if s.strata[j].len() >= enoughDraws {
				c.stratum = j
			}
			j++
		}
		if c.stratum >= 0 || c.weight > 0 {
			s.components = append(s.components, c)
		}
	}
}

// Scattered is the share of the draws that are of parts of the proposal with too few draws for a control variate. With more draws parts have enough,
// and errors fall faster than with the root of the number of draws.
func (s *Sample) Scattered() float64 { return float64(len(s.few)) / float64(s.Len()) }

// laws are those of h under the components, nil where they are not exact.
func (s *Sample) laws(h regions.Hyperplane) []family.Law {
	list := make([]family.Law, len(s.components))
	for k, c := range s.components {
		if family.Exact(c.q, h) {
			list[k] = c.q.Law(h)
		}
	}
	return list
}

// axisLaws are the laws of latent i.
func (s *Sample) axisLaws(i int) []family.Law {
	if s.axes[i] == nil {
		s.axes[i] = s.laws(axis(i))
	}
	return s.axes[i]
}

// known calls f with the laws of h that are exact, always in the same order. h is the axis of a latent if it is of one.
func (s *Sample) known(h regions.Hyperplane, f func(family.Law) float64) known {
	if s.chains > 0 {
		return known{}
	}
	list := known{parts: slices.Repeat([]float64{math.NaN()}, len(s.strata)), base: math.NaN()}
	if s.ratios != nil {
		list.base = 0
	}
	var laws []family.Law
	if len(h.Index) == 1 {
		laws = s.axisLaws(h.Index[0])
	} else {
		laws = s.laws(h)
	}
	for k, c := range s.components {
		x := math.NaN()
		if laws[k] != nil {
			x = f(laws[k])
		}
		if c.stratum >= 0 {
			list.parts[c.stratum] = x
		}
		if c.weight > 0 {
			list.base += c.weight * x
		}
	}
	return list
}

// PartMoments are the mean and the standard deviation of latent i of d under q, on the program's own scale.
func PartMoments(d *graph.Density, q family.Q, i int) (mean, sd float64) {
	return lawMoments(d, family.Marginal(q, i), i)
}

// lawMoments are those of a latent with a law in unconstrained coordinates.
func lawMoments(d *graph.Density, l family.Law, i int) (mean, sd float64) {
	values, cuts := d.Values(i)
	switch {
	case values != nil:
		square, low := 0.0, math.Inf(-1)
		for j, cut := range append(slices.Clone(cuts), math.Inf(1)) {
			p := l.Between(low, cut)
			mean += p * values[j]
			square += p * values[j] * values[j]
			low = cut
		}
		return mean, math.Sqrt(max(0, square-mean*mean))
	case d.Coordinate(i).Transformed():
		return l.Expect(func(u float64) float64 { return d.Coordinate(i).Value(u) })
	}
	return l.Mean(), l.SD()
}

func axis(i int) regions.Hyperplane { return regions.Hyperplane{Index: []int{i}, Coef: []float64{1}} }
