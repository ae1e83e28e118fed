package lang

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// Censored is how an X with distribution d is recorded by an instrument that ends at lo and at hi.
func Censored(d Dist, lo, hi Expr) Dist { return combine(censored, []Expr{lo, hi}, d) }

func censored(of Dist) *Law {
	f, s := combined("Censored", []param{{"lo", limit}, {"hi", limit}}, of)
	in := func(p []Expr) Dist { return s.at(p)[0] }
	f.outermost, f.noPrior = true, "its bounds have probabilities of their own"
	f.check = func(p []Expr) error {
		lo, hi := p[0].constValue(), p[1].constValue()
		switch whole := in(p).Support().whole; {
		case !in(p).HasCDF():
			return errNoCDF
		case whole && (lo != math.Floor(lo) || hi != math.Floor(hi)):
			return fmt.Errorf("the bounds %v and %v of whole numbers must be whole", lo, hi)
		}
		return nil
	}
	f.supportAt = func(p []Expr) Support {
		s := in(p).Support().cut(p[0].constValue(), p[1].constValue(), 0)
		s.transform = transform{}
		return s
	}
	f.logProb = func(x Expr, p []Expr) Expr {
		d, recorded := in(p), f.supportAt(p)
		all := d.Support()
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
		return Add(times(between, d.LogProb(x)), ends)
	}
	f.rand = func(p []float64, rng *rand.Rand) float64 {
		d := in(Numbers(p))
		return min(max(d.FromCoordinate(d.sample(rng)), p[0]), p[1])
	}
	return f
}

// IntervalCensored is how many of the edges an X with distribution d exceeds.
func IntervalCensored(d Dist, edges []Expr) Dist {
	return combine(func(d Dist) *Law { return intervalCensored(d, len(edges)) }, edges, d)
}

func intervalCensored(of Dist, n int) *Law {
	f, s := combined("IntervalCensored", numbered("edge", n, AnyReal), of)
	in := func(p []Expr) Dist { return s.at(p)[0] }
	f.support = Support{lo: 0, hi: float64(n), whole: true}
	f.check = func(p []Expr) error {
		if !in(p).HasCDF() {
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
	f.tails.logCDF = func(x Expr, p []Expr) Expr { return edgeTail(x, p[:n], in(p), false) }
	f.tails.logCCDF = func(x Expr, p []Expr) Expr { return edgeTail(x, p[:n], in(p), true) }
	f.rand = func(p []float64, rng *rand.Rand) float64 {
		d, k := in(Numbers(p)), 0.0
		x := d.FromCoordinate(d.sample(rng))
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
