package lang

import (
	"cmp"
	"math"
	"math/rand/v2"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/internal/residuals"
	"github.com/facetvi/facet/internal/truncnorm"
)

// Truncated is the distribution of an X with distribution d, given that lo ≤ X ≤ hi.
func Truncated(d Dist, lo, hi Expr) Dist { return combine(truncated, []Expr{lo, hi}, d) }

func truncated(of Dist) *Law {
	f, _ := combined("Truncated", []param{{"lo", limit}, {"hi", limit}}, of)
	t := truncation{law: f, of: of.law, unit: of.unit(), tries: mostOutside}
	f.noPrior = of.law.noPrior
	f.check, f.supportAt = t.check, t.supportAt
	f.logProb = func(x Expr, p []Expr) Expr {
		d, s := t.in(p), t.supportAt(p)
		return given(d.LogProb(s.below(x)), d.logIn(s))
	}
	f.tails.logCDF = func(x Expr, p []Expr) Expr {
		d, s := t.in(p), t.supportAt(p)
		from := s.lo
		if s.whole {
			from--
		}
		return Sub(d.logMass(Expr{v: from}, x), d.logIn(s))
	}
	f.tails.logCCDF = func(x Expr, p []Expr) Expr {
		d, s := t.in(p), t.supportAt(p)
		return Sub(d.logMass(x, Expr{v: s.hi}), d.logIn(s))
	}
	if of.law.coordinate.shares != nil { // a quantile costs as much as a few draws
		t.tries = 6
	}
	f.rand, f.coordinate.start = t.rand, t.start
	return f
}

// given is log p less the logarithm of a mass, and −∞ where that is too small for a number.
func given(logProb, mass Expr) Expr {
	p := Sub(logProb, mass)
	if _, known := mass.IsConst(); known {
		return p
	}
	return applyPair(kernel.IfNonNegative, Add(mass, 1e300), p)
}

// below is x where it is below an upper end of s that is not in it, though the transform may come to that by rounding: there may be a pole.
func (s Support) below(x Expr) Expr {
	if _, known := x.IsConst(); known || s.whole || s.closedHi || math.IsInf(s.hi, 1) {
		return x
	}
	return applyPair(kernel.Least, x, Expr{v: math.Nextafter(s.hi, s.lo)})
}

// A truncation is what law, the law of, cut, has of its own.
type truncation struct {
	law, of *Law
	unit    float64 // see Dist.unit
	tries   int     // draws before a quantile is looked for
}

// in is the distribution before, of the parameters p, which begin with the bounds.
func (t truncation) in(p []Expr) Dist { return Dist{law: t.of, params: p[2:]} }

func (t truncation) check(p []Expr) error {
	if !t.in(p).HasCDF() {
		return errNoCDF
	}
	return nil
}

func (t truncation) supportAt(p []Expr) Support {
	return t.in(p).Support().cut(p[0].constValue(), p[1].constValue(), t.unit)
}

func (t truncation) rand(p []float64, rng *rand.Rand) float64 {
	if shares := t.of.coordinate.shares; shares != nil || t.of.coordinate.start != nil && t.of.supportAt == nil {
		c := newCut(t.of, p, shares, t.unit)
		if u := c.s.inverse(c.s, c.value(p[2:], t.tries, rng)); ir.IsFinite(u) {
			return u
		}
		if shares != nil {
			if u := c.s.inverse(c.s, c.quantile(unitRand(rng))); ir.IsFinite(u) {
				return u
			}
		}
	}
	whole := Dist{law: t.law, params: Numbers(p)}
	return t.in(whole.params).drawIn(whole.Support(), rng)
}

func (t truncation) start(p []float64) (center, scale float64) {
	c := newCut(t.of, p, cmp.Or(t.of.coordinate.shares, &logisticShares), t.unit)
	if c.s.lo == c.all.lo && c.s.hi == c.all.hi {
		return c.center, c.scale
	}
	middle, scale := c.middle()
	center = c.s.inverse(c.s, middle)
	if scale /= c.s.slope(c.s, center); scale > 0 && ir.IsFinite(center/scale) {
		return center, scale
	}
	low, high := c.s.inverse(c.s, c.quantile(0.1587)), c.s.inverse(c.s, c.quantile(0.8413))
	return low + 0.5*(high-low), 0.5 * (high - low)
}

