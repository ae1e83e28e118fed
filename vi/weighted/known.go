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

// forms are the laws under the proposal that have closed forms.
type forms struct {
	components []component
	strata     int            // how many
	axes       [][]family.Law // of the components, by latent; nil until they are asked for
}

// newForms lists the components of a proposal for latents, in their order.
func newForms(q family.Q, s strata, latents int) *forms {
	f := &forms{strata: len(s.list), axes: make([][]family.Law, latents)}
	m, mixed := q.(*mixture.Mixture)
	if !mixed {
		f.components = []component{{q: q}}
		return f
	}
	for k, j := 0, 0; k < m.Len(); k++ {
		c := component{m.Part(k), -1, m.BaseWeight(k)}
		if j < len(s.list) && s.list[j].part == k {
			if s.list[j].len() >= enoughDraws {
				c.stratum = j
			}
			j++
		}
		if c.stratum >= 0 || c.weight > 0 {
			f.components = append(f.components, c)
		}
	}
	return f
}

// laws are those of h under the components, nil where they are not exact.
func (f *forms) laws(h regions.Hyperplane) []family.Law {
	if len(h.Index) == 1 && f.axes[h.Index[0]] != nil {
		return f.axes[h.Index[0]]
	}
	list := make([]family.Law, len(f.components))
	for k, c := range f.components {
		if family.Exact(c.q, h) {
			list[k] = c.q.Law(h)
		}
	}
	if len(h.Index) == 1 {
		f.axes[h.Index[0]] = list
	}
	return list
}

// expect calls expectation with the laws of h that are exact, always in the same order. h is the axis of a latent if it is of one.
func (f *forms) expect(h regions.Hyperplane, expectation func(family.Law) float64) known {
	if f == nil {
		return known{}
	}
	list := known{parts: slices.Repeat([]float64{math.NaN()}, f.strata), base: math.NaN()}
	if slices.ContainsFunc(f.components, func(c component) bool { return c.weight > 0 }) {
		list.base = 0
	}
	laws := f.laws(h)
	for k, c := range f.components {
		x := math.NaN()
		if laws[k] != nil {
			x = expectation(laws[k])
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
