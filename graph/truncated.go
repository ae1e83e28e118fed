package graph

import (
	"cmp"
	"math"
	"math/rand/v2"

	"github.com/facetvi/facet/graph/internal/kernel"
)

// Truncated is the distribution of an X with distribution d, given that lo ≤ X ≤ hi:
//
//	p(x)/P(lo ≤ X ≤ hi),    lo ≤ x ≤ hi
//
// The bounds must be numbers; they may be infinite. Values outside were not recorded at
// all. For values that were recorded as a bound use Censored.
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
	f.rand = func(p []float64, rng *rand.Rand) float64 {
		if of.law.shares != nil {
			c := newCut(of.law, p, of.law.shares)
			if u := c.quantile(unitRand(rng)); isFinite(u) {
				return u
			}
		}
		whole := Dist{law: f, params: numbersOf(p)}
		return in(whole.params).drawIn(whole.support(), rng)
	}
	// Where shares are not known, those of a logistic distribution are near enough.
	f.start = func(p []float64) (center, scale float64) {
		c := newCut(of.law, p, cmp.Or(of.law.shares, &logisticShares))
		if c.s.lo == c.all.lo && c.s.hi == c.all.hi {
			return c.center, c.scale
		}
		low, high := c.quantile(0.1587), c.quantile(0.8413)
		return low + 0.5*(high-low), 0.5 * (high - low)
	}
	return f
}

// A quantile by search costs as much as mostOutside draws.
const mostOutside = 200

// drawIn draws from the part s of d's support. A draw that falls outside is drawn again; where nearly all do, a
// quantile is found by search.
func (d Dist) drawIn(s support, rng *rand.Rand) float64 {
	for range mostOutside {
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
	mass := d.logIn(s).v
	return s.quantile(unitRand(rng), func(x float64, upper bool) float64 {
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

// A cut is what truncation leaves of a distribution with known shares.
type cut struct {
	all, s        support // before and after
	shares        *shares
	center, scale float64 // before
	lo, hi        float64 // residuals of the bounds
}

// newCut cuts a law; p has the bounds and then the law's parameters.
func newCut(of *law, p []float64, shares *shares) (c cut) {
	if c.all = of.support; of.supportAt != nil {
		c.all = of.supportAt(numbersOf(p[2:]))
	}
	c.s, c.shares = c.all.cut(p[0], p[1]), shares
	c.center, c.scale = of.start(p[2:])
	residual := func(x float64) float64 { return (c.all.inverse(c.all, x) - c.center) / c.scale }
	c.lo, c.hi = residual(c.s.lo), residual(c.s.hi)
	return c
}

// quantile is the coordinate below which there is the part u.
func (c *cut) quantile(u float64) float64 {
	x := c.all.value(c.all, c.center+c.scale*c.shares.quantile(u, c.lo, c.hi))
	return c.s.inverse(c.s, between(x, c.s.lo, c.s.hi))
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
	value:   func(s support, u float64) float64 { return s.lo + kernel.Exp.Value(u) },
	logJac:  func(_ support, u Expr) Expr { return u },
	inverse: func(s support, x float64) float64 { return math.Log(x - s.lo) },
	least:   -744, greatest: 709,
}

// reflectedMap is x = hi − e⁻ᵘ.
var reflectedMap = transform{
	fn:      kernel.Exp,
	forward: func(s support, u Expr) Expr { return Sub(s.hi, Exp(Neg(u))) },
	value:   func(s support, u float64) float64 { return s.hi - kernel.Exp.Value(-u) },
	logJac:  func(_ support, u Expr) Expr { return Neg(u) },
	inverse: func(s support, x float64) float64 { return -math.Log(s.hi - x) },
	least:   -709, greatest: 744,
}
