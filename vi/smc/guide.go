package smc

import (
	"math"

	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/mc"
)

const guideDraws = 256 // that standard deviations are of

// A guide says how far points are from where requirements hold, by the standard deviations of functions Φ of their planes among draws.
type guide struct {
	arr *regions.Arrangement
	sd  []float64 // by plane that a requirement depends on
}

func newGuide(arr *regions.Arrangement, required *derive.Requirements, draws [][]float64) *guide {
	g := &guide{arr, make([]float64, arr.Len())}
	for l := range g.sd {
		if len(required.On(l)) == 0 {
			continue
		}
		var of mc.Moments
		for k := range min(guideDraws, len(draws)) {
			if phi := arr.At(l, draws[k*len(draws)/min(guideDraws, len(draws))]); !math.IsInf(phi, 0) && !math.IsNaN(phi) {
				of.Add(phi)
			}
		}
		if g.sd[l] = math.Sqrt(of.Variance()); !(g.sd[l] > 0) {
			g.sd[l] = 1
		}
	}
	return g
}

// away is the distance of a point from plane l; 0 where Φ has no value.
func (g *guide) away(l int, z []float64) float64 {
	if d := math.Abs(g.arr.At(l, z)) / g.sd[l]; !math.IsInf(d, 0) && !math.IsNaN(d) {
		return d
	}
	return 0
}
