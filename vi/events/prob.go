package events

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

// Prob is the posterior probability that g holds, which is any guard of the
// model's latents, used in an If or not, made before the density was compiled or
// after. A comparison is as exact as q's laws are, and so are And and Or of comparisons
// that are each of one latent with a number. Others are estimated from 100 000 draws, with
// standard error below 0.0016.
func (e Events) Prob(g graph.Guard) (float64, error) {
	probs, err := e.Probs([]graph.Guard{g})
	if err != nil {
		return math.NaN(), err
	}
	return probs[0], nil
}

// ProbNamed is the posterior probability that guard i of the given name holds:
// ProbNamed("on", 12) is P(on at t = 12) if the program names a guard on for
// t = 0, 1, …; i is 0 where a name is used once. It is Prob of
// Density.Named(name)[i], and an error if there is none.
func (e Events) ProbNamed(name string, i int) (float64, error) {
	if e.d == nil {
		return math.NaN(), errors.New("events: a nil density")
	}
	g, err := e.named(name, i)
	if err != nil {
		return math.NaN(), err
	}
	return e.Prob(g)
}

// named is guard number i of the vector that the program named.
func (e Events) named(name string, i int) (graph.Guard, error) {
	guards := e.d.Named(name)
	switch {
	case len(guards) == 0:
		return graph.Guard{}, fmt.Errorf("events: no guard %q in the model; it names %q", name, e.d.GuardNames())
	case i < 0 || i >= len(guards):
		return graph.Guard{}, fmt.Errorf("events: guard %s[%d]: there are %d of that name", name, i, len(guards))
	}
	return guards[i], nil
}

// Probs is Prob of many guards, And and Or from the same draws.
func (e Events) Probs(guards []graph.Guard) ([]float64, error) {
	e, err := e.with(guards...)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(guards))
	var compound []graph.Guard
	var at []int // in out
	for i, g := range guards {
		if side, ok := g.Side(); ok && e.arr.Curve(side.Plane) == nil {
			out[i] = e.Side(side)
		} else if prob, ok := e.probExact(g); ok {
			out[i] = prob
		} else {
			compound, at = append(compound, g), append(at, i)
		}
	}
	if len(compound) == 0 {
		return out, nil
	}
	const n = 100000
	holds := make([]bool, len(compound))
	e.eachRegion(n, 0, func(s regions.Signs) {
		for k, h := range graph.Holding(holds, compound, s) {
			if h {
				out[at[k]]++
			}
		}
	})
	for _, i := range at {
		out[i] /= n
	}
	return out, nil
}

// sideDraws is the number of draws behind the probability of a side of a curve.
const sideDraws = 100_000

// Side is the probability of one side of a hyperplane, by the law of Φ(z). That of a
// curve is estimated from 100 000 draws.
func (e Events) Side(side regions.Side) float64 {
	if e.arr.Curve(side.Plane) != nil {
		prob := e.curveProbs(side.Plane)[0]
		if !side.Positive {
			prob = 1 - prob
		}
		return prob
	}
	law := e.q.Law(e.arr.Plane(side.Plane))
	if side.Positive {
		return law.Above(0)
	}
	return law.CDF(0)
}

// AllSides are the probabilities of both sides of all planes, each as Side has it:
// those of curves are from the same draws.
func (e Events) AllSides() (positive, negative []float64) {
	positive, negative = make([]float64, e.arr.Len()), make([]float64, e.arr.Len())
	var curves []int
	for l := range positive {
		if e.arr.Curve(l) != nil {
			curves = append(curves, l)
			continue
		}
		law := e.q.Law(e.arr.Plane(l))
		positive[l], negative[l] = law.Above(0), law.CDF(0)
	}
	for k, p := range e.curveProbs(curves...) {
		positive[curves[k]], negative[curves[k]] = p, 1-p
	}
	return positive, negative
}

// A Sided is a distribution that knows the probability of the positive side of some
// planes that are not affine.
type Sided interface {
	PositiveSide(plane int) (prob float64, ok bool)
}

// positiveSide is that of a curve, if q or all its parts know it.
func positiveSide(q family.Q, plane int) (prob float64, ok bool) {
	m, mixed := q.(family.Mixed)
	if !mixed {
		if s, sided := q.(Sided); sided {
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

// curveProbs are the probabilities of the positive sides of curves: as q knows them, or
// their frequencies among draws.
func (e Events) curveProbs(curves ...int) []float64 {
	out := make([]float64, len(curves))
	var left, at []int
	for k, l := range curves {
		p, ok := positiveSide(e.q, l)
		if out[k] = p; !ok {
			left, at = append(left, l), append(at, k)
		}
	}
	if len(left) == 0 {
		return out
	}
	for k, p := range e.frequencies(left) {
		out[at[k]] = p
	}
	return out
}

// frequencies are those of the positive sides of curves among draws.
func (e Events) frequencies(curves []int) []float64 {
	out := make([]float64, len(curves))
	const n = 1000 // draws at once
	rng, z, signs := mc.NewRand(0), make([]float64, e.q.Dim()*n), make([]float64, n)
	draw := e.q.Drawer(n)
	for range sideDraws / n {
		draw.Draw(z, rng)
		for k, l := range curves {
			e.arr.SignRow(signs, l, z, n)
			out[k] += floats.Sum(signs)
		}
	}
	floats.Scale(1./sideDraws, out)
	return out
}
