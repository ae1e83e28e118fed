package events

import (
	"errors"
	"fmt"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/weighted"
)

// Events are those of a program's guards under its posterior.
type Events struct {
	s     *weighted.Sample
	arr   *regions.Arrangement // the surfaces of the density, and perhaps more
	signs map[int][]float64    // of Φ at the draws, by surface: 1 where it is positive
	once  []float64            // likewise, of a surface that is asked for once
}

// Of returns the events of the sample's density. They are for one goroutine.
func Of(s *weighted.Sample) Events {
	return Events{s, s.Density().Arrangement(), map[int][]float64{}, make([]float64, s.Len())}
}

// with are the events with the surfaces of guards, which may have been made after the density was compiled.
func (e Events) with(guards ...graph.Guard) (Events, error) {
	arr, err := e.s.Density().ArrangementWith(guards...)
	if err != nil {
		return e, fmt.Errorf("events: %w", err)
	}
	if arr != e.arr {
		e.arr, e.signs = arr, map[int][]float64{}
	}
	return e, nil
}

// row is the sign of surface l at each draw.
func (e Events) row(l int) []float64 {
	if e.signs[l] == nil {
		e.signs[l] = make([]float64, e.s.Len())
		e.arr.SignRow(e.signs[l], l, e.s.Z, e.s.Len())
	}
	return e.signs[l]
}

// Side is the posterior probability of one side of a surface.
func (e Events) Side(side regions.Side) mc.Estimate {
	row := e.signs[side.Plane]
	if row == nil {
		row = e.once
		e.arr.SignRow(row, side.Plane, e.s.Z, e.s.Len())
	}
	if e.arr.Curve(side.Plane) != nil {
		return e.s.Share(row, side.Positive)
	}
	return e.s.Side(e.arr.Plane(side.Plane), side.Positive, row)
}

// Prob is the posterior probability that g holds, which is any guard of the model's latents, used in an If or not, made
// before the density was compiled or after.
func (e Events) Prob(g graph.Guard) (mc.Estimate, error) {
	probs, err := e.Probs([]graph.Guard{g})
	if err != nil {
		return mc.Estimate{}, err
	}
	return probs[0], nil
}

// Probs is Prob of many guards.
func (e Events) Probs(guards []graph.Guard) ([]mc.Estimate, error) {
	e, err := e.with(guards...)
	if err != nil {
		return nil, err
	}
	out := make([]mc.Estimate, len(guards))
	var rest []graph.Guard
	var at []int // in out
	for i, g := range guards {
		if side, ok := g.Side(); ok {
			out[i] = e.Side(side)
		} else {
			rest, at = append(rest, g), append(at, i)
		}
	}
	for k, in := range e.holding(rest) {
		out[at[k]] = e.s.Share(in, true)
	}
	return out, nil
}

// holding is for each guard 1 at the draws where it holds, and else 0.
func (e Events) holding(guards []graph.Guard) [][]float64 {
	in := make([][]float64, len(guards))
	for i := range in {
		in[i] = make([]float64, e.s.Len())
	}
	if len(guards) == 0 {
		return in
	}
	holds := make([]bool, len(guards))
	first := map[regions.Signs]int{} // the draw in that region by which it is known which guards hold
	e.eachDraw(planesOf(guards...), func(k int, s regions.Signs) {
		if j, known := first[s]; known {
			for _, row := range in {
				row[k] = row[j]
			}
			return
		}
		first[s] = k
		for i, h := range graph.Holding(holds, guards, s) {
			if h {
				in[i][k] = 1
			}
		}
	})
	return in
}

// eachDraw calls visit with the signs of some surfaces at each draw that has a weight; the signs of others mean nothing.
func (e Events) eachDraw(planes []int, visit func(k int, s regions.Signs)) {
	positive := make([]bool, e.arr.Len())
	for k, w := range e.s.Weights {
		if w == 0 {
			continue
		}
		for _, l := range planes {
			positive[l] = e.row(l)[k] > 0
		}
		visit(k, regions.NewSigns(positive))
	}
}

// planesOf are the surfaces that the guards depend on.
func planesOf(guards ...graph.Guard) (planes []int) {
	for _, g := range guards {
		planes = append(planes, g.Planes()...)
	}
	slices.Sort(planes)
	return slices.Compact(planes)
}

// ProbNamed is the posterior probability that guard i of the given name holds: ProbNamed("on", 12) is P(on at t = 12) if the
// program names a guard on for t = 0, 1, …; i is 0 where a name is used once. It is Prob of Density.Named(name)[i], and an
// error if there is none.
func (e Events) ProbNamed(name string, i int) (mc.Estimate, error) {
	guards := e.s.Density().Named(name)
	switch {
	case len(guards) == 0:
		return mc.Estimate{}, fmt.Errorf("events: no guard %q in the model; it names %q", name, e.s.Density().GuardNames())
	case i < 0 || i >= len(guards):
		return mc.Estimate{}, fmt.Errorf("events: guard %s[%d]: there are %d of that name", name, i, len(guards))
	}
	return e.Prob(guards[i])
}

var errNever = errors.New("events: the condition holds at none of the draws: it is too rare, or impossible")

// ProbGiven is the posterior probability that g holds where given holds,
//
//	P(g | given) = P(g and given) / P(given).
//
// Both are any guards of the model's latents, made before it was compiled or after. A given that holds at no draw is an
// error.
func (e Events) ProbGiven(g, given graph.Guard) (mc.Estimate, error) {
	e, err := e.with(g, given)
	if err != nil {
		return mc.Estimate{}, err
	}
	in := e.holding([]graph.Guard{g, given})
	both, all := 0.0, 0.0
	for k, w := range e.s.Weights {
		both += w * in[0][k] * in[1][k]
		all += w * in[1][k]
	}
	if all == 0 {
		return mc.Estimate{}, errNever
	}
	off := in[0] // (1{g} − P)·1{given}/P(given), whose expectation is 0
	for k := range off {
		off[k] = (in[0][k] - both/all) * in[1][k] / all
	}
	return mc.Estimate{Value: both / all, SE: e.s.Expect(off).SE}, nil
}

// A SideProb is the posterior probability of the positive side of one surface of the model.
type SideProb struct {
	Plane     int               // number in the density's Arrangement
	Condition string            // the positive side as the program compares: "change > 0.5"
	Guards    []graph.GuardInfo // the comparisons on the surface, with their names and places
	Prob      mc.Estimate
}

// Sides lists the surfaces of the model, in the order of its Arrangement, with the probability of their positive sides. All
// comparisons with one zero set are on one surface.
func (e Events) Sides() []SideProb {
	out := make([]SideProb, e.arr.Len())
	for l, guards := range e.s.Density().GuardsByPlane() {
		out[l] = SideProb{l, guards[0].Condition(true), guards, e.Side(regions.Side{Plane: l, Positive: true})}
	}
	return out
}
