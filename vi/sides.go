package vi

import (
	"slices"

	"github.com/facetvi/facet/regions"
)

// A SideProb is the posterior probability of the positive side of one
// hyperplane of the model. It is exact.
type SideProb struct {
	Plane   int      // number in the density's Arrangement
	Formula string   // the positive side, in the program's terms: "change > 0.5"
	Names   []string // of the comparisons on this hyperplane that have one, on either side
	Places  []string // file and line of each comparison on this hyperplane, each once
	Prob    float64
}

// Sides lists the hyperplanes of the model, in the order of its Arrangement,
// with the probability of their positive sides. All comparisons with one zero
// set are on one hyperplane.
func (p *Posterior) Sides() []SideProb {
	out := make([]SideProb, p.Density.Arrangement().Len())
	for l := range out {
		side := regions.Side{Plane: l, Positive: true}
		out[l] = SideProb{Plane: l, Formula: formula(p.Density, side), Prob: p.sideProb(side)}
	}
	for _, g := range p.Density.Guards() {
		s := &out[g.Side.Plane]
		if name := g.Name(); name != "" && !slices.Contains(s.Names, name) {
			s.Names = append(s.Names, name)
		}
		if at := g.Place(); !slices.Contains(s.Places, at) {
			s.Places = append(s.Places, at)
		}
	}
	return out
}
