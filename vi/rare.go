package vi

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
)

// Rare is what a plain estimate of the ELBO misses because its draws do not
// see the rare sides of guards.
type Rare struct {
	// Plain is what ELBO says from the same draws. Corrected is the ELBO with
	// rare sides estimated from draws of their own. Both in nats.
	Plain, Corrected Estimate
	// Missed is the part of the ELBO that the rare sides bring: the sum of those
	// of Sides.
	Missed  Estimate
	Samples int // plain draws
	PerSide int // draws on each rare side
	// Sides are the rare sides, those that bring most first.
	Sides []RareSide
}

// A RareSide is a side of a guard that the fit hardly ever is on.
type RareSide struct {
	Side      regions.Side
	Condition string            // the side as the program compares: "theta3 < 18"
	Guards    []graph.GuardInfo // the comparisons on the hyperplane, with their names and places
	Prob      float64           // the exact probability under the fit
	Seen      int               // plain draws that were on the side
	// Gap is E[log r | side] − E[log r | no rare side], in nats.
	Gap Estimate
	// Missed is what the side brings to the ELBO, Prob times Gap. What several
	// rare sides have in common is divided among them.
	Missed Estimate
}

const (
	rareCount = 10    // a side is rare if it is expected in fewer draws
	noProb    = 1e-30 // and taken as impossible below this
)

// RareSides estimates what the given number of draws of q miss of the ELBO. A
// rare event with an enormous cost, such as probability 1e-5 of 5e5 nats, is in
// no draw, so that the estimate is too high and its standard error does not
// show it. But each side of a guard has a known probability under q: a side
// that is expected in fewer than 10 of the draws gets draws of its own, with ε
// along the guard's normal from the tail of the normal distribution and the
// rest of ε free. There are samples/(number of rare sides) for each, and 32 at
// least.
//
// Sides of probability below 1e-30 are taken to bring nothing. What only a
// combination of common sides brings is not looked for: if two guards have a
// probability of 0.01 each, 1000 draws miss their coincidence.
func RareSides(d *graph.Density, q MeanField, samples int, seed uint64) (Rare, error) {
	return rareSidesOf(d, q, samples, math.MaxInt, seed)
}

// rareSidesOf is RareSides for the most probable rare sides, at most the given
// number of them.
func rareSidesOf(d *graph.Density, q MeanField, samples, sides int, seed uint64) (Rare, error) {
	if err := q.check(d); err != nil {
		return Rare{}, err
	}
	if samples < 2 {
		return Rare{}, fmt.Errorf("vi: %d samples; a standard error needs 2", samples)
	}
	t := tails{d: d, q: q, s: q.Scale(nil), sides: likeliest(rareSides(d, q, samples), sides)}
	r := Rare{Samples: samples}
	plain, on, err := t.plain(samples, seed)
	if err != nil {
		return Rare{}, err
	}
	r.Plain = estimate(plain)
	common := commonMean(plain, on)
	for k := range plain {
		plain[k] -= common.Mean
		if on[k] > 0 {
			plain[k] = 0
		}
	}
	rest := estimate(plain)
	r.Corrected = Estimate{common.Mean + rest.Mean, rest.SE}
	if len(t.sides) > 0 {
		r.PerSide = max(32, samples/len(t.sides))
		if err := t.conditional(r.PerSide, seed+0x9e3779b97f4a7c15, common); err != nil {
			return Rare{}, err
		}
	}
	for _, s := range t.sides {
		r.Missed = sum(r.Missed, s.Missed)
	}
	r.Corrected = sum(r.Corrected, r.Missed)
	r.Plain.Mean += q.Entropy()
	r.Corrected.Mean += q.Entropy()
	r.Sides = t.sides
	slices.SortStableFunc(r.Sides, func(a, b RareSide) int {
		return cmp.Compare(math.Abs(b.Missed.Mean), math.Abs(a.Missed.Mean))
	})
	return r, nil
}

// RareSides estimates what ELBO misses; see the function RareSides.
func (p *Posterior) RareSides(samples int, seed uint64) (Rare, error) {
	return RareSides(p.Density, p.Q, samples, seed)
}

// sum adds independent estimates.
func sum(a, b Estimate) Estimate { return Estimate{a.Mean + b.Mean, math.Hypot(a.SE, b.SE)} }

// rareSides are the sides that few of the samples, or none, will be on.
func rareSides(d *graph.Density, q MeanField, samples int) []RareSide {
	p := Posterior{Density: d, Q: q}
	guards := planeGuards(d)
	var sides []RareSide
	for l := range d.Arrangement().Len() {
		side := regions.Side{Plane: l, Positive: true}
		prob := p.sideProb(side)
		if prob > 0.5 {
			side.Positive = false
			prob = p.sideProb(side)
		}
		if prob*float64(samples) < rareCount && prob >= noProb {
			sides = append(sides, RareSide{Side: side, Condition: guards[l][0].Condition(side.Positive), Guards: guards[l], Prob: prob})
		}
	}
	return sides
}

// commonMean is the mean of log r over the draws that are on no rare side, or
// over all if there is none.
func commonMean(logs []float64, on []int) Estimate {
	var common []float64
	for k, v := range logs {
		if on[k] == 0 {
			common = append(common, v)
		}
	}
	if len(common) < 2 {
		common = logs
	}
	return estimate(common)
}

// Misleading reports whether Plain is further from Corrected than twice its
// standard error, so that it should not be used.
func (r Rare) Misleading() bool {
	return !(math.Abs(r.Corrected.Mean-r.Plain.Mean) <= 2*r.Plain.SE)
}
