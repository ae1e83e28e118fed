package lang

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"strings"

	"github.com/facetvi/facet/internal/kernel"
)

// Distributions that are made of others: each is a law like any other. Its parameters are its own, and after them those of the
// distributions that it is made of, in order; so they may be latents, and differ by row.

// parts are the laws that a combined law is made of; own is how many parameters are its own.
type parts struct {
	own  int
	laws []*Law
}

// at are the distributions at the parameters p of the whole.
func (s parts) at(p []Expr) []Dist {
	list, p := make([]Dist, len(s.laws)), p[s.own:]
	for i, f := range s.laws {
		list[i], p = Dist{law: f, params: p[:len(f.params):len(f.params)]}, p[len(f.params):]
	}
	return list
}

// combined is a law with the given name and parameters of its own, made of ds.
func combined(name string, own []param, ds ...Dist) (*Law, parts) {
	s := parts{own: len(own)}
	var names []string
	params := own[:len(own):len(own)]
	for _, d := range ds {
		s.laws = append(s.laws, d.law)
		names = append(names, d.law.name)
		params = append(params, d.law.params...)
	}
	return &Law{name: name + "(" + strings.Join(names, ", ") + ")", params: params}, s
}

// combine is the distribution that f makes of d, with the parameters own beside those of d. If d cannot be used it is d
// itself, whose error is then reported.
func combine(f func(d Dist) *Law, own []Expr, d Dist) Dist {
	if d, is := unusable(d); is {
		return d
	}
	return madeOf(f(d), own, d)
}

// madeOf is the distribution of law f with the parameters own, then those of ds.
func madeOf(f *Law, own []Expr, ds ...Dist) Dist {
	params := own
	for _, d := range ds {
		params = append(params, d.params...)
	}
	return New(f, params...)
}

// unusable is the first of ds that no other distribution can be made of, if there is one.
func unusable(ds ...Dist) (d Dist, is bool) {
	for _, d := range ds {
		switch {
		case d.law == nil || d.err != nil:
			return d, true
		case d.law.outermost:
			d.err = fmt.Errorf("%s: nothing else can be made of it; let it be the outermost", d.law.name)
			return d, true
		}
	}
	return Dist{}, false
}

var errNoCDF = errors.New("needs a distribution function")

// logMass is log P(a < X ≤ b). With odds o(x) = P(X ≤ x)/P(X > x) it is P(X ≤ b)·P(X > a)·(1 − o(a)/o(b)), in which nothing cancels.
func (d Dist) logMass(a, b Expr) Expr {
	s := d.Support()
	from, aKnown := a.IsConst()
	to, bKnown := b.IsConst()
	switch {
	case aKnown && (from < s.lo || from == s.lo && !s.whole):
		return d.logTail(b, false)
	case bKnown && to >= s.hi:
		return d.logTail(a, true)
	case d.law.tails.logMass != nil && (aKnown || math.IsInf(s.lo, -1)):
		return d.law.tails.logMass(a, b, d.params)
	}
	below, above := d.logTail(b, false), d.logTail(a, true)
	odds := applyPair(kernel.Log1mRatio, Sub(d.logTail(a, false), above), Sub(below, d.logTail(b, true)))
	return Add(Add(below, above), odds)
}

// logIn is log P(X in s), for an interval s of d's support.
func (d Dist) logIn(s Support) Expr {
	from := s.lo
	if s.whole {
		from--
	}
	return d.logMass(Expr{v: from}, Expr{v: s.hi})
}

// sample is a draw from d, for numbers as parameters: see Draw. The value that it stands
// for is inside it.
func (d Dist) sample(rng *rand.Rand) float64 {
	p := make([]float64, len(d.params))
	for i, x := range d.params {
		p[i] = x.v
	}
	return d.Draw(p, rng)
}

// quantile is the coordinate, or the whole number, up to which there is the part u of d,
// for numbers as parameters.
func (d Dist) quantile(u float64) float64 {
	return d.Support().quantile(u, func(x float64, upper bool) float64 { return d.logTail(Expr{v: x}, upper).v })
}

// quantile is that of a distribution on s by the logarithms of its tails, P(X ≤ x) or P(X > x): to 1e-12 by
// the Illinois method, once there are finite logarithms on both sides.
func (s Support) quantile(u float64, logTail func(x float64, upper bool) float64) float64 {
	excess := func(x float64) float64 { // of log P(X ≤ x) over log u, or the same of the other tail
		if u < 0.5 {
			return logTail(x, false) - math.Log(u)
		}
		return math.Log1p(-u) - logTail(x, true)
	}
	if s.whole {
		lo, step := s.lo-1, 1.0
		for lo+step < s.hi && excess(lo+step) < 0 {
			lo, step = lo+step, 2*step
		}
		least := lo + 1
		return least + float64(sort.Search(int(min(lo+step, s.hi)-least), func(k int) bool { return !(excess(least+float64(k)) < 0) }))
	}
	lo, hi := s.least, s.greatest
	below, above := math.Inf(-1), math.Inf(1)
	last := 0.0
	for range 200 {
		mid := 0.5 * (lo + hi)
		if below > -100 && above < 100 {
			mid = lo + (hi-lo)*below/(below-above)
		}
		if hi-lo < 1e-12*(1+math.Abs(lo)) || mid <= lo || mid >= hi {
			break
		}
		switch y := excess(s.value(s, mid)); {
		case y == 0:
			return mid
		case y < 0:
			lo, below = mid, y
			if last < 0 {
				above *= 0.5
			}
			last = -1
		default:
			hi, above = mid, y
			if last > 0 {
				below *= 0.5
			}
			last = 1
		}
	}
	return 0.5 * (lo + hi)
}

// momentsOf are the means and variances of ds; false if one has none.
func momentsOf(ds []Dist) (means, variances []Expr, ok bool) {
	for _, d := range ds {
		if !d.law.moments.known() {
			return nil, nil, false
		}
		means = append(means, d.law.moments.mean(d.params))
		variances = append(variances, d.law.moments.variance(d.params))
	}
	return means, variances, true
}
