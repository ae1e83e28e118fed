package vi

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
)

// Prob is the posterior probability that g holds, which is any guard that was
// made with the model, used in an If or not. A comparison is exact, and so are
// And and Or of comparisons that are each of one latent with a number. Others
// are estimated from 100 000 draws, with standard error below 0.0016.
func (p *Posterior) Prob(g graph.Guard) (float64, error) {
	if !g.Of(p.Density) {
		return math.NaN(), fmt.Errorf("vi: the guard belongs to another model")
	}
	return p.probs([]graph.Guard{g})[0], nil
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

// probs is Prob of many guards, And and Or from the same draws.
func (p *Posterior) probs(guards []graph.Guard) []float64 {
	out := make([]float64, len(guards))
	var compound []int
	for i, g := range guards {
		if side, ok := g.Side(); ok {
			out[i] = p.sideProb(side)
		} else if prob, ok := p.probExact(g); ok {
			out[i] = prob
		} else {
			compound = append(compound, i)
		}
	}
	if len(compound) == 0 {
		return out
	}
	const n = 100000
	rng := newRand(0)
	for range n {
		signs := p.Density.Arrangement().Signs(p.unconstrained(rng))
		for _, i := range compound {
			if guards[i].Holds(signs) {
				out[i]++
			}
		}
	}
	for _, i := range compound {
		out[i] /= n
	}
	return out
}

// sideProb is the probability of one side of a hyperplane: Φ(z) is normal.
func (p *Posterior) sideProb(side regions.Side) float64 {
	h := p.Density.Arrangement().Plane(side.Plane)
	mean, sd := p.normal(h)
	x := mean / sd
	if !side.Positive {
		x = -x
	}
	return distuv.UnitNormal.CDF(x)
}
