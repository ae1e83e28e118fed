package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/text"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

// likeliest are the n most probable sides.
func likeliest(sides []RareSide, n int) []RareSide {
	if len(sides) <= n {
		return sides
	}
	slices.SortStableFunc(sides, func(a, b RareSide) int { return cmp.Compare(b.Prob, a.Prob) })
	return sides[:n]
}

// Unseen is what a plain estimate of the ELBO misses because its draws do not
// see the rare sides of guards.
type Unseen struct {
	// Plain is what ELBO says from the same draws. Corrected is the ELBO with
	// rare sides estimated from draws of their own. Both in nats.
	Plain, Corrected mc.Estimate
	// Missed is the part of the ELBO that the rare sides bring: the sum of those
	// of Sides.
	Missed  mc.Estimate
	Samples int // plain draws
	PerSide int // draws on each rare side
	// Sides are the rare sides, those that bring most first.
	Sides []RareSide
	// Skipped is how many rare sides are not among them, and not in Missed, since the
	// family cannot be drawn there.
	Skipped int
}

const (
	rareCount = 10    // a side is rare if it is expected in fewer draws
	noProb    = 1e-30 // and taken to bring nothing below this,
	// unless it brings more than so many nats: a hard constraint may cost 1e200.
	steepNats  = 1e-6
	steepDraws = 2      // that tell
	steepProb  = 1e-300 // at least
)

// RareSides estimates what the given number of draws of q miss of the ELBO. A
// rare event with an enormous cost, such as probability 1e-5 of 5e5 nats, is in
// no draw, so that the estimate is too high and its standard error does not
// show it. But each side of a guard has a known probability under q: a side
// that is expected in fewer than 10 of the draws gets draws of its own, by the
// family's MoverTo: for normals with ε along the guard's normal from the tail of the
// normal distribution and the rest of ε free. There are samples/(number of rare
// sides) for each, and 32 at least.
//
// Sides of probability below 1e-30 are taken to bring nothing unless two draws there say
// otherwise, as behind a hard constraint that costs 1e200 nats. What only a
// combination of common sides brings is not looked for: if two guards have a
// probability of 0.01 each, 1000 draws miss their coincidence. Where a draw on
// no rare side has log r = −Inf, so has Corrected, and rare sides are not
// estimated.
func RareSides(d *graph.Density, q family.Q, samples int, seed uint64) (Unseen, error) {
	return LikeliestRareSides(d, q, samples, math.MaxInt, seed)
}

// LikeliestRareSides is RareSides for the most probable rare sides, at most the
// given number of them.
func LikeliestRareSides(d *graph.Density, q family.Q, samples, sides int, seed uint64) (Unseen, error) {
	m, err := newMeter(d, q, samples, seed, allProcessors)
	if err != nil {
		return Unseen{}, err
	}
	r := Unseen{Samples: samples}
	rare := rareSides(d, q, samples, steepProb)
	improbable := slices.Clone(rare)
	isRare := func(s RareSide) bool { return s.Prob >= noProb || d.Arrangement().Curve(s.Side.Plane) != nil }
	rare = slices.DeleteFunc(rare, func(s RareSide) bool { return !isRare(s) })
	steep, err := steepSides(d, q, likeliest(slices.DeleteFunc(improbable, isRare), sides), seed)
	if err != nil {
		return Unseen{}, err
	}
	var t tails
	t, r.Skipped = newTails(d, q, append(likeliest(rare, sides), steep...))
	plain, on, err := t.plain(m)
	if err != nil {
		return Unseen{}, err
	}
	r.Plain = mc.Mean(plain)
	common := commonMean(plain, on)
	r.Sides = t.sides
	if math.IsInf(common.Value, -1) { // the density is 0 on common sides: no gap can be told
		r.Corrected = common
		return r, nil
	}
	for k := range plain {
		plain[k] -= common.Value
		if on[k] > 0 {
			plain[k] = 0
		}
	}
	rest := mc.Mean(plain)
	r.Corrected = mc.Estimate{Value: common.Value + rest.Value, SE: rest.SE}
	if len(t.sides) > 0 {
		r.PerSide = max(32, samples/len(t.sides))
		if err := t.conditional(r.PerSide, seed+0x9e3779b97f4a7c15, common); err != nil {
			return Unseen{}, err
		}
	}
	for _, s := range t.sides {
		r.Missed = r.Missed.Plus(s.Missed)
	}
	r.Corrected = r.Corrected.Plus(r.Missed)
	slices.SortStableFunc(r.Sides, func(a, b RareSide) int {
		return cmp.Compare(math.Abs(b.Missed.Value), math.Abs(a.Missed.Value))
	})
	return r, nil
}

