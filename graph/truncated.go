package graph

import (
	"math"
	"math/rand/v2"

	"github.com/facetvi/facet/graph/kernel"
)

// Truncated is the distribution of an X with distribution d, given that lo ≤ X ≤ hi:
//
//	p(x)/P(lo ≤ X ≤ hi),    lo ≤ x ≤ hi
//
// The bounds must be numbers; they may be infinite. Values outside were not recorded at
// all: of values that were recorded as a bound see Censored.
func Truncated[A, B Value](d Dist, lo A, hi B) Dist {
	return combine(truncated, []Expr{lift(lo), lift(hi)}, d)
}

func truncated(of Dist) *law {
	f, s := combined("Truncated", []param{{"lo", limit}, {"hi", limit}}, of)
	in := func(p []Expr) Dist { return s.at(p)[0] }
	f.noPrior = of.law.noPrior
	f.check = func(p []Expr) error {
		if !in(p).hasCDF() {
			return errNoCDF
		}
		return nil
	}
	f.supportAt = func(p []Expr) support { return in(p).support().cut(p[0].constValue(), p[1].constValue()) }
	f.logProb = func(x Expr, p []Expr) Expr {
		d := in(p)
		return Sub(d.logProb(x), d.logIn(f.supportAt(p)))
	}
	f.logCDF = func(x Expr, p []Expr) Expr {
		d, s := in(p), f.supportAt(p)
		from := s.lo
		if s.whole {
			from--
		}
		return Sub(d.logMass(Expr{v: from}, x), d.logIn(s))
	}
	f.logCCDF = func(x Expr, p []Expr) Expr {
		d, s := in(p), f.supportAt(p)
		return Sub(d.logMass(x, Expr{v: s.hi}), d.logIn(s))
	}
	// Draws that fall outside are drawn again. Where most would, a quantile is drawn: on the line by the
	// shares of residuals where they are known, and else by search.
	f.rand = func(p []float64, rng *rand.Rand) float64 {
		whole := Dist{law: f, params: numbersOf(p)}
		d, s := in(whole.params), whole.support()
		mass, tries := d.logIn(s).v, 0
		if mass > math.Log(0.1) {
			tries = 50
		}
		for range tries {
			x := d.fromCoordinate(d.sample(rng))
			if !s.contains(x) {
				continue
			}
			if s.whole || s.forward == nil {
				return x
			}
			if u := s.inverse(s, x); isFinite(u) {
				return u
			}
		}
		u := unitRand(rng)
		if all := d.support(); d.law.shares != nil && math.IsInf(all.lo, -1) && math.IsInf(all.hi, 1) {
			center, scale := d.law.start(p[2:])
			x := between(center+scale*d.law.shares.quantile(u, (s.lo-center)/scale, (s.hi-center)/scale), s.lo, s.hi)
			if x = s.inverse(s, x); isFinite(x) {
				return x
			}
		}
		return s.quantile(u, func(x float64, upper bool) float64 {
			switch {
			case x < s.lo || !s.whole && x == s.lo:
				return certainly(upper).v
			case x >= s.hi:
				return certainly(!upper).v
			case upper:
				return d.logMass(Expr{v: x}, Expr{v: s.hi}).v - mass
			}
			return d.logIn(support{lo: s.lo, hi: x, whole: s.whole}).v - mass
		})
	}
	f.start = func(p []float64) (center, scale float64) {
		whole := Dist{law: f, params: numbersOf(p)}
		if s, all := whole.support(), in(whole.params).support(); s.lo == all.lo && s.hi == all.hi {
			return of.law.start(p[2:])
		}
		return whole.quantile(0.5), 0.5 * (whole.quantile(0.8413) - whole.quantile(0.1587))
	}
	f.residual = residualOf(f)
	return f
}

// cut is the part of s between lo and hi.
func (s support) cut(lo, hi float64) support {
	if s.whole {
		s.lo, s.hi = max(s.lo, math.Ceil(lo)), min(s.hi, math.Floor(hi))
		return s
	}
	if lo <= s.lo && hi >= s.hi {
		return s
	}
	if lo > s.lo {
		s.lo, s.closedLo = lo, true
	}
	if hi < s.hi {
		s.hi, s.closedHi = hi, true
	}
	switch {
	case s.forward == nil: // a support that has no coordinate gets none
	case math.IsInf(s.hi, 1) && s.lo == 0:
		s.transform = exponentialMap
	case math.IsInf(s.hi, 1):
		s.transform = shiftedMap
	case math.IsInf(s.lo, -1):
		s.transform = reflectedMap
	default:
		s.transform = scaledLogisticMap
	}
	return s
}

// shiftedMap is x = lo + eᵘ.
var shiftedMap = transform{
	fn:      kernel.Exp,
	forward: func(s support, u Expr) Expr { return Add(s.lo, Exp(u)) },
	logJac:  func(_ support, u Expr) Expr { return u },
	inverse: func(s support, x float64) float64 { return math.Log(x - s.lo) },
	least:   -744, greatest: 709,
}

// reflectedMap is x = hi − e⁻ᵘ.
var reflectedMap = transform{
	fn:      kernel.Exp,
	forward: func(s support, u Expr) Expr { return Sub(s.hi, Exp(Neg(u))) },
	logJac:  func(_ support, u Expr) Expr { return Neg(u) },
	inverse: func(s support, x float64) float64 { return -math.Log(s.hi - x) },
	least:   -709, greatest: 744,
}
