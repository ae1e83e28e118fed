package truncnorm

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mathext"
)

const logDensity = -0.918938533204672741780329736406 // log φ(0)

// A mass is rest·exp(−near²/2).
type mass struct{ rest, near float64 }

// massOf is Φ(β) − Φ(α); 0 unless α < β.
func massOf(lo, hi float64) mass {
	if lo+hi < 0 {
		lo, hi = -hi, -lo
	}
	d := hi - lo
	switch {
	case !(d > 0):
		return mass{}
	case lo <= 0:
		return mass{0.5 * (math.Erf(hi*invSqrt2) + math.Erf(-lo*invSqrt2)), 0}
	case d*max(1, hi) < 0.1:
		return mass{density0 * d * math.Exp(-0.5*d*(lo+0.25*d)) * flat(lo+0.5*d, 0.5*d), lo}
	}
	return mass{density0 * (mills(lo) - exp(-0.5*d*(lo+hi))*mills(hi)), lo}
}

// flat is the mean of φ(x)/φ(m) for |x − m| < h, Σ He_2k(m)·h^2k/(2k + 1)!, where
// m·h and h are small.
func flat(m, h float64) float64 {
	x, y := m*m*h*h, h*h
	return 1 + (x-y)/6 + (x*x-6*x*y+3*y*y)/120 + (x*x*x-15*x*x*y+45*x*y*y-15*y*y*y)/5040
}

// over is the quotient of two masses.
func (m mass) over(n mass) float64 {
	if m.rest == 0 {
		return 0
	}
	return m.rest / n.rest * exp(halfSquares(n.near, m.near))
}

// halfSquares is (x² − y²)/2; 0 where both are infinite.
func halfSquares(x, y float64) float64 {
	if x == y {
		return 0
	}
	return 0.5 * (x - y) * (x + y)
}

// exp is math.Exp, fast where it is 1 or 0.
func exp(x float64) float64 {
	switch {
	case x == 0:
		return 1
	case x < -746:
		return 0
	}
	return math.Exp(x)
}

// beyond is where an end makes no difference: Φ(−beyond) is less than any number.
const beyond = 39

// IsWhole reports whether Φ(β) − Φ(α) is 1, to 2e-17.
func IsWhole(lo, hi float64) bool { return lo < -8.5 && hi > 8.5 }

// Mass is Φ(β) − Φ(α), 0 where that is too small for a number.
func Mass(lo, hi float64) float64 {
	if lo < -beyond && hi > beyond {
		return 1
	}
	var i Interval
	i.Set(lo, hi)
	return i.Mass()
}

// LogMass is log(Φ(β) − Φ(α)).
func LogMass(lo, hi float64) float64 {
	if lo < -beyond && hi > beyond {
		return 0
	}
	below, _ := tails(lo)
	_, above := tails(hi)
	if out := below + above; out < 0.5 {
		return math.Log1p(-out)
	}
	m := massOf(lo, hi)
	return math.Log(m.rest) - 0.5*m.near*m.near
}

// LogProb is the log density at x; −Inf outside (α, β).
func LogProb(x, lo, hi float64) float64 {
	switch {
	case math.IsInf(lo, -1) && math.IsInf(hi, 1):
		return logDensity - 0.5*x*x
	case !(lo < x && x < hi):
		return math.Inf(-1)
	}
	m := massOf(lo, hi)
	return logDensity + halfSquares(m.near, x) - math.Log(m.rest)
}

// At is T(ε; α, β), the point with the probability of ε: if ε is a draw of the standard
// normal, T is one of the truncated normal. It lies inside (α, β) if there is a
// number inside, and is ε itself if both are infinite, or so far that they make no difference to it.
func At(e, lo, hi float64) float64 {
	if free(e, lo, hi) {
		return e
	}
	var i Interval
	i.Set(lo, hi)
	return i.quantile(tails(e))
}

// Quantile is the point below which there is the part u of the mass.
func Quantile(u, lo, hi float64) float64 {
	var i Interval
	i.Set(lo, hi)
	return i.Quantile(u)
}

// An Interval knows the tails of its ends, for many points of one interval. It is of no use before it is Set.
type Interval struct{ Lo, Hi, belowLo, aboveLo, belowHi, aboveHi float64 }

// Set makes it (α, β), at no cost if it is that.
func (i *Interval) Set(lo, hi float64) {
	if known := i.belowLo+i.aboveLo > 0; known && lo == i.Lo && hi == i.Hi {
		return
	}
	i.Lo, i.Hi = lo, hi
	i.belowLo, i.aboveLo = tails(lo)
	i.belowHi, i.aboveHi = tails(hi)
}

// Mass is Φ(β) − Φ(α), as the function of that name has it.
func (i *Interval) Mass() float64 {
	if out := i.belowLo + i.aboveHi; out < 0.5 {
		return 1 - out
	}
	m := massOf(i.Lo, i.Hi)
	return m.rest * exp(-0.5*m.near*m.near)
}