// rareSides are the sides of at least the given probability that few of the samples, or none,
// will be on.
func rareSides(d *graph.Density, q family.Q, samples int, least float64) []RareSide {
	positive, negative := sideProbs(d.Arrangement(), q)
	guards := d.GuardsByPlane()
	var sides []RareSide
	for l := range d.Arrangement().Len() {
		side := regions.Side{Plane: l, Positive: true}
		prob := positive[l]
		if prob > 0.5 {
			side.Positive = false
			prob = negative[l]
		}
		curved := d.Arrangement().Curve(l) != nil // of which few draws know little
		if prob*float64(samples) < rareCount && (prob >= least || curved) {
			sides = append(sides, RareSide{Side: side, Condition: guards[l][0].Condition(side.Positive), Guards: guards[l], Prob: prob})
		}
	}
	return sides
}

// steepSides are those of some sides that bring something though their probability is below noProb.
func steepSides(d *graph.Density, q family.Q, improbable []RareSide, seed uint64) (steep []RareSide, err error) {
	t, _ := newTails(d, q, improbable)
	if len(t.sides) == 0 {
		return nil, nil
	}
	logs, _, weight, err := t.draw(steepDraws, seed+0x7f4a7c159e3779b9)
	if err != nil {
		return nil, err
	}
	for i, s := range t.sides {
		for k := i * steepDraws; k < (i+1)*steepDraws; k++ {
			if by := math.Abs(logs[k] * weight[k]); by > steepNats && !math.IsInf(by, 1) {
				steep = append(steep, s)
				break
			}
		}
	}
	return steep, nil
}

// commonMean is the mean of log r − log q over the draws that are on no rare side, or
// over all if there is none.
func commonMean(logs []float64, on []int) mc.Estimate {
	var common []float64
	for k, v := range logs {
		if on[k] == 0 {
			common = append(common, v)
		}
	}
	if len(common) < 2 {
		common = logs
	}
	return mc.Mean(common)
}

// Misleading reports whether Plain is further from Corrected than twice its
// standard error, so that it should not be used.
func (r Unseen) Misleading() bool {
	const rounding = 1e-9 // nats; an exact fit has no other error
	return r.Corrected.Value != r.Plain.Value && !(math.Abs(r.Corrected.Value-r.Plain.Value) <= 2*r.Plain.SE+rounding)
}

// rareShown is the number of sides that String lists.
const rareShown = 10

// String is the two estimates and a table of the sides that bring most.
func (r Unseen) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-25s  %v\n", fmt.Sprintf("ELBO of %d draws", r.Samples), r.Plain)
	fmt.Fprintf(&b, "%-25s  %v\n", "with rare sides of guards", r.Corrected)
	if r.Misleading() {
		fmt.Fprintf(&b, "The draws miss rare sides that bring %v nats: do not use the first number.\n", r.Missed)
	}
	if r.Skipped > 0 {
		fmt.Fprintf(&b, "Of %d rare sides of guards nothing is known: the family cannot be drawn there.\n", r.Skipped)
	}
	if len(r.Sides) == 0 {
		if r.Skipped == 0 {
			b.WriteString("No side of a guard is rare.\n")
		}
		return b.String()
	}
	rows := [][]string{{"rare side", "where", "probability", "draws", "gap in nats", "brings"}}
	for _, s := range r.Sides[:min(rareShown, len(r.Sides))] {
		rows = append(rows, []string{
			s.Condition, graph.Places(s.Guards), fmt.Sprintf("%.2g", s.Prob), fmt.Sprint(s.Seen), s.Gap.Short(), s.Missed.Short(),
		})
	}
	b.WriteString("\n")
	b.WriteString(text.Table(rows, 2))
	if rest := r.Sides[min(rareShown, len(r.Sides)):]; len(rest) > 0 {
		e := mc.Estimate{}
		for _, s := range rest {
			e = e.Plus(s.Missed)
		}
		fmt.Fprintf(&b, "%d more rare sides bring %s\n", len(rest), e.Short())
	}
	return b.String()
}