const rootTwoPi = 2.5066282746310002

// A quantile by search costs as much as mostOutside draws.
const mostOutside = 200

// drawIn draws from the part s of d's support. A draw that falls outside is drawn again; where nearly all do, a
// quantile is found by search.
func (d Dist) drawIn(s Support, rng *rand.Rand) float64 {
	for range mostOutside {
		x := d.FromCoordinate(d.sample(rng))
		if !s.Contains(x) {
			continue
		}
		if s.whole || s.forward == nil {
			return x
		}
		if u := s.inverse(s, x); ir.IsFinite(u) {
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
		return d.logIn(Support{lo: s.lo, hi: x, whole: s.whole}).v - mass
	})
}

// A cut is what truncation leaves of a distribution with known shares.
type cut struct {
	of            *Law
	all, s        Support // before and after
	shares        *residuals.Shares
	from, to      float64 // the bounds in the coordinate before
	center, scale float64 // before
	lo, hi        float64 // residuals of the bounds
}

// newCut cuts a law; p has the bounds and then the law's parameters.
func newCut(of *Law, p []float64, shares *residuals.Shares, unit float64) cut {
	c := cut{of: of, all: of.support, shares: shares}
	if of.supportAt != nil {
		c.all = of.supportAt(Numbers(p[2:]))
	}
	c.s = c.all.cut(p[0], p[1], unit)
	c.from, c.to = c.all.inverse(c.all, c.s.lo), c.all.inverse(c.all, c.s.hi)
	c.center, c.scale = of.coordinate.start(p[2:])
	c.lo, c.hi = (c.from-c.center)/c.scale, (c.to-c.center)/c.scale
	return c
}

// value draws from the law until the value is in what is left, or NaN if that comes to nothing.
func (c *cut) value(p []float64, tries int, rng *rand.Rand) float64 {
	for range tries {
		x := c.of.rand(p, rng)
		if c.all.fn != kernel.None {
			x = c.all.value(c.all, x)
		}
		if c.s.lo < x && x < c.s.hi || c.s.Contains(x) {
			return x
		}
	}
	return math.NaN()
}

// middle is about the median, as if residuals were logistic, and what the standard deviation of a coordinate with slope 1 there is.
func (c *cut) middle() (median, scale float64) {
	by := logisticSD / -math.Abs(c.scale)
	lo, hi := math.Exp(by*math.Abs(c.from-c.center)), math.Exp(by*math.Abs(c.to-c.center))
	below, above, toBelow, toAbove, times := logisticTails(lo, hi, c.from > c.center, c.to > c.center)
	mass, upTo, rest := max(toBelow-below, above-toAbove), below+toBelow, above+toAbove // of twice as much
	u := c.center + c.scale*math.Log(upTo/rest)/logisticSD
	scale = c.scale * 4 * mass * times / (rootTwoPi * logisticSD * upTo * rest)
	return c.all.value(c.all, u), scale * c.all.slope(c.all, u)
}

// logisticTails are the shares of a logistic distribution below and above two numbers, times the last result, given for each
// the smaller share over the larger, and whether the number is positive.
func logisticTails(lo, hi float64, loPositive, hiPositive bool) (below, above, toBelow, toAbove, times float64) {
	below, above, toBelow, toAbove = lo*(1+hi), 1+hi, hi*(1+lo), 1+lo
	if loPositive {
		below, above = above, below
	}
	if hiPositive {
		toBelow, toAbove = toAbove, toBelow
	}
	return below, above, toBelow, toAbove, (1 + lo) * (1 + hi)
}

// quantile is the value below which there is the part u.
func (c *cut) quantile(u float64) float64 {
	x := c.all.value(c.all, c.center+c.scale*c.shares.Quantile(u, c.lo, c.hi))
	return truncnorm.Inside(x, c.s.lo, c.s.hi)
}

// unit is a quarter of the scale of a law on the line with light tails, if that is a number; or else 0. The posterior's is mostly smaller than
// the prior's.
func (d Dist) unit() float64 {
	if !d.law.coordinate.light {
		return 0
	}
	p := make([]float64, len(d.params))
	for i, x := range d.params {
		if v, known := x.IsConst(); known {
			p[i] = v
		} else {
			p[i] = math.NaN()
		}
	}
	if _, scale := d.law.coordinate.start(p); scale > 0 {
		return scale / 4
	}
	return 0
}

