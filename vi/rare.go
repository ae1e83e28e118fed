package vi

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"

	"gonum.org/v1/gonum/stat/distuv"

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
	Side   regions.Side
	Event  string            // the side as the program compares: "theta3 < 18"
	Guards []graph.GuardInfo // the comparisons, with their names and places
	Prob   float64           // the exact probability under the fit
	Seen   int               // plain draws that were on the side
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
	if err := q.check(d); err != nil {
		return Rare{}, err
	}
	if samples < 2 {
		return Rare{}, fmt.Errorf("vi: %d samples; a standard error needs 2", samples)
	}
	t := tails{d: d, q: q, s: q.Scale(nil), sides: rareSides(d, q, samples)}
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
			sides = append(sides, RareSide{Side: side, Event: sideText(guards[l], side), Guards: guards[l], Prob: prob})
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

// tails draws from q on rare sides.
type tails struct {
	d     *graph.Density
	q     MeanField
	s     []float64
	sides []RareSide
}

// plain is log r at the draws of ELBO, and on how many rare sides each is.
func (t *tails) plain(samples int, seed uint64) (logs []float64, on []int, err error) {
	on = make([]int, samples)
	seen := make([]atomic.Int64, len(t.sides))
	logs, err = evaluate(t.d, samples, seed, func(first int, x *graph.Executor, rng *rand.Rand) {
		draw(t.d, x, make([]float64, t.d.Dim()*x.N), t.q.Mu, t.s, rng)
		t.count(on[first:], x)
		for i, s := range t.sides {
			for _, v := range x.Signs[s.Side.Plane*x.N:][:x.N] {
				if v == 1 == s.Side.Positive {
					seen[i].Add(1)
				}
			}
		}
	})
	if err == nil {
		err = checkLogs(t.d, t.q, logs)
	}
	for i := range t.sides {
		t.sides[i].Seen = int(seen[i].Load())
	}
	return logs, on, err
}

// count writes on how many rare sides each sample of the executor is.
func (t *tails) count(on []int, x *graph.Executor) {
	for _, s := range t.sides {
		for k, v := range x.Signs[s.Side.Plane*x.N:][:x.N] {
			if v == 1 == s.Side.Positive {
				on[k]++
			}
		}
	}
}

// conditional fills the Gap and Missed of all sides from draws on them.
func (t *tails) conditional(each int, seed uint64, common Estimate) error {
	on := make([]int, each*len(t.sides))
	logs, err := evaluate(t.d, len(on), seed, func(first int, x *graph.Executor, rng *rand.Rand) {
		eps := make([]float64, t.d.Dim()*x.N)
		draw(t.d, x, eps, t.q.Mu, t.s, rng)
		for k := range x.N {
			t.push(t.sides[(first+k)/each], x, eps, k, rng)
		}
		t.d.Arrangement().SignBatch(x.Signs, x.Z, x.N)
		for k := range x.N { // a point next to the guard may be rounded to its other side
			s := t.sides[(first+k)/each].Side
			x.Signs[s.Plane*x.N+k] = 0
			if s.Positive {
				x.Signs[s.Plane*x.N+k] = 1
			}
		}
		t.count(on[first:], x)
	})
	if err != nil {
		return err
	}
	if k := badLog(logs); k >= 0 {
		s := t.sides[k/each]
		return fmt.Errorf("vi: log r is %v on the rare side %s (%s)", logs[k], s.Event, where(s.Guards))
	}
	for i := range t.sides {
		s, logs, on := &t.sides[i], logs[i*each:(i+1)*each], on[i*each:(i+1)*each]
		for k := range logs {
			logs[k] -= common.Mean
		}
		s.Gap = sum(estimate(logs), Estimate{0, common.SE})
		for k := range logs {
			logs[k] *= s.Prob / float64(on[k])
		}
		s.Missed = sum(estimate(logs), Estimate{0, s.Prob * common.SE})
	}
	return nil
}

// push moves sample k along the normal of a side to where q is, given that it
// is on that side.
func (t *tails) push(s RareSide, x *graph.Executor, eps []float64, k int, rng *rand.Rand) {
	h := t.d.Arrangement().Plane(s.Side.Plane)
	at, norm2 := 0.0, 0.0 // ã·ε and ‖ã‖²
	for j, i := range h.Index {
		a := h.Coef[j] * t.s[i]
		at += a * eps[i*x.N+k]
		norm2 += a * a
	}
	// The upper tail of probability p is where a normal variable exceeds
	// −quantile(p).
	u := 1 - rng.Float64()
	depth := -distuv.UnitNormal.Quantile(s.Prob * u)
	if !s.Side.Positive {
		depth = -depth
	}
	norm := math.Sqrt(norm2)
	for j, i := range h.Index {
		x.Z[i*x.N+k] += t.s[i] * (depth - at/norm) * h.Coef[j] * t.s[i] / norm
	}
}

// Misleading reports whether Plain is further from Corrected than twice its
// standard error, so that it should not be used.
func (r Rare) Misleading() bool {
	return !(math.Abs(r.Corrected.Mean-r.Plain.Mean) <= 2*r.Plain.SE)
}

// rareShown is the number of sides that String lists.
const rareShown = 10

// String is the two estimates and a table of the sides that bring most.
func (r Rare) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-25s  %v\n", fmt.Sprintf("ELBO of %d draws", r.Samples), r.Plain)
	fmt.Fprintf(&b, "%-25s  %v\n", "with rare sides of guards", r.Corrected)
	if r.Misleading() {
		fmt.Fprintf(&b, "The draws miss rare sides that bring %v nats: do not use the first number.\n", r.Missed)
	}
	if len(r.Sides) == 0 {
		b.WriteString("No side of a guard is rare.\n")
		return b.String()
	}
	rows := [][]string{{"rare side", "probability", "draws", "gap in nats", "brings", "where"}}
	for _, s := range r.Sides[:min(rareShown, len(r.Sides))] {
		rows = append(rows, []string{s.Event, fmt.Sprintf("%.2g", s.Prob), fmt.Sprint(s.Seen), plusMinus(s.Gap), plusMinus(s.Missed), where(s.Guards)})
	}
	b.WriteString("\n")
	writeTable(&b, rows)
	if rest := r.Sides[min(rareShown, len(r.Sides)):]; len(rest) > 0 {
		e := Estimate{}
		for _, s := range rest {
			e = sum(e, s.Missed)
		}
		fmt.Fprintf(&b, "%d more rare sides bring %s\n", len(rest), plusMinus(e))
	}
	return b.String()
}
