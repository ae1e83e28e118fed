// Which signs the steps of a curve can have, and which way the curve goes in each.

package regions

import (
	"math"
	"slices"
)

// SignsOf says which signs the last of steps can have, as far as is known, where it has a value.
func SignsOf(steps []Step) (canBeNegative, canBeZero, canBePositive bool) {
	c := formula{steps: steps, signs: make([]signSet, len(steps))}
	for s, x := range steps {
		c.signs[s] = c.signOf(x)
	}
	s := c.signs[len(steps)-1]
	return s&negative != 0, s&zero != 0, s&positive != 0
}

// A signSet says which signs numbers can have.
type signSet uint8

const (
	negative signSet = 1 << iota
	zero
	positive
)

const anySign = negative | zero | positive

func signOf(x float64) signSet {
	switch {
	case x < 0:
		return negative
	case x > 0:
		return positive
	case x == 0:
		return zero
	}
	return anySign
}

// times are the signs of products.
func (s signSet) times(t signSet) (out signSet) {
	if (s|t)&zero != 0 {
		out |= zero
	}
	if s&positive != 0 && t&positive != 0 || s&negative != 0 && t&negative != 0 {
		out |= positive
	}
	if s&positive != 0 && t&negative != 0 || s&negative != 0 && t&positive != 0 {
		out |= negative
	}
	return out
}

// plus are the signs of sums.
func (s signSet) plus(t signSet) signSet {
	switch both := s | t; {
	case s == zero:
		return t
	case t == zero:
		return s
	case both&(negative|positive) == negative|positive:
		return anySign
	case s&zero == 0 || t&zero == 0:
		return both &^ zero
	default:
		return both
	}
}

// signOf are the signs that a step can have.
func (c *formula) signOf(x Step) signSet {
	switch x.Kind {
	case Affine:
		out := signOf(x.Const)
		for _, t := range x.Terms {
			out = out.plus(signOf(t.Coef).times(c.signs[t.Of]))
		}
		return out
	case Apply:
		switch {
		case x.F.Positive():
			return positive
		case x.F.Increasing() && x.F.Value(0) == 0:
			return c.signs[x.A]
		case isEven(x.F):
			return zero | positive
		}
	case Times:
		return c.signs[x.A].times(c.signs[x.B])
	case Over:
		return c.signs[x.A].times(c.signs[x.B]) | zero&c.signs[x.A]
	case Power:
		switch p := c.exponent(x); {
		case c.signs[x.A] == positive:
			return positive
		case p > 0 && math.Mod(p, 2) == 1:
			return c.signs[x.A]
		case p > 0 && math.Mod(p, 2) == 0:
			return zero | positive
		}
	}
	return anySign
}

// trend are the signs that the derivative of each step with respect to step g can have.
func (c *formula) trend(g int) []signSet {
	d := slices.Repeat([]signSet{zero}, len(c.steps))
	d[g] = positive
	for s, x := range c.steps {
		if s == g {
			continue
		}
		a, b := zero, zero
		if x.Kind != Coordinate && x.Kind != Affine && x.Kind != Call {
			a = d[x.A]
			if x.Kind != Apply {
				b = d[x.B]
			}
		}
		switch x.Kind {
		case Affine:
			for _, t := range x.Terms {
				d[s] = d[s].plus(signOf(t.Coef).times(d[t.Of]))
			}
		case Apply:
			switch {
			case a == zero:
			case x.F.Increasing(), isEven(x.F) && c.signs[x.A] == positive: // which increases there
				d[s] = a
			default:
				d[s] = anySign
			}
		case Times:
			d[s] = a.times(c.signs[x.B]).plus(b.times(c.signs[x.A]))
		case Over:
			d[s] = a.times(c.signs[x.B]).plus(negative.times(b).times(c.signs[x.A]))
			if b != zero && c.signs[x.B] != positive && c.signs[x.B] != negative {
				d[s] = anySign // a pole
			}
		case Call:
			for k, o := range x.Args {
				switch {
				case d[o] == zero:
				case k == 0 && x.Call.HasFirst():
					d[s] = d[o]
				default:
					d[s] = anySign
				}
			}
		case Power:
			switch {
			case b != zero, c.signs[x.A] != positive && a != zero:
				d[s] = anySign
			default:
				d[s] = a.times(c.signs[x.B])
			}
		}
	}
	return d
}

// isEven reports whether f is a square, or the like.
func isEven(f Function) bool {
	x, n := f.Inverse(-1)
	return n == 2 && math.IsNaN(x[0])
}
