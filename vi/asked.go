package vi

import (
	"math"

	"github.com/facetvi/facet/graph"
)

// asked are the quantities of a program: latents, named guards, which are 1 where they hold, and deterministic expressions. The log
// likelihood of the data beside them sees a fit that has not looked at its data: to such a fit all others are as the prior says.
type asked struct {
	d      *graph.Density
	names  []string
	guards []graph.Guard
	likely bool
}

func (a *asked) likelihood() { a.names, a.likely = append(a.names, "log likelihood"), true }

func askedOf(d *graph.Density) asked {
	a := asked{d: d, names: d.Latents()[d.Params():]}
	var others []string
	for _, name := range d.GuardNames() {
		for _, g := range d.Named(name) {
			a.guards, others = append(a.guards, g), append(others, name)
		}
	}
	a.names = append(a.names, withNumbers(others)...)
	a.names = append(a.names, withNumbers(d.Deterministics())...)
	return a
}

// at are the quantities at z, on the program's own scale.
func (a asked) at(z []float64) []float64 {
	x := a.d.Constrain(z)[a.d.Params():]
	if len(a.guards) > 0 {
		signs := a.d.Arrangement().Signs(z)
		for _, g := range a.guards {
			v := 0.0
			if g.Holds(signs) {
				v = 1
			}
			x = append(x, v)
		}
	}
	x = append(x, a.d.DeterministicAt(nil, z)...)
	if a.likely {
		sum := 0.0
		for _, l := range a.d.LogLikelihoods(nil, z) {
			if !math.IsNaN(l) {
				sum += l
			}
		}
		x = append(x, sum)
	}
	return x
}
