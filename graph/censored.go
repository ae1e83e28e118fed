package graph

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// Censored is how an X with distribution d is recorded by an instrument that ends at lo
// and at hi: as lo where X ≤ lo, as hi where X ≥ hi, and as it is between. The bounds
// must be numbers; they may be infinite.
//
//	P(X ≤ lo) at lo,    p(x) for lo < x < hi,    P(X ≥ hi) at hi
//
// So the time of someone who was still alive at time c is observed as
//
//	m.Observe("time", graph.Censored(graph.Weibull(k, lambda), math.Inf(-1), c), c)
//
// and a death at a time t before c as the observation t of the same distribution. Where values outside were not
// recorded at all, use Truncated; where all that is known is an interval, IntervalCensored. Censored is for
// observations. It may be of a Truncated or a Mixture, but not these of it.
func Censored[A, B Value](d Dist, lo A, hi B) Dist {
	return combine(censored, []Expr{lift(lo), lift(hi)}, d)
}

func censored(of Dist) *law {
	f, s := combined("Censored", []param{{"lo", limit}, {"hi", limit}}, of)
	in := func(p []Expr) Dist { return s.at(p)[0] }
	f.outermost, f.noPrior = true, "its bounds have probabilities of their own"
	f.check = func(p []Expr) error {
		lo, hi := p[0].constValue(), p[1].constValue()
		switch whole := in(p).support().whole; {
		case !in(p).hasCDF():
			return errNoCDF
		case whole && (lo != math.Floor(lo) || hi != math.Floor(hi)):
			return fmt.Errorf("the bounds %v and %v of whole numbers must be whole", lo, hi)
		}
		return nil
	}
	f.supportAt = func(p []Expr) support {
		s := in(p).support().cut(p[0].constValue(), p[1].constValue(), 0)
		s.transform = transform{}
		return s
	}
	f.logProb = func(x Expr, p []Expr) Expr {
		d, recorded := in(p), f.supportAt(p)
		all := d.support()
		between, ends := Expr{v: 1}, Expr{}
		if recorded.lo > all.lo {
			at := is(x, recorded.lo)
			between, ends = Sub(between, at), times(at, d.logTail(Expr{v: recorded.lo}, false))
		}
		if recorded.hi < all.hi {
			from := recorded.hi
			if all.whole {
				from--
			}
			at := is(x, recorded.hi)
			between, ends = Sub(between, at), Add(ends, times(at, d.logTail(Expr{v: from}, true)))
		}
		return Add(times(between, d.logProb(x)), ends)
	}
	f.rand = func(p []float64, rng *rand.Rand) float64 {
		d := in(numbersOf(p))
		return min(max(d.fromCoordinate(d.sample(rng)), p[0]), p[1])
	}
	return f
}

// IntervalCensored is how many of the edges an X with distribution d exceeds: what is
// recorded of it by inspections at these times, or by rounding.
//
//	P(k) = P(edges[k−1] < X ≤ edges[k]),    k = 0, 1, …, len(edges)
//
// So someone who was well at time a and ill at time b is observed as
//
//	m.Observe("onset", graph.IntervalCensored(graph.LogNormal(mu, sigma), a, b), 1)
//
// The edges must increase, and may be latents: IntervalCensored of a Normal is the
// ordered probit.
func IntervalCensored[A Value](d Dist, edges ...A) Dist {
	return combine(func(d Dist) *law { return intervalCensored(d, len(edges)) }, Numbers(edges...), d)
}

func intervalCensored(of Dist, n int) *law {
	f, s := combined("IntervalCensored", numbered("edge", n, anyReal), of)
	in := func(p []Expr) Dist { return s.at(p)[0] }
	f.support = support{lo: 0, hi: float64(n), whole: true}
	f.check = func(p []Expr) error {
		if !in(p).hasCDF() {
			return errNoCDF
		}
		return increasing(p[:n], "edge")
	}
	f.logProb = func(x Expr, p []Expr) Expr {
		d := in(p)
		sum := where(is(x, 0), d.logTail(p[0], false))
		for k := 1; k < n; k++ {
			sum = Add(sum, where(is(x, float64(k)), d.logMass(p[k-1], p[k])))
		}
		return Add(sum, where(is(x, float64(n)), d.logTail(p[n-1], true)))
	}
	f.logCDF = func(x Expr, p []Expr) Expr { return edgeTail(x, p[:n], in(p), false) }
	f.logCCDF = func(x Expr, p []Expr) Expr { return edgeTail(x, p[:n], in(p), true) }
	f.rand = func(p []float64, rng *rand.Rand) float64 {
		d, k := in(numbersOf(p)), 0.0
		x := d.fromCoordinate(d.sample(rng))
		for _, edge := range p[:n] {
			k += ir.Indicator(x > edge)
		}
		return k
	}
	return f
}

// where is log, which may be −∞, where an indicator is 1, and 0 where that is 0.
func where(indicator, log Expr) Expr {
	if v, known := log.IsConst(); known && math.IsInf(v, -1) {
		return applyPair(kernel.IfNonNegative, Neg(indicator), Expr{})
	}
	return times(indicator, log)
}

// edgeTail is the tail of d at edge x.
func edgeTail(x Expr, edges []Expr, d Dist, upper bool) Expr {
	var sum Expr
	for k, edge := range edges {
		sum = Add(sum, where(is(x, float64(k)), d.logTail(edge, upper)))
	}
	return sum
}