// cut is the part of s between lo and hi, unit being that of the law, or 0.
func (s Support) cut(lo, hi, unit float64) Support {
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
	s.unit = unit
	switch {
	case s.forward == nil: // a support that has no coordinate gets none
	case math.IsInf(s.hi, 1) && unit > 0:
		s.transform = rampMap
	case math.IsInf(s.hi, 1) && s.lo == 0:
		s.transform = exponentialMap
	case math.IsInf(s.hi, 1):
		s.transform = shiftedMap
	case math.IsInf(s.lo, -1) && unit > 0:
		s.transform = rampMap.reflected()
	case math.IsInf(s.lo, -1):
		s.transform = shiftedMap.reflected()
	default:
		s.transform = normalMap
	}
	return s
}

// Where the density at a bound is not 0, that of u falls off there as a normal does by normalMap and rampMap, and only exponentially by
// a logistic or an exponential function: so it is near to what a fit takes it for.

// normalMap is x = lo + (hi − lo)·Φ(u).
var normalMap = transform{
	fn:      kernel.NormalCDF,
	forward: func(s Support, u Expr) Expr { return Add(s.lo, Mul(s.hi-s.lo, Apply(kernel.NormalCDF, u))) },
	value:   func(s Support, u float64) float64 { return s.lo + (s.hi-s.lo)*kernel.NormalCDF.Value(u) },
	logJac:  func(s Support, u Expr) Expr { return Sub(math.Log(s.hi-s.lo)-halfLog2Pi, Mul(0.5, Square(u))) },
	slope:   func(s Support, u float64) float64 { return (s.hi - s.lo) * kernel.NormalCDF.Slope(u, 0) },
	inverse: func(s Support, x float64) float64 {
		if below, above := (x-s.lo)/(s.hi-s.lo), (s.hi-x)/(s.hi-s.lo); below > above {
			return -kernel.NormalQuantile.Value(above)
		} else {
			return kernel.NormalQuantile.Value(below)
		}
	},
	least: -37, greatest: 37,
}

// rampMap is x = lo + unit·ramp(u).
var rampMap = transform{
	fn:      kernel.Ramp,
	forward: func(s Support, u Expr) Expr { return Add(s.lo, Mul(s.unit, Apply(kernel.Ramp, u))) },
	value:   func(s Support, u float64) float64 { return s.lo + s.unit*kernel.Ramp.Value(u) },
	logJac:  func(s Support, u Expr) Expr { return Add(math.Log(s.unit), Apply(kernel.LogRampSlope, u)) },
	slope:   func(s Support, u float64) float64 { return s.unit * kernel.Exp.Value(kernel.LogRampSlope.Value(u)) },
	inverse: func(s Support, x float64) float64 {
		u, _ := kernel.Ramp.Inverse((x - s.lo) / s.unit)
		return u[0]
	},
	least: -37, greatest: 1e300,
}

// shiftedMap is x = lo + eᵘ.
var shiftedMap = transform{
	fn:      kernel.Exp,
	forward: func(s Support, u Expr) Expr { return Add(s.lo, Exp(u)) },
	value:   func(s Support, u float64) float64 { return s.lo + kernel.Exp.Value(u) },
	logJac:  func(_ Support, u Expr) Expr { return u },
	slope:   func(_ Support, u float64) float64 { return kernel.Exp.Value(u) },
	inverse: func(s Support, x float64) float64 { return math.Log(x - s.lo) },
	least:   -744, greatest: 709,
}

// reflected is the map of −u to −x, from hi down.
func (t transform) reflected() transform {
	mirrored := func(s Support) Support {
		s.lo = -s.hi
		return s
	}
	return transform{
		fn:      t.fn,
		forward: func(s Support, u Expr) Expr { return Neg(t.forward(mirrored(s), Neg(u))) },
		value:   func(s Support, u float64) float64 { return -t.value(mirrored(s), -u) },
		logJac:  func(s Support, u Expr) Expr { return t.logJac(mirrored(s), Neg(u)) },
		slope:   func(s Support, u float64) float64 { return t.slope(mirrored(s), -u) },
		inverse: func(s Support, x float64) float64 { return -t.inverse(mirrored(s), -x) },
		least:   -t.greatest, greatest: -t.least,
	}
}
