package check

import (
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mixture"
)

// sideDraws is the number of draws behind the probability of a side of a curve.
const sideDraws = 100_000

// sideProbs are the probabilities of both sides of all planes under q: by the laws of Φ, and of curves as q knows
// them or by their frequencies among draws.
func sideProbs(arr *regions.Arrangement, q family.Q) (positive, negative []float64) {
	positive, negative = make([]float64, arr.Len()), make([]float64, arr.Len())
	var curves []int
	for l := range positive {
		if arr.Curve(l) == nil {
			law := q.Law(arr.Plane(l))
			positive[l], negative[l] = law.Above(0), law.CDF(0)
		} else if p, ok := positiveSide(q, l); ok {
			positive[l], negative[l] = p, 1-p
		} else {
			curves = append(curves, l)
		}
	}
	const n = 1000 // draws at once
	rng, z, signs := parallel.NewRand(0), make([]float64, q.Dim()*n), make([]float64, n)
	draw := q.Drawer(n)
	for range sideDraws / n {
		if len(curves) == 0 {
			break
		}
		draw.Draw(z, rng)
		for _, l := range curves {
			arr.SignRow(signs, l, z, n)
			positive[l] += floats.Sum(signs) / sideDraws
		}
	}
	for _, l := range curves {
		negative[l] = 1 - positive[l]
	}
	return positive, negative
}

// A sided distribution knows the probability of the positive side of some planes that are not affine.
type sided interface {
	PositiveSide(plane int) (prob float64, ok bool)
}

// positiveSide is that of a curve, if q or all its parts know it.
func positiveSide(q family.Q, plane int) (prob float64, ok bool) {
	m, mixed := q.(*mixture.Mixture)
	if !mixed {
		if s, ok := q.(sided); ok {
			return s.PositiveSide(plane)
		}
		return 0, false
	}
	for k := range m.Len() {
		p, ok := positiveSide(m.Part(k), plane)
		if !ok {
			return 0, false
		}
		prob += m.Weight(k) * p
	}
	return prob, true
}
