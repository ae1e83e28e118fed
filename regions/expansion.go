package regions

import (
	"cmp"
	"math"
)

// A monomial is coef·E·t⁻ᵖ·Lᵠ·Mʳ with the powers p, q and r, where L = −log t and M = log L. E stands for what is beyond all powers of t,
// as exp(1/t), and has power ∞, or −∞. As t ─▶ 0 from above that of two is the larger one whose powers are, compared in this order.
type monomial struct {
	coef  float64
	power powers
}

type powers [4]float64 // of E, 1/t, L and M

// An expansion is what a number is as t ─▶ 0: a sum of monomials, the largest first, of which those after the first few are left out. No
// monomials are 0.
type expansion struct {
	of [mostMonomials]monomial
	n  int
}

const (
	mostMonomials = 4
	cancelled     = 1e-10 // what is left of a sum, relative to its summands, that is 0 but for rounding
	samePower     = 1e-9
)

var none = numberOf(math.NaN()) // no number

// compare compares the powers of two monomials.
func compare(p, q powers) int {
	for k := range p {
		if p[k] != q[k] && !(math.Abs(p[k]-q[k]) <= samePower*(1+min(math.Abs(p[k]), math.Abs(q[k])))) {
			return cmp.Compare(p[k], q[k])
		}
	}
	return 0
}

// numberOf is the expansion of a number.
func numberOf(x float64) (out expansion) {
	out.add(monomial{coef: x})
	return out
}

// add adds one monomial.
func (x *expansion) add(m monomial) {
	if m.coef == 0 {
		return
	}
	k := 0
	for k < x.n && compare(x.of[k].power, m.power) > 0 {
		k++
	}
	if k < x.n && compare(x.of[k].power, m.power) == 0 {
		sum := x.of[k].coef + m.coef
		if x.of[k].coef = sum; math.Abs(sum) <= cancelled*math.Abs(m.coef) {
			copy(x.of[k:], x.of[k+1:x.n])
			x.n--
		}
		return
	}
	if k < mostMonomials {
		x.n = min(x.n+1, mostMonomials)
		copy(x.of[k+1:x.n], x.of[k:])
		x.of[k] = m
	}
}

// plus is x + c·y.
func (x expansion) plus(c float64, y expansion) expansion {
	for _, m := range y.of[:y.n] {
		x.add(monomial{c * m.coef, m.power})
	}
	return x
}

func (x expansion) times(y expansion) (product expansion) {
	for _, m := range x.of[:x.n] {
		for _, o := range y.of[:y.n] {
			o.coef *= m.coef
			for k := range o.power {
				o.power[k] += m.power[k]
			}
			product.add(o)
		}
	}
	return product
}

// pow is xʳ, of x > 0 if r is not whole.
func (x expansion) pow(r float64) expansion {
	switch {
	case r == 0:
		return numberOf(1)
	case x.n == 0 && r > 0:
		return x
	case x.n == 0:
		return none
	}
	m, rest := x.parted()
	m.coef = math.Pow(m.coef, r)
	for k := range m.power {
		m.power[k] *= r
	}
	return rest.series(1, r, r*(r-1)/2).times(expansion{[mostMonomials]monomial{m}, 1})
}

// parted is x as its largest monomial and what that is to be multiplied by, less 1.
func (x expansion) parted() (largest monomial, rest expansion) {
	largest = x.of[0]
	for _, m := range x.of[1:x.n] {
		m.coef /= largest.coef
		for k := range m.power {
			m.power[k] -= largest.power[k]
		}
		rest.add(m)
	}
	return largest, rest
}

// series is c0 + c1·x + c2·x² for x ─▶ 0.
func (x expansion) series(c0, c1, c2 float64) expansion {
	return numberOf(c0).plus(c1, x).plus(c2, x.times(x))
}

// log is that of x > 0.
func (x expansion) log() expansion {
	if x.n == 0 || x.of[0].power[3] != 0 {
		return none
	}
	m, rest := x.parted()
	out := rest.series(0, 1, -0.5)
	out.add(monomial{signum(m.power[0]), powers{0, math.Inf(1), 0, 0}}) // a power of 1/t that is not known
	out.add(monomial{m.power[1], powers{0, 0, 1, 0}})
	out.add(monomial{m.power[2], powers{0, 0, 0, 1}})
	if c := math.Log(m.coef); !(math.Abs(c) <= cancelled) {
		out.add(monomial{coef: c})
	}
	return out
}

func (x expansion) exp() expansion {
	m, rest := monomial{coef: 1}, expansion{}
	for _, o := range x.of[:x.n] {
		switch {
		case o.power == powers{0, 0, 1, 0}:
			m.power[1] += o.coef
		case o.power == powers{0, 0, 0, 1}:
			m.power[2] += o.coef
		case compare(o.power, powers{}) == 0:
			m.coef *= math.Exp(o.coef)
		case compare(o.power, powers{}) < 0:
			rest.add(o)
		case m.power[0] == 0: // the largest one
			m.power[0] = math.Copysign(math.Inf(1), o.coef)
		}
	}
	return rest.series(1, 1, 0.5).times(expansion{[mostMonomials]monomial{m}, 1})
}

// limit is what x tends to.
func (x expansion) limit() float64 {
	if x.n == 0 {
		return 0
	}
	switch compare(x.of[0].power, powers{}) {
	case 0:
		return x.of[0].coef
	case 1:
		return math.Copysign(math.Inf(1), x.of[0].coef)
	}
	return 0
}

// apply is f(x), of f that is known by its name, and else that is smooth.
func (x expansion) apply(f Function) expansion {
	switch f.String() {
	case "exp":
		return x.exp()
	case "expm1":
		return x.exp().plus(1, numberOf(-1))
	case "softplus":
		return numberOf(1).plus(1, x.exp()).log()
	case "sigmoid":
		return numberOf(1).plus(1, expansion{}.plus(-1, x).exp()).pow(-1)
	case "recip":
		return x.pow(-1)
	case "square":
		return x.times(x)
	}
	c := x.limit()
	y := f.Value(c)
	if math.IsInf(c, 0) {
		return numberOf(y)
	}
	return x.plus(-1, numberOf(c)).series(y, f.Slope(c, y), 0)
}

// signum is 1, −1 or 0.
func signum(x float64) float64 {
	if x == 0 {
		return 0
	}
	return math.Copysign(1, x)
}
