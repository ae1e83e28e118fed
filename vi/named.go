package vi

import (
	"fmt"
	"math"

	"github.com/facetvi/facet/graph"
)

// named is guard number i of the vector that the program named.
func (p *Posterior) named(name string, i int) (graph.Guard, error) {
	guards := p.Density.Named(name)
	switch {
	case len(guards) == 0:
		return graph.Guard{}, fmt.Errorf("vi: no guard %q in the model; it names %q", name, p.Density.GuardNames())
	case i < 0 || i >= len(guards):
		return graph.Guard{}, fmt.Errorf("vi: guard %s[%d]: there are %d of that name", name, i, len(guards))
	}
	return guards[i], nil
}

// ProbNamed is the posterior probability that guard i of the given name holds:
// ProbNamed("on", 12) is P(on at t = 12) if the program names a guard on for
// t = 0, 1, …; i is 0 where a name is used once. It is Prob of
// Density.Named(name)[i], and an error if there is none.
func (p *Posterior) ProbNamed(name string, i int) (float64, error) {
	g, err := p.named(name, i)
	if err != nil {
		return math.NaN(), err
	}
	return p.Prob(g)
}
