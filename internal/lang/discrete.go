package lang

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/facetvi/facet/internal/compare"
	"github.com/facetvi/facet/internal/truncnorm"
)

// A Discrete is the law of a discrete latent, which is a switch: its coordinate is standard normal a priori, and the interval
// between two of its cuts that it is in is the latent's value,
//
//	k = values_j  where  cuts_j−1 < u ≤ cuts_j.
//
// So all that knows guards knows discrete latents: their values are branches, and what
// log r is at one value less what it is at the value before is the jump at a cut. Cuts are
// such that the values have their prior probabilities, where these are numbers. If
// they depend on latents all intervals have the same probability, and log r has a term that
// makes up for it.
type Discrete struct {
	Dist Dist // the prior, with its own parameters
	compare.Steps
}

const (
	lostTail   = 1e-12 // the prior probability of counts that are left out
	mostValues = 1 << 12
	mostLooked = 1 << 13 // the first of which may have no probability that is a number
)

// NewDiscrete returns the values and cuts of a latent with prior d.
func NewDiscrete(m Priors, d Dist) (*Discrete, error) {
	s, fixed := d.Support(), d.Fixed()
	k := &Discrete{Dist: d}
	if math.IsInf(s.hi, 1) && !fixed {
		if s.hi = lastOf(m, d); s.hi-s.lo >= mostValues {
			return nil, fmt.Errorf("%s: with these latents as parameters 1e-12 of the prior may lie beyond any of the first %d values, "+
				"and a discrete latent needs a last one: write Truncated(%s(…), %v, n) with the largest n that matters, or parameters "+
				"whose own priors have numbers as parameters and lighter tails", d.law.name, mostValues, d.law.name, s.lo)
		}
	}
	var below []float64 // the prior probability of all values below, and
	var above []float64 // of that value and all above
	total := 0.0
	for x := s.lo; x <= s.hi; x++ {
		if len(k.Values) == mostValues || x-s.lo > mostLooked {
			return nil, fmt.Errorf("%s has more than %d values that matter, too many to sum over: count in other units, or take a real latent", d.law.name, mostValues)
		}
		p := math.NaN()
		if fixed {
			p = math.Exp(d.LogProb(Expr{v: x}).constValue())
			if p == 0 {
				continue
			}
		}
		k.Values, below, above = append(k.Values, x), append(below, total), append(above, p)
		total += p
		if math.IsInf(s.hi, 1) && 1-total < lostTail {
			break
		}
	}
	n := len(k.Values)
	if !fixed {
		for j := range n {
			below[j], above[j] = float64(j)/float64(n), float64(n-j)/float64(n)
		}
	} else {
		for j := n - 2; j >= 0; j-- {
			above[j] += above[j+1]
		}
	}
	for j := 1; j < n; j++ {
		// the smaller of both probabilities is the one that is exact
		cut := truncnorm.Quantile(below[j]/(below[j]+above[j]), math.Inf(-1), math.Inf(1))
		if above[j] < below[j] {
			cut = -truncnorm.Quantile(above[j]/(below[j]+above[j]), math.Inf(-1), math.Inf(1))
		}
		k.Cuts = append(k.Cuts, cut)
	}
	return k, nil
}

// Prior is the distribution of the coordinate.
func (k *Discrete) Prior() Dist {
	f := *Normal
	f.name = k.Dist.law.name
	f.support = reals
	f.support.value = func(_ Support, u float64) float64 { return k.Values[k.At(u)] }
	f.support.inverse = func(_ Support, x float64) float64 {
		j, found := slices.BinarySearch(k.Values, x)
		if !found {
			return math.NaN()
		}
		return k.Within(j, 0.5)
	}
	return Dist{law: &f, params: []Expr{{}, {v: 1}}}
}

// Draw is a coordinate, given the prior's parameters.
func (k *Discrete) Draw(p []float64, rng *rand.Rand) float64 {
	x := k.Dist.Draw(p, rng)
	if math.IsNaN(x) {
		return x
	}
	j, _ := slices.BinarySearch(k.Values, x)
	return k.Within(min(j, len(k.Values)-1), unitRand(rng))
}

// Fixed reports whether no parameter depends on latents.
func (d Dist) Fixed() bool {
	return !slices.ContainsFunc(d.params, func(p Expr) bool { _, ok := p.IsConst(); return !ok })
}
