package events

import (
	"github.com/facetvi/facet/graph"
)

// A SideProb is the posterior probability of the positive side of one
// hyperplane of the model, by the law of Φ under q, or of a curve, from 100 000 draws.
type SideProb struct {
	Plane     int               // number in the density's Arrangement
	Condition string            // the positive side as the program compares: "change > 0.5"
	Guards    []graph.GuardInfo // the comparisons on the hyperplane, with their names and places
	Prob      float64
}

// Sides lists the hyperplanes of the model, in the order of its Arrangement,
// with the probability of their positive sides. All comparisons with one zero
// set are on one hyperplane.
func (e Events) Sides() []SideProb {
	e.must()
	out := make([]SideProb, e.arr.Len())
	probs, _ := e.AllSides()
	for l, guards := range e.d.GuardsByPlane() {
		out[l] = SideProb{l, guards[0].Condition(true), guards, probs[l]}
	}
	return out
}