// Quantile is the point below which there is the part u of the mass.
func (i *Interval) Quantile(u float64) float64 { return i.quantile(u, 1-u) }

// free reports whether T(ε) is ε: Φ(−12)/φ(6) is 3e-25.
func free(e, lo, hi float64) bool {
	return lo < -12 && hi > 12 && (math.Abs(e) < 6 || lo < -beyond && hi > beyond)
}

// quantile is the point with the part u of the mass below it, and the part v above.
func (i *Interval) quantile(u, v float64) float64 {
	lo, hi := i.Lo, i.Hi
	below, above := v*i.belowLo+u*i.belowHi, v*i.aboveLo+u*i.aboveHi
	t := 0.0
	switch {
	case above < least:
		t = -LogQuantile(math.Log(v+u*massAbove(hi).over(massAbove(lo))) + LogMass(lo, math.Inf(1)))
	case below < least:
		t = LogQuantile(math.Log(u+v*massAbove(-lo).over(massAbove(-hi))) + LogMass(-hi, math.Inf(1)))
	case math.Abs(below-0.5) < 0.004: // near 0 the difference from ½ is what counts
		t = centre((v*math.Erf(lo*invSqrt2) + u*math.Erf(hi*invSqrt2)) / (2 * density0))
	case below < above:
		t = mathext.NormalQuantile(below)
	default:
		t = -mathext.NormalQuantile(above)
	}
	switch {
	case t <= lo:
		return math.Nextafter(lo, hi)
	case t >= hi:
		return math.Nextafter(hi, lo)
	}
	return t
}

// least is where probabilities are taken by their logarithms.
const least = 1e-290

func massAbove(x float64) mass { return massOf(x, math.Inf(1)) }

// centre is the x with (Φ(x) − ½)/φ(0) = w, for small w.
func centre(w float64) float64 {
	y := w * w
	return w * (1 + y*(1.0/6+y*(7.0/120+y*(127.0/5040))))
}

// LogQuantile is the x with log Φ(x) = p, for p below −500. Newton's method on
// log φ(x) + log R(−x) = p doubles its digits, of which the start has three.
func LogQuantile(p float64) float64 {
	x := math.Sqrt(2 * (logDensity - p))
	if math.IsInf(x, 1) {
		return -x
	}
	for range 3 {
		r := mills(x)
		x += r * (logDensity - 0.5*x*x + math.Log(r) - p)
	}
	return -x
}

// Between is interval j of those that ascending cuts make of the line, from 0.
func Between(cuts []float64, j int) (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	if j > 0 {
		lo = cuts[j-1]
	}
	if j < len(cuts) {
		hi = cuts[j]
	}
	return lo, hi
}

// AtEnds are the densities φ(α)/(Φ(β) − Φ(α)) and φ(β)/(Φ(β) − Φ(α)).
func AtEnds(lo, hi float64) (atLo, atHi float64) {
	if lo < -beyond && hi > beyond {
		return 0, 0
	}
	m := massOf(lo, hi)
	at := func(x float64) float64 {
		if math.IsInf(x, 0) {
			return 0
		}
		return density0 / m.rest * exp(halfSquares(m.near, x))
	}
	return at(lo), at(hi)
}

// Mean is (φ(α) − φ(β))/(Φ(β) − Φ(α)).
func Mean(lo, hi float64) float64 {
	if lo+hi < 0 {
		return -Mean(-hi, -lo)
	}
	if math.IsInf(lo, -1) {
		return 0
	}
	m := massOf(lo, hi)
	return density0 * -math.Expm1(-halfSquares(hi, lo)) / m.rest * exp(halfSquares(m.near, lo))
}

// rule is that of Gauss and Legendre on (0, 1).
var rule = sync.OnceValue(func() (r struct{ x, w [64]float64 }) {
	quad.Legendre{}.FixedLocations(r.x[:], r.w[:], 0, 1)
	return r
})

// Variance is that of the truncated normal, by quadrature: its closed form cancels.
func Variance(lo, hi float64) float64 {
	if lo+hi < 0 {
		lo, hi = -hi, -lo
	}
	const far = 9.5 // φ(9.5)/φ(0) is 2.5e-20
	lo = max(lo, -far)
	first := max(lo, 0)
	d := min(hi-lo, first-lo+far*far/(first+math.Hypot(first, far)))
	r := rule()
	sum, mean, square := 0.0, 0.0, 0.0
	var w [len(r.x)]float64
	for k, x := range r.x {
		w[k] = r.w[k] * math.Exp(-d*x*(lo+0.5*d*x))
		sum += w[k]
		mean += w[k] * x
	}
	mean /= sum
	for k, x := range r.x {
		square += w[k] * (x - mean) * (x - mean)
	}
	return d * d * (square / sum)
}

// Inside is x, moved into (lo, hi) if rounding has put it outside.
func Inside(x, lo, hi float64) float64 {
	return min(max(x, math.Nextafter(lo, math.Inf(1))), math.Nextafter(hi, math.Inf(-1)))
}
